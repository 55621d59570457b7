"""What a build does again: nothing without a reason, and exactly what a change reaches."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.cann import CannTree, make_cann
from fixtures.cmake_project import CMakeProject, kernel_source

GENERATORS = ["Ninja", "Unix Makefiles", "Ninja Multi-Config"]


class Build:
    """A project for CANN whose recording compiler tells what a build did."""

    def __init__(self, project: CMakeProject, tree: CannTree) -> None:
        self.project = project
        self.tree = tree
        project.environment["ASCEND_HOME_PATH"] = str(tree.root)

    def compiled(self) -> list[str]:
        """Builds; returns the sources that were compiled, once per architecture."""
        self.tree.forget_calls()
        made = self.project.make()
        assert made.returncode == 0, made.stdout
        return sorted(Path(call[-8]).name for call in self.tree.calls("ccec"))

    def linked(self) -> list[str]:
        """Names of the binaries that the last build linked."""
        return sorted(Path(call[-1]).name.removesuffix(".unverified") for call in self.tree.calls("ld.lld"))


def build_two_targets(tmp_path: Path, prefix: Path, cmake: str, generator: str) -> Build:
    tree = make_cann(tmp_path / "cann", "9.x", "9.0.0", prefix / "toolkit")
    project = CMakeProject(tmp_path / "consumer", prefix, cmake=cmake, generator=generator)
    build = Build(project, tree)
    project.write(
        {
            "one.asc": kernel_source("one", include="shared.h"),
            "two.asc": kernel_source("two", include="sub/two.h"),
            "three.asc": kernel_source("three", include="shared.h"),
            "shared.h": "",
            "sub/two.h": '#include "deep.h"\n',
            "sub/deep.h": "",
        }
    )
    project.write_lists(
        "aivops_add_kernels(pair SOURCES one.asc two.asc ARCHITECTURES dav-c220-vec NO_LAYOUT)\n"
        "aivops_add_kernels(single SOURCES three.asc ARCHITECTURES dav-c220-vec NO_LAYOUT)\n"
        "aivops_install_kernels(pair single DESTINATION kernels)"
    )
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    return build


def check_rebuilds(build: Build) -> None:
    source = build.project.source
    assert build.compiled() == ["one.asc", "three.asc", "two.asc"]
    assert build.compiled() == []
    assert build.linked() == []

    (source / "shared.h").touch()
    assert build.compiled() == ["one.asc", "three.asc"]
    assert build.linked() == ["pair.o", "single.o"]
    assert build.compiled() == []

    (source / "sub/deep.h").touch()
    assert build.compiled() == ["two.asc"]
    assert build.linked() == ["pair.o"]
    assert build.compiled() == []

    (source / "three.asc").touch()
    assert build.compiled() == ["three.asc"]
    assert build.linked() == ["single.o"]
    assert build.compiled() == []


def check_toolkit_upgrades(build: Build) -> None:
    everything = ["one.asc", "three.asc", "two.asc"]
    assert build.compiled() in (everything, [])
    tools = build.tree.root / "tools/ccec_compiler/bin"

    ((tools / "ccec").resolve()).touch()
    assert build.compiled() == everything
    assert build.compiled() == []

    ((tools / "ld.lld").resolve()).touch()
    assert build.compiled() == []
    assert build.linked() == ["pair.o", "single.o"]

    headers = sorted(build.tree.root.glob("*-linux/asc/include/kernel_operator.h"))
    headers[0].touch()
    assert build.compiled() == everything
    assert build.compiled() == []


def test_ninja(tmp_path: Path, prefix: Path) -> None:
    build = build_two_targets(tmp_path, prefix, "cmake", "Ninja")
    check_rebuilds(build)
    check_toolkit_upgrades(build)


@pytest.mark.long
@pytest.mark.parametrize("generator", GENERATORS)
def test_every_generator_and_cmake(tmp_path: Path, prefix: Path, generator: str, any_cmake: str) -> None:
    build = build_two_targets(tmp_path, prefix, any_cmake, generator)
    check_rebuilds(build)
    check_toolkit_upgrades(build)


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_changed_options_build_again(tmp_path: Path, prefix: Path, generator: str) -> None:
    build = build_two_targets(tmp_path, prefix, "cmake", generator)
    assert build.compiled() == ["one.asc", "three.asc", "two.asc"]
    lists = build.project.source / "CMakeLists.txt"
    text = lists.read_text()

    lists.write_text(text.replace("three.asc ARCH", "three.asc COMPILE_DEFINITIONS MARK=1 ARCH"))
    assert build.compiled() == ["three.asc"]
    assert build.compiled() == []

    lists.write_text(
        text.replace("three.asc ARCH", "three.asc COMPILE_DEFINITIONS MARK=1 KERNELS three ARCH")
    )
    assert build.compiled() == []
    assert build.linked() == ["single.o"]
    assert build.compiled() == []
    assert build.linked() == []


def test_a_verifier_in_place_verifies_again(tmp_path: Path, prefix: Path) -> None:
    own = tmp_path / "aivops"
    shutil.copytree(prefix, own)
    build = build_two_targets(tmp_path, own, "cmake", "Ninja")
    build.compiled()
    (own / "bin/aivops-verify").touch()
    assert build.compiled() == []
    assert build.linked() == ["pair.o", "single.o"]


def test_no_op_build_costs_no_more_than_an_empty_project(
    project: CMakeProject, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc)\naivops_install_kernels(k DESTINATION kernels)")
    project.configure_and_make()
    empty = CMakeProject(tmp_path / "empty", None)
    empty.write({"CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(empty CXX)\n"})
    empty.configure_and_make()

    def shortest(subject: CMakeProject) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subject.make()
            times.append(time.perf_counter() - start)
        return min(times)

    ours, nothing = shortest(project), shortest(empty)
    record_property("no_op_seconds", round(ours, 3))
    record_property("empty_seconds", round(nothing, 3))
    assert "no work to do" in project.make().stdout
    assert ours < nothing + 0.1
