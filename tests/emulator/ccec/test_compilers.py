"""Every host compiler that is there, at every level of optimization, makes the same collectives of the shipped sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import aivops
import pytest
from emulator.conftest import KernelCompiler

PACKAGE = Path(aivops.__file__).parent
ARCHITECTURE = "dav-c220-vec"
NAMES = (
    "g++",
    "clang++",
    *(f"g++-{version}" for version in range(11, 16)),
    *(f"clang++-{v}" for v in range(14, 21)),
)

# Eight ranks with the kernels of another package, against numpy.
COLLECTIVES = """
import numpy as np
import aivops
x = np.random.default_rng(1).integers(-50, 50, (8, 8, 1001)).astype(np.float16)
with aivops.LocalGroup(8, kernels="other_kernels") as group:
    sums = group.run(lambda comm: comm.all_reduce(x[comm.rank]))
    parts = group.run(lambda comm: comm.all_gather(x[comm.rank]))
    swapped = group.run(lambda comm: comm.all_to_all(x[comm.rank]))
for rank in range(8):
    assert (sums[rank] == x.astype(np.float32).sum(0).astype(np.float16)).all()
    assert (parts[rank] == x).all()
    assert (swapped[rank] == x[:, rank]).all()
print("right")
"""


def compilers() -> list[str]:
    """Compilers of this machine under one name each, however many names they have."""
    found: dict[str, str] = {}
    for name in NAMES:
        if program := shutil.which(name):
            found.setdefault(os.path.realpath(program), name)
    return list(found.values())


def run(*command: object, **environment: str) -> str:
    words = [str(word) for word in command]
    return subprocess.run(
        words, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ).stdout


@pytest.mark.long
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("cxx", compilers())
def test_the_shipped_kernels(
    compiler: KernelCompiler, repository: Path, tmp_path: Path, cxx: str, level: str
) -> None:
    driver = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    verify = PACKAGE / "bin/aivops-verify"
    folder = tmp_path / "other_kernels/kernels"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    entries = []
    for kernel in sorted((repository / "device/kernels").glob("*.asc")):
        source = tmp_path / kernel.name
        shutil.copy(kernel, source)
        made = driver.build(
            source, level, "-Wall", "-I", repository / "device/include", architecture=ARCHITECTURE
        )
        binary, entry = folder / f"{kernel.stem}.o", tmp_path / f"{kernel.stem}.json"
        named = ("--target", kernel.stem, "--toolkit-name", "aivops-emulator", "--toolkit-version", "0.1.0")
        where = ("--architecture", ARCHITECTURE, "--move-to", binary, "--record", entry)
        run(verify, "--profile", "aiv", *where, *named, made)
        entries.append(f"{entry}={binary.name}")
    assert len(entries) >= 14
    run(verify, "--write-manifest", folder / "manifest.json", "--base", folder, *entries)
    printed = run(sys.executable, "-c", COLLECTIVES, PYTHONPATH=str(tmp_path), AIVOPS_TOOLKIT="emulator")
    assert printed == "right\n"
