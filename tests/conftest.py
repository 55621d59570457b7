"""Fixtures every subject shares: where the project, its build tree and the vendor's sample binaries are."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the source tree."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def build_dir() -> Path:
    """CMake build tree of the project; `make` sets AIVOPS_BUILD_DIR."""
    value = os.environ.get("AIVOPS_BUILD_DIR")
    if value is None or not (Path(value) / "CMakeCache.txt").is_file():
        pytest.fail(
            "AIVOPS_BUILD_DIR names no CMake build tree: run the tests with `make test`", pytrace=False
        )
    return Path(value)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Sample binaries of the vendor's compiler. They are not ours to publish, so the folder is optional."""
    value = os.environ.get("AIVOPS_CORPUS")
    if value is None:
        pytest.skip("AIVOPS_CORPUS is not set: the vendor's sample binaries are not part of the project")
    return Path(value)
