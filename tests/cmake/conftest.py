"""Fixtures of the CMake package's tests: the installed package, its toolkit, and projects that use it."""

import platform
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from fixtures.cann import CannTree, make_cann
from fixtures.cmake_project import CMakeProject
from fixtures.oldest_cmake import find_oldest_cmake


@pytest.fixture(scope="session")
def prefix() -> Path:
    """The installed AivOps, as scikit-build-core hands it to other projects."""
    return Path(str(files("aivops")))


@pytest.fixture(scope="session")
def toolkit(prefix: Path) -> Path:
    """The emulated toolkit of the installed AivOps."""
    return prefix / "toolkit"


@pytest.fixture(scope="session")
def emulated() -> str:
    """The emulated machine of this host."""
    return f"emulated-{platform.machine()}"


@pytest.fixture
def project(tmp_path: Path, prefix: Path) -> CMakeProject:
    """An empty project that finds the installed AivOps."""
    return CMakeProject(tmp_path / "consumer", prefix)


@pytest.fixture
def cann(tmp_path: Path, toolkit: Path) -> Callable[..., CannTree]:
    """Makes a CANN installation with a recording compiler: `cann(layout, version)`."""

    def make(layout: str = "9.x", version: str = "9.0.0", **options: str) -> CannTree:
        return make_cann(tmp_path / f"cann-{version}", layout, version, toolkit, **options)

    return make


@pytest.fixture(scope="session", params=["newest", "3.25"])
def any_cmake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The `cmake` in use and one of release 3.25, the oldest that is supported."""
    if request.param == "newest":
        return "cmake"
    return find_oldest_cmake(tmp_path_factory.mktemp("cmake"))
