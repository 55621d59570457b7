"""Host programs in C, built and linked against the emulated toolkit as they are against CANN."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def build_host(source: Path, folder: Path, toolkit: Path, library: str) -> Path:
    program = folder / source.stem
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{toolkit / 'include'}"]
    libraries = [f"-L{toolkit / 'lib64'}", f"-l{library}", f"-Wl,-rpath,{toolkit / 'lib64'}", "-lpthread"]
    command = ["gcc", *flags, str(source), "-o", str(program), *libraries]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return program


def output_of(program: Path, *arguments: Path) -> str:
    command = [str(program), *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("library", ["ascendcl", "acl_rt"])
def test_the_documented_flow(toolkit: Path, kernels: Path, tmp_path: Path, library: str) -> None:
    program = build_host(HERE / "documented_flow.c", tmp_path, toolkit, library)
    assert output_of(program, kernels) == "done\n"


@pytest.mark.parametrize("library", ["ascendcl", "acl_rt"])
def test_each_documented_mistake_has_the_documented_code(
    toolkit: Path, kernels: Path, tmp_path: Path, library: str
) -> None:
    program = build_host(HERE / "documented_mistakes.c", tmp_path, toolkit, library)
    config = tmp_path / "acl.json"
    config.write_text('{"err_msg_mode": "1"}')
    assert output_of(program, kernels, config).endswith(" calls, 0 wrong\n")
