"""One consumer per message of the CMake package. The texts are what users search for: they are pinned here."""

from collections.abc import Callable

import pytest
from fixtures.cann import CannTree
from fixtures.cmake_project import CMakeProject, flatten, kernel_source

ARCHITECTURES = (
    "Known architectures: dav-c220-vec (dav-2201) dav-c310-vec (dav-3510). Known chips: Ascend910B1 "
)
ADD = "aivops_add_kernels(k SOURCES k.asc)\n"

MISTAKES = {
    "unknown argument": (
        "aivops_add_kernels(k x SOURCES k.asc)",
        "aivops_add_kernels(k): unknown arguments: x; the keywords are SOURCES, ARCHITECTURES, KERNELS, ",
    ),
    "singular keyword first": (
        "aivops_add_kernels(k SOURCE k.asc ARCHITECTURE dav-c220-vec)",
        "aivops_add_kernels(k): unknown arguments: SOURCE k.asc ARCHITECTURE dav-c220-vec; "
        "write SOURCES for SOURCE, ARCHITECTURES for ARCHITECTURE",
    ),
    "keyword in small letters": (
        "aivops_add_kernels(k sources k.asc)",
        "aivops_add_kernels(k): unknown arguments: sources k.asc; write SOURCES for sources",
    ),
    "singular keyword behind another's values": (
        "aivops_add_kernels(k SOURCES k.asc ARCHITECTURE dav-c220-vec)",
        "aivops_add_kernels(k): unknown argument: ARCHITECTURE; write ARCHITECTURES for ARCHITECTURE",
    ),
    "library": (
        "aivops_add_kernels(k SOURCES k.asc KERNELS k LINK_LIBRARY other)",
        "aivops_add_kernels(k): unknown argument: LINK_LIBRARY; write LINK_LIBRARIES for LINK_LIBRARY",
    ),
    "exchanged letters": (
        "aivops_add_kernels(k SOURCES k.asc ARCHITECTURES dav-c220-vec KERENLS k)",
        "aivops_add_kernels(k): unknown argument: KERENLS; write KERNELS for KERENLS",
    ),
    "mistyped destination": (
        ADD + "aivops_install_kernels(k DESTINATON lib)",
        "aivops_install_kernels(k DESTINATON lib): unknown argument: DESTINATON; write DESTINATION for DESTINATON",
    ),
    "missing value": (
        "aivops_add_kernels(k SOURCES k.asc OUTPUT_NAME)",
        "aivops_add_kernels(k): no value after OUTPUT_NAME",
    ),
    "no sources": (
        "aivops_add_kernels(k)",
        "aivops_add_kernels(k): no SOURCES: name at least one Ascend C file",
    ),
    "absent source": ("aivops_add_kernels(k SOURCES absent.asc)", "absent.asc does not exist"),
    "source twice": (
        "aivops_add_kernels(k SOURCES k.asc ./k.asc)",
        "aivops_add_kernels(k): SOURCES names a file twice",
    ),
    "target exists": (
        "add_custom_target(k)\n" + ADD,
        "aivops_add_kernels(k): a target of this name exists already: choose another name",
    ),
    "bad name": (
        'aivops_add_kernels("a b" SOURCES k.asc)',
        "aivops_add_kernels(a b): the name 'a b' has to consist of letters, digits and _ . + -",
    ),
    "bad file name": (
        "aivops_add_kernels(k SOURCES k.asc OUTPUT_NAME ../k)",
        "aivops_add_kernels(k): the name '../k' has to consist of letters, digits and _ . + -",
    ),
    "bad boolean": (
        "aivops_add_kernels(k SOURCES k.asc DEBUG maybe)",
        "aivops_add_kernels(k): DEBUG is 'maybe'; expected ON or OFF",
    ),
    "bad stack": (
        "aivops_add_kernels(k SOURCES k.asc STACK_SIZE 32k)",
        "aivops_add_kernels(k): STACK_SIZE is '32k'; expected a number of bytes",
    ),
    "unknown architecture": (
        "aivops_add_kernels(k SOURCES k.asc ARCHITECTURES dav-c220)",
        f"aivops_add_kernels(k): unknown architecture 'dav-c220'. {ARCHITECTURES}",
    ),
    "first generation chip": (
        "aivops_add_kernels(k SOURCES k.asc ARCHITECTURES Ascend910B)",
        f"aivops_add_kernels(k): unknown architecture 'Ascend910B'. {ARCHITECTURES}",
    ),
    "no architecture": (
        'set(AIVOPS_ARCHITECTURES "")\n' + ADD,
        "aivops_add_kernels(k): no architecture: set ARCHITECTURES or AIVOPS_ARCHITECTURES",
    ),
    "unknown machine": (
        "set(AIVOPS_MACHINES cpu)\n" + ADD,
        "aivops_add_kernels(k): unknown machine 'cpu' in AIVOPS_MACHINES. Known machines: ascend, emulated-x86_64, "
        "emulated-aarch64 (or emulated for this host's)",
    ),
    "machine without toolkit": (
        "set(AIVOPS_MACHINES ascend)\n" + ADD,
        "aivops_add_kernels(k): no toolkit makes binaries for machine 'ascend' of AIVOPS_MACHINES here: ascend needs "
        "CANN (set ASCEND_HOME_PATH to its root), an emulated machine needs a host of its processor",
    ),
    "install nothing": (
        "aivops_install_kernels(DESTINATION kernels)",
        "aivops_install_kernels(): no target: name what aivops_add_kernels() made",
    ),
    "install nowhere": (
        ADD + "aivops_install_kernels(k)",
        "aivops_install_kernels(k): no DESTINATION: name the folder, relative to the install prefix",
    ),
    "install an unknown target": (
        "aivops_install_kernels(absent DESTINATION kernels)",
        "aivops_install_kernels(absent): there is no target absent: call aivops_add_kernels(absent …) first",
    ),
    "install another kind of target": (
        "add_custom_target(other)\naivops_install_kernels(other DESTINATION kernels)",
        "aivops_install_kernels(other): other has no kernels: name what aivops_add_kernels() made",
    ),
    "two sets in one place": (
        ADD + "aivops_add_kernels(m SOURCES k.asc)\n"
        "aivops_install_kernels(k DESTINATION kernels)\naivops_install_kernels(m DESTINATION ./kernels/)",
        "aivops_install_kernels(m): another set of kernels goes to kernels already: name all targets in one call, or "
        "choose another DESTINATION",
    ),
    "one file of two targets": (
        ADD
        + "aivops_add_kernels(m SOURCES k.asc OUTPUT_NAME k)\naivops_install_kernels(k m DESTINATION kernels)",
        "aivops_add_kernels(m): another target makes k.o in this directory: choose another OUTPUT_NAME",
    ),
    "unknown component": (
        "find_package(AivOps REQUIRED COMPONENTS npu)",
        "AivOps: unknown component 'npu'. Known components: emulator, cann, host",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_project(project: CMakeProject, mistake: str) -> None:
    body, message = MISTAKES[mistake]
    project.write({"k.asc": kernel_source("k")})
    project.write_lists(body)
    configured = project.configure()
    assert configured.returncode != 0
    assert message in flatten(configured.stdout)


def test_half_a_toolkit(project: CMakeProject, cann: Callable[..., CannTree]) -> None:
    tree = cann("8.5", "8.5.0")
    (tree.root / "tools/ccec_compiler/bin/ld.lld").unlink()
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write_lists("")
    assert (
        f"AivOps: the toolkit at {tree.root} lacks a kernel linker (ld.lld under tools/ccec_compiler/bin)"
        in flatten(project.configure().stdout)
    )


def test_toolkit_that_does_not_exist(project: CMakeProject) -> None:
    project.environment["ASCEND_HOME_PATH"] = "/nowhere/cann"
    project.write_lists("")
    assert "AivOps: the toolkit folder /nowhere/cann does not exist" in flatten(project.configure().stdout)


def test_cann_asked_for_and_absent(project: CMakeProject) -> None:
    project.environment |= {"AIVOPS_TOOLKIT": "cann", "HOME": str(project.source)}
    project.write_lists("")
    assert (
        "AivOps: AIVOPS_TOOLKIT is cann, but no CANN installation was found: set ASCEND_HOME_PATH to its root"
        in flatten(project.configure().stdout)
    )


def test_the_reason_is_there_without_required(project: CMakeProject) -> None:
    project.environment["ASCEND_HOME_PATH"] = "/nowhere/cann"
    project.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n"
            "find_package(AivOps QUIET)\n"
            'message(STATUS "found ${AivOps_FOUND}: ${AivOps_NOT_FOUND_MESSAGE}")'
        }
    )
    configured = project.configure()
    assert configured.returncode == 0
    assert "found 0: AivOps: the toolkit folder /nowhere/cann does not exist" in flatten(configured.stdout)


def test_cann_component_needs_cann(project: CMakeProject) -> None:
    project.environment["HOME"] = str(project.source)
    project.write_lists("find_package(AivOps REQUIRED COMPONENTS cann)")
    assert (
        "kernels for machine ascend need CANN, and none was found: set ASCEND_HOME_PATH to its root"
        in flatten(project.configure().stdout)
    )


def test_compiler_without_the_architecture(project: CMakeProject, cann: Callable[..., CannTree]) -> None:
    tree = cann("8.5", "8.5.0")
    compiler = tree.root / "tools/ccec_compiler/bin/ccec"
    text = compiler.read_text()
    refusal = (
        "import sys\nif '--cce-aicore-arch=dav-c310-vec' in sys.argv: sys.exit('ccec: error: no such arch')\n"
    )
    compiler.write_text(text.replace("import runpy", refusal + "import runpy", 1))
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists(ADD)
    assert (
        f"aivops_add_kernels(k): {compiler} does not compile for dav-c310-vec: exit status 1: ccec: error: no such arch"
        in flatten(project.configure().stdout)
    )


def test_another_processor_needs_a_verifier(project: CMakeProject) -> None:
    project.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n"
            "set(CMAKE_HOST_SYSTEM_PROCESSOR riscv64)\nfind_package(AivOps REQUIRED)\n"
        }
    )
    output = flatten(project.configure().stdout)
    assert (
        "and builds run on riscv64 here: set AivOps_VERIFY_EXECUTABLE to an aivops-verify for riscv64"
        in output
    )
