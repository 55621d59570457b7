"""Every host compiler that is there, at every level of optimization, gives kernels that compute the same.

Its kernels take the place of those that a suite is usually run with: the Ascend C that tests compile, and the collectives
in a copy of the installed package.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collectives.mutants import PACKAGE, build, replace_kernel

pytestmark = pytest.mark.long

LEVELS = ("-O0", "-O1", "-O2", "-O3")
NAMES = (
    "g++",
    "clang++",
    *(f"g++-{version}" for version in range(11, 16)),
    *(f"clang++-{version}" for version in range(14, 21)),
)
ASCEND_C = ("test_core", "test_on_device", "test_semantics", "test_types", "test_vector", "test_vector_types")
COLLECTIVES = ("test_algorithms", "test_all_gather", "test_operators", "test_many_ranks")


def compilers() -> list[str]:
    """Compilers of this machine under one name each, however many names they have."""
    found: dict[str, str] = {}
    for name in NAMES:
        if program := shutil.which(name):
            found.setdefault(os.path.realpath(program), name)
    return list(found.values())


def run_suite(repository: Path, folder: str, names: tuple[str, ...], **environment: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider"),
            *(f"{folder}/{name}.py" for name in names),
        ],
        cwd=repository / "tests",
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1]), done.stdout


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cxx", compilers())
def test_ascend_c(build_dir: Path, repository: Path, cxx: str, level: str) -> None:
    run_suite(repository, "emulator/ascendc", ASCEND_C, AIVOPS_EMU_CXX=cxx, AIVOPS_TEST_LEVEL=level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("cxx", compilers())
def test_the_shipped_kernels(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cxx: str, level: str
) -> None:
    monkeypatch.setenv("AIVOPS_EMU_CXX", cxx)
    package = Path(shutil.copytree(PACKAGE, tmp_path / "aivops"))
    kernels = sorted((repository / "device/kernels").glob("*.asc"))
    assert len(kernels) >= 14
    for kernel in kernels:
        binary = tmp_path / kernel.stem / "kernel.o"
        binary.parent.mkdir()
        build(kernel, binary, level, "-Wall", "-Werror")
        replace_kernel(package, binary)
    run_suite(repository, "collectives", COLLECTIVES, PYTHONPATH=str(tmp_path), AIVOPS_TOOLKIT="emulator")
