"""Groups for the tests of collectives; one per size, since making one costs device memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import aivops
import pytest
from collectives.mutants import Mutants


@pytest.fixture(scope="session")
def group_of() -> Iterator[Callable[[int], aivops.LocalGroup]]:
    """`group_of(n)` is a group of n ranks with defaults, shared by all tests."""
    groups: dict[int, aivops.LocalGroup] = {}

    def get(size: int) -> aivops.LocalGroup:
        if size not in groups:
            groups[size] = aivops.LocalGroup(size)
        return groups[size]

    yield get
    for group in groups.values():
        group.close()


@pytest.fixture(scope="session")
def ring_package(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where examples/ring_all_gather, an algorithm of another package, is installed."""
    folder = tmp_path_factory.mktemp("ring")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
    ]
    architecture = aivops.Device(0).architecture
    command = [*pip, f"-Ccmake.define.AIVOPS_ARCHITECTURES={architecture}", "--target", folder]
    source = shutil.copytree(repository / "examples" / "ring_all_gather", folder / "source")
    done = subprocess.run([*map(str, command), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def mutants(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mutants]:
    folder = tmp_path_factory.mktemp("mutants")
    sys.path.insert(0, str(folder))
    yield Mutants(repository, folder)
    sys.path.remove(str(folder))
