"""Discovery of toolkits: layouts and versions of CANN, what variables name, and what is said about it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.cann import CannTree
from fixtures.cmake_project import CMakeProject, flatten, kernel_source

MakeCann = Callable[..., CannTree]


@pytest.mark.parametrize(
    ("layout", "version"),
    [
        ("8.0", "8.0.RC3"),
        ("8.1", "8.1.RC1"),
        ("8.5", "8.5.0"),
        ("9.x", "9.0.0-beta.2"),
        ("9.x", "9.2.0.B020"),
    ],
)
def test_every_layout_is_found(project: CMakeProject, cann: MakeCann, layout: str, version: str) -> None:
    tree = cann(layout, version)
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc)")
    output = project.configure_and_make()
    assert f"AivOps: cann {version} at {tree.root} (machine ascend)" in output
    assert project.binaries() == ["ascend/dav-c220-vec/k.o", "ascend/dav-c310-vec/k.o"]


def test_a_release_before_8_0_is_refused(project: CMakeProject, cann: MakeCann) -> None:
    tree = cann("7.x", "7.0.1")
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write_lists("")
    configured = project.configure()
    assert configured.returncode != 0
    assert f"AivOps: the toolkit at {tree.root} is CANN 7.0.1; AivOps needs 8.0 or newer" in flatten(
        configured.stdout
    )


def test_bisheng_serves_where_there_is_no_ccec(project: CMakeProject, cann: MakeCann) -> None:
    tree = cann("8.5", "8.5.0", compiler="bisheng")
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc ARCHITECTURES dav-c220-vec)")
    project.configure_and_make()
    assert project.binaries() == ["ascend/dav-c220-vec/k.o"]


def test_the_choice_is_printed_once(project: CMakeProject) -> None:
    project.write_lists("find_package(AivOps REQUIRED)")
    line = "AivOps: aivops-emulator 0.1.0 at "
    assert project.configure().stdout.count(line) == 1
    assert project.configure().stdout.count(line) == 0


def test_the_environment_names_the_toolkit(project: CMakeProject, cann: MakeCann, emulated: str) -> None:
    tree = cann()
    project.write_lists(
        'get_target_property(machine AivOps::toolkit AIVOPS_MACHINE)\nmessage(STATUS "selected ${machine}")'
    )
    for environment, machine in (
        ({}, emulated),
        ({"ASCEND_HOME_PATH": str(tree.root)}, "ascend"),
        ({"AIVOPS_TOOLKIT": str(tree.root)}, "ascend"),
        ({"AIVOPS_TOOLKIT": "emulator", "ASCEND_HOME_PATH": str(tree.root)}, emulated),
        ({"AIVOPS_TOOLKIT": "cann", "ASCEND_TOOLKIT_HOME": str(tree.root)}, "ascend"),
    ):
        project.environment = dict(environment)
        output = project.configure("--fresh").stdout
        assert f"selected {machine}\n" in output, output


def test_an_emulated_toolkit_may_be_named_by_path(
    project: CMakeProject, toolkit: Path, emulated: str
) -> None:
    project.environment["ASCEND_HOME_PATH"] = str(toolkit)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc ARCHITECTURES dav-c310-vec)")
    project.configure_and_make()
    assert project.binaries() == [f"{emulated}/dav-c310-vec/k.o"]


def test_header_directories_exist(project: CMakeProject, cann: MakeCann) -> None:
    tree = cann("8.1", "8.1.RC1")
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc ARCHITECTURES dav-c220-vec)")
    project.configure_and_make()
    compile_call = tree.calls("ccec")[-1]
    directories = [argument[2:] for argument in compile_call if argument.startswith("-I")]
    assert directories
    assert all(Path(directory).is_dir() for directory in directories)


def test_a_root_that_vanishes_is_found_out(project: CMakeProject, cann: MakeCann) -> None:
    tree = cann()
    project.write_lists("")
    project.environment["ASCEND_HOME_PATH"] = str(tree.root)
    assert project.configure().returncode == 0
    tree.root.rename(tree.root.with_name("moved"))
    configured = project.configure()
    assert configured.returncode != 0
    assert f"AivOps: the toolkit folder {tree.root} does not exist" in flatten(configured.stdout)
