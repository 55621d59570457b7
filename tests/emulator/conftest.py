"""Fixtures of the emulated toolkit: its folder, its compiler and linker as functions."""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aivops import get_toolkit_dir
from emulator.acl_api import Acl

ARCHITECTURES = ("dav-c220-vec", "dav-c310-vec")


@pytest.fixture(scope="session")
def toolkit() -> Path:
    """The installed one, which is also what aivops uses: a process cannot have another besides."""
    return get_toolkit_dir()


def recording(source: Path, binary: Path) -> tuple[object, ...]:
    """Options that let a kernel write down which functions it runs, while symbol_coverage.py asks for it."""
    if "AIVOPS_TEST_TRACE" not in os.environ:
        return ()
    recorder = Path(__file__).parent / "ascendc/recorder.h"
    names = (f'-DAIVOPS_TEST_SOURCE="{source}"', f'-DAIVOPS_TEST_BINARY="{binary}"')
    exclude = "-finstrument-functions-exclude-file-list=" + ",".join(
        f"aivops_emulator/{name}"
        for name in ("conversion", "core", "elementwise", "float", "kernel_entry", "vector")
    )
    return ("-finstrument-functions", exclude, "-include", recorder, *names)


@dataclass(frozen=True)
class KernelCompiler:
    """The drivers of one toolkit, run as a build would run them."""

    toolkit: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def ccec(self) -> Path:
        return self.toolkit / "tools/ccec_compiler/bin/ccec"

    @property
    def ld_lld(self) -> Path:
        return self.toolkit / "tools/ccec_compiler/bin/ld.lld"

    @property
    def include(self) -> Path:
        return self.toolkit / f"{platform.machine()}-linux/asc/include"

    def run(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(argument) for argument in arguments],
            cwd=cwd,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def compile(
        self,
        source: Path,
        output: Path,
        *options: object,
        architecture: str = "dav-c220-vec",
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        arch = f"--cce-aicore-arch={architecture}"
        level = os.environ.get("AIVOPS_TEST_LEVEL", "-O2")  # test_compilers.py goes through all of them
        usual = ("-c", "-x", "cce", level, arch, "--cce-aicore-only", "-std=c++17")
        return self.run(self.ccec, *usual, *options, source, "-o", output, cwd=cwd)

    def link(self, output: Path, *objects: object) -> subprocess.CompletedProcess[str]:
        return self.run(self.ld_lld, "-m", "aicorelinux", "-Ttext=0", *objects, "-static", "-o", output)

    def build(self, source: Path, *options: object, architecture: str = "dav-c220-vec") -> Path:
        """The linked binary of one source, beside it."""
        relocatable = source.with_suffix(f".{architecture}.tmp.o")
        binary = source.with_suffix(f".{architecture}.o")
        if self.environment.get("AIVOPS_EMU_CXX", "g++") == "g++":  # whose recorder it is
            options = (*options, *recording(source, binary))
        for step in (
            self.compile(source, relocatable, *options, architecture=architecture),
            self.link(binary, relocatable),
        ):
            assert step.returncode == 0, step.stderr
        return binary


@pytest.fixture(scope="session")
def compiler(toolkit: Path) -> KernelCompiler:
    return KernelCompiler(toolkit)


@pytest.fixture(scope="session")
def acl(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Acl:
    """The emulated runtime, loaded into this process with its default settings.

    A copy under another name: tests of other subjects in this process have devices of their own.
    """
    folder = tmp_path_factory.mktemp("runtime") / "lib64"
    folder.mkdir()
    shutil.copy(toolkit / "lib64/libacl_rt.so", folder / "runtime_under_test.so")
    return Acl(folder.parent, "runtime_under_test.so")


@pytest.fixture(scope="session")
def kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small kernels of kernels.asc, one behaviour each."""
    source = tmp_path_factory.mktemp("kernels") / "kernels.asc"
    shutil.copy(Path(__file__).parent / "kernels.asc", source)
    return compiler.build(source)
