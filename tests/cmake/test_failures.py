"""Kernels that do not compile, link or verify: status, message, and nothing left, also over an older good build."""

import shutil
from pathlib import Path

import pytest
from fixtures.cmake_project import CMakeProject, flatten, kernel_source

GOOD = kernel_source("copy")
RECORD = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void copy(GM_ADDR destination) {{ (void)destination; }}
struct Record {{ unsigned short type, length; unsigned int kernel_type; }};
static const Record record __attribute__((used, section("{section}"))) = {{1, 4, {kernel_type}}};
"""

DOES_NOT_COMPILE = GOOD.replace("(void)count;", "(void)conut;")
WITHOUT_EXPORT = GOOD.replace("AIVOPS_EXPORT_KERNEL(copy);", "")
WITHOUT_EXTERN_C = GOOD.replace('extern "C" ', "")
WRONG_TYPE = RECORD.format(section=".ascend.meta.copy", kernel_type=2)
MISSPELT_SECTION = RECORD.format(section=".ascend.meta.cpoy", kernel_type=3)


@pytest.fixture
def built(project: CMakeProject) -> CMakeProject:
    """A project with a good build, whose kernel a test then breaks."""
    project.write({"copy.asc": GOOD})
    project.write_lists(
        "aivops_add_kernels(copy SOURCES copy.asc KERNELS copy ARCHITECTURES dav-c220-vec)\n"
        "aivops_install_kernels(copy DESTINATION kernels)"
    )
    project.configure_and_make()
    assert len(project.binaries()) == 1
    return project


def break_kernel(project: CMakeProject, source: str) -> str:
    """Builds the broken source over the good build, then afresh; returns the message, after checking what is left."""
    project.write({"copy.asc": source})
    for _ in range(2):
        made = project.make()
        assert made.returncode != 0, made.stdout
        assert project.binaries() == []
        assert list(project.build.rglob("copy.o.json")) == []
        installed = project.run(
            project.cmake, "--install", project.build, "--prefix", project.build / "prefix"
        )
        assert installed.returncode != 0
    return flatten(made.stdout)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (DOES_NOT_COMPILE, ["copy.asc", "conut"]),
        (WITHOUT_EXPORT, ["META050", "copy", "AIVOPS_EXPORT_KERNEL"]),
        (WITHOUT_EXTERN_C, ["META030", "copy", 'extern "C"']),
        (WRONG_TYPE, ["META061", "copy", "K_TYPE_AIV"]),
        (MISSPELT_SECTION, ["META051", "cpoy"]),
    ],
    ids=["compile", "export", "extern-c", "type", "section"],
)
def test_nothing_is_left(built: CMakeProject, source: str, words: list[str]) -> None:
    message = break_kernel(built, source)
    for word in words:
        assert word in message


def test_a_good_kernel_builds_again(built: CMakeProject) -> None:
    break_kernel(built, WITHOUT_EXPORT)
    built.write({"copy.asc": GOOD})
    made = built.make()
    assert made.returncode == 0, made.stdout
    assert len(built.binaries()) == 1


def test_a_kernel_that_does_not_link_leaves_nothing(
    project: CMakeProject, toolkit: Path, tmp_path: Path
) -> None:
    own = tmp_path / "toolkit"
    shutil.copytree(toolkit, own)
    project.environment["ASCEND_HOME_PATH"] = str(own)
    project.write({"copy.asc": GOOD})
    project.write_lists("aivops_add_kernels(copy SOURCES copy.asc ARCHITECTURES dav-c220-vec)")
    project.configure_and_make()
    linker = own / "tools/ccec_compiler/bin/ld.lld"
    linker.unlink()
    linker.write_text("#!/bin/sh\necho 'ld.lld: error: no space left' >&2\nexit 1\n")
    linker.chmod(0o755)
    made = project.make()
    assert made.returncode != 0
    assert "ld.lld: error: no space left" in made.stdout
    assert project.binaries() == []


def test_a_missing_kernel_is_named(project: CMakeProject) -> None:
    project.write({"copy.asc": GOOD})
    project.write_lists("aivops_add_kernels(copy SOURCES copy.asc KERNELS copy gather)")
    assert project.configure().returncode == 0
    made = project.make()
    assert made.returncode != 0
    assert "META030" in made.stdout
    assert "gather" in made.stdout
    assert project.binaries() == []


def test_an_extra_kernel_is_named(project: CMakeProject) -> None:
    project.write({"copy.asc": GOOD, "more.asc": kernel_source("surprise")})
    project.write_lists("aivops_add_kernels(copy SOURCES copy.asc more.asc KERNELS copy)")
    assert project.configure().returncode == 0
    made = project.make()
    assert made.returncode != 0
    assert "META036" in made.stdout
    assert "surprise" in made.stdout
    assert project.binaries() == []


def test_a_glob_that_matches_nothing_is_named(project: CMakeProject) -> None:
    project.write({"copy.asc": GOOD})
    project.write_lists("aivops_add_kernels(copy SOURCES copy.asc KERNELS copy gather_*)")
    assert project.configure().returncode == 0
    made = project.make()
    assert made.returncode != 0
    assert "gather_*" in made.stdout
    assert project.binaries() == []
