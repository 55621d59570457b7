"""Fixtures of dispatch: kernel binaries built with the emulated toolkit, a device, a stream."""

import os
import platform
import subprocess
from pathlib import Path

import aivops
import pytest
from aivops._locations import get_include, get_toolkit_dir

HERE = Path(__file__).parent
ARCHITECTURES = ["dav-c220-vec", "dav-c310-vec"]

os.environ["AIVOPS_TOOLKIT"] = "emulator"


def build_kernels(source: Path, output: Path, architecture: str) -> Path:
    """Compile and link one source as a build would."""
    bin_dir = get_toolkit_dir() / "tools/ccec_compiler/bin"
    headers = get_include().parent / "device"
    relocatable = output.with_suffix(".tmp.o")
    compile_command = [bin_dir / "ccec", "-c", "-x", "cce", "-O2", f"--cce-aicore-arch={architecture}"]
    compile_command += ["--cce-aicore-only", "-std=c++17", f"-I{headers}", source, "-o", relocatable]
    link_command = [bin_dir / "ld.lld", "-m", "aicorelinux", "-Ttext=0", relocatable, "-static", "-o", output]
    for command in (compile_command, link_command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return output


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
    return aivops.Device(0)


@pytest.fixture
def stream(device: aivops.Device) -> aivops.Stream:
    return aivops.Stream(device)


@pytest.fixture(scope="session")
def binary(kernels_path: Path) -> aivops.Binary:
    return aivops.Binary(kernels_path)


@pytest.fixture(scope="session")
def emulated_machine() -> str:
    return f"emulated-{platform.machine()}"
