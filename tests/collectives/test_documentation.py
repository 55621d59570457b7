"""The programs of docs/collectives.md that bring kernels; tests/documentation runs the others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import aivops
import pytest


@pytest.fixture(scope="module")
def text(repository: Path) -> str:
    return (repository / "docs" / "collectives.md").read_text()


def programs(text: str, heading: str, language: str) -> list[str]:
    """The pieces of code in one section."""
    _, _, behind = f"\n{text}".partition(f"\n{heading}\n")
    section = re.split(r"\n##+ ", behind)[0]
    found = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found, f"{heading} has no {language}"
    return found


def run(program: str, path: Path, *launcher: str) -> str:
    program_file = path / "program.py"
    program_file.write_text(program)
    done = subprocess.run(
        [*launcher, sys.executable, str(program_file)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.xdist_group("ring")
def test_an_algorithm_of_another_package(text: str, ring_package: Path, repository: Path) -> None:
    registration, use = programs(text, "### Algorithms of other packages", "python")
    package = repository / "examples" / "ring_all_gather"
    module = (package / "src" / "ring_all_gather" / "__init__.py").read_text()
    assert without_layout(registration) in without_layout(module)
    (cmake,) = programs(text, "### Algorithms of other packages", "cmake")
    assert without_layout(cmake) in without_layout((package / "CMakeLists.txt").read_text())
    assert run(use, ring_package) == "ring\n"


def without_layout(code: str) -> str:
    return "".join(re.sub(r"#.*", "", code).split())


def test_a_kernel_of_its_own(text: str, tmp_path: Path) -> None:
    heading = "## Kernels of your own"
    (kernel,), (program,) = programs(text, heading, "cpp"), programs(text, heading, "python")
    (tmp_path / "shift.asc").write_text(kernel)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(my_package LANGUAGES NONE)\n"
        "find_package(AivOps REQUIRED)\naivops_add_kernels(shift SOURCES shift.asc KERNELS shift)\n"
        "aivops_install_kernels(shift DESTINATION my_package/kernels)\n"
    )
    build, root = tmp_path / "build", f"-DAivOps_ROOT={aivops.get_cmake_dir()}"
    architecture = f"-DAIVOPS_ARCHITECTURES={aivops.Device(0).architecture}"
    for command in (
        ["cmake", "-G", "Ninja", "-S", tmp_path, "-B", build, root, architecture],
        ["cmake", "--build", build],
        ["cmake", "--install", build, "--prefix", tmp_path],
    ):
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
    (tmp_path / "my_package" / "__init__.py").touch()
    (printed,) = re.findall(r"print\(.*  # (.*)", program)
    assert run(program, tmp_path) == printed + "\n"
