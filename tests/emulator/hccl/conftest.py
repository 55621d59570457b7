"""Programs of these tests: built once, against the emulated toolkit, as people build against CANN."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler

HERE = Path(__file__).parent


@dataclass(frozen=True)
class MeshGather:
    """A custom AllGather: its kernel and its host."""

    kernel: Path
    host: Path


def build_host(source: Path, output: Path, toolkit: Path, *options: str, compiler: str = "gcc") -> Path:
    """A C program linked with what people name on their link lines."""
    libraries = toolkit / "lib64"
    done = subprocess.run(
        [
            *(compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", f"-I{toolkit / 'include'}"),
            *(*options, str(source), "-o", str(output)),
            *(f"-L{libraries}", "-lascendcl", "-lhccl", "-lhcomm", f"-Wl,-rpath,{libraries}"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="session")
def mesh_gather(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> MeshGather:
    folder = tmp_path_factory.mktemp("mesh_gather")
    source = Path(shutil.copy(HERE / "mesh_gather.asc", folder))
    host = build_host(HERE / "mesh_gather_host.c", folder / "mesh_gather_host", compiler.toolkit)
    return MeshGather(compiler.build(source), host)
