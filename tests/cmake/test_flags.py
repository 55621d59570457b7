"""Command lines of the kernel compiler and linker, against those that HCCL and HCOMM run on CANN."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.cann import CannTree
from fixtures.cmake_project import CMakeProject, kernel_source

# What HCCL passes for the 950 and HCOMM for 910B and 910_93, without input and output.
STACK = ["-mllvm", "-cce-aicore-stack-size=0x8000", "-mllvm", "-cce-aicore-function-stack-size=0x8000"]
COMMON = [
    *STACK,
    *("-mllvm", "-cce-aicore-record-overflow=false"),
    *("-mllvm", "-cce-aicore-addr-transform"),
    *("-mllvm", "-cce-aicore-jump-expand=true"),
    "-std=c++17",
    "-fstack-protector-all",
]
HCCL_950 = ["-O2", "--cce-aicore-arch=dav-c310-vec", "--cce-aicore-only", *COMMON]
HCOMM_910B = [
    "-O2",
    "--cce-aicore-arch=dav-c220-vec",
    "--cce-aicore-only",
    *COMMON,
    *("-mllvm", "-cce-aicore-dcci-insert-for-scalar=false"),
    "-DASCENDC_DUMP=0",
    "-DTILING_KEY_VAR=0",
    "-DONE_CORE_DUMP_SIZE=1024",
]
# The op compiler of asc-devkit defines it for this architecture, and its headers ask for it.
ADDED = {"dav-c310-vec": ["-D__DAV_C310__"], "dav-c220-vec": []}


def compile_call(
    project: CMakeProject, tree: CannTree, architecture: str, options: str = ""
) -> tuple[list[str], Path]:
    """The flags of one compile without the paths that a project brings, and its object."""
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists(f"aivops_add_kernels(k SOURCES k.asc ARCHITECTURES {architecture} {options})")
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    tree.forget_calls()
    made = project.make()
    assert made.returncode == 0, made.stdout
    (call,) = tree.calls("ccec")
    object_file = call[-6]
    head, tail = call[:3], call[-8:]
    assert head == ["-c", "-x", "cce"]
    source = str(project.source / "k.asc")
    assert tail == [source, "-o", object_file, "-MD", "-MT", object_file, "-MF", f"{object_file}.d"]
    return call[3:-8], Path(object_file)


@pytest.mark.parametrize(
    ("architecture", "expected"), [("dav-c310-vec", HCCL_950), ("dav-c220-vec", HCOMM_910B)]
)
def test_flags_are_those_of_the_vendors_own_builds(
    project: CMakeProject, cann: Callable[..., CannTree], architecture: str, expected: list[str]
) -> None:
    tree = cann()
    flags, object_file = compile_call(project, tree, architecture)
    own = [flag for flag in flags if not flag.startswith(("-I", "-ffile-prefix-map="))]
    assert own == expected + ADDED[architecture]

    (link,) = tree.calls("ld.lld")
    output = project.build / f"kernels/ascend/{architecture}/k.o"
    assert link == [
        "-m",
        "aicorelinux",
        "-Ttext=0",
        str(object_file),
        "-static",
        "-o",
        f"{output}.unverified",
    ]
    assert output.is_file()


def test_options_change_what_they_name(project: CMakeProject, cann: Callable[..., CannTree]) -> None:
    flags, _ = compile_call(
        project,
        cann(),
        "dav-c310-vec",
        "STACK_SIZE 16384 AUTO_SYNC ON RECORD_OVERFLOW ON DEBUG ON COMPILE_DEFINITIONS MARK=1 COMPILE_OPTIONS -Wall",
    )
    assert "-cce-aicore-stack-size=0x4000" in flags
    assert "-cce-aicore-function-stack-size=0x4000" in flags
    assert "--cce-auto-sync" in flags
    assert "-cce-aicore-record-overflow=true" in flags
    assert flags[:2] == ["-O0", "-g"]
    assert "-DMARK=1" in flags
    assert flags[-1] == "-Wall"


def test_usage_requirements_of_libraries_reach_the_compiler(
    project: CMakeProject, cann: Callable[..., CannTree]
) -> None:
    project.write({"include/shared.h": "#define SHARED 1\n"})
    tree = cann()
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k", include="shared.h")})
    project.write_lists(
        "add_library(base INTERFACE)\n"
        "target_include_directories(base INTERFACE include)\n"
        'target_compile_definitions(base INTERFACE "TEXT=\\"a b\\"")\n'
        "add_library(shared INTERFACE)\ntarget_link_libraries(shared INTERFACE base)\n"
        "aivops_add_kernels(k SOURCES k.asc LINK_LIBRARIES shared)\n"
    )
    project.configure_and_make()
    call = tree.calls("ccec")[-1]
    assert f"-I{project.source}/include" in call
    assert '-DTEXT="a b"' in call


def test_a_launcher_starts_the_compiler(
    project: CMakeProject, cann: Callable[..., CannTree], tmp_path: Path
) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text(f'#!/bin/sh\necho launched >> {tmp_path}/launches\nexec "$@"\n')
    launcher.chmod(0o755)
    project.environment["ASCEND_HOME_PATH"] = str(cann().root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc NO_LAYOUT)")
    project.configure_and_make(f"-DAIVOPS_COMPILER_LAUNCHER={launcher}")
    assert (tmp_path / "launches").read_text() == "launched\n" * 2
