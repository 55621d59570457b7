"""Fixtures of dispatch: kernel binaries built with the emulated toolkit, a device, a stream."""

import platform
from pathlib import Path

import aivops
import pytest
from fixtures.kernel_build import build_kernels

HERE = Path(__file__).parent
ARCHITECTURES = ["dav-c220-vec", "dav-c310-vec"]


@pytest.fixture(scope="session")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """kernels.asc for each architecture."""
    folder = tmp_path_factory.mktemp("kernels")
    return {
        architecture: build_kernels(HERE / "kernels.asc", folder / f"{architecture}.o", architecture)
        for architecture in ARCHITECTURES
    }


@pytest.fixture(scope="session")
def kernels_path(binaries: dict[str, Path]) -> Path:
    return binaries["dav-c220-vec"]


@pytest.fixture(scope="session")
def device() -> aivops.Device:
    """The first use of a toolkit in this process; other subjects' tests see their own environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIVOPS_TOOLKIT", "emulator")
        return aivops.Device(0)


@pytest.fixture
def stream(device: aivops.Device) -> aivops.Stream:
    return aivops.Stream(device)


@pytest.fixture(scope="session")
def binary(device: aivops.Device, kernels_path: Path) -> aivops.Binary:
    return aivops.Binary(kernels_path)


@pytest.fixture(scope="session")
def emulated_machine() -> str:
    return f"emulated-{platform.machine()}"
