"""Fixtures every subject shares: where the project, its build tree and the vendor's sample binaries are."""

import os
import sys
from pathlib import Path

import pytest
from fixtures.wheels import BUILD_REQUIREMENTS, FreshEnvironment, Wheelhouse, build_wheel, run


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


@pytest.fixture(scope="session")
def wheelhouse(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Wheelhouse:
    """AivOps' wheel, built in isolation, and what projects on top of it need. Takes minutes: tests that use
    it belong to the group `wheel`, so that one worker makes it once.
    """
    folder = tmp_path_factory.mktemp("wheelhouse")
    build_wheel(repository, folder)
    run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, *BUILD_REQUIREMENTS)
    return Wheelhouse(folder)


@pytest.fixture(scope="session")
def aivops_wheel(wheelhouse: Wheelhouse) -> Path:
    """AivOps' own wheel."""
    (wheel,) = wheelhouse.folder.glob("aivops-*.whl")
    return wheel


@pytest.fixture(scope="session")
def user_environment(wheelhouse: Wheelhouse, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    """A fresh environment outside the source tree with AivOps installed from its wheel."""
    return FreshEnvironment.make(tmp_path_factory.mktemp("user") / "venv", wheelhouse, "aivops")
