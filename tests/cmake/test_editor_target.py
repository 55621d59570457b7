"""What editors are told about Ascend C sources."""

import json
import shlex

from fixtures.cmake_project import CMakeProject, kernel_source


def test_sources_are_in_the_compile_database(project: CMakeProject) -> None:
    project.write({"k.asc": kernel_source("k", include="part.h"), "include/part.h": ""})
    project.write_lists(
        "aivops_add_kernels(k SOURCES k.asc INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/include)"
    )
    project.configure_and_make("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    commands = json.loads((project.build / "compile_commands.json").read_text())
    (entry,) = [command for command in commands if command["file"].endswith("k.asc")]
    arguments = shlex.split(entry["command"])
    assert "-D__NPU_ARCH__=2201" in arguments

    # The command works, and nothing of it is part of a build.
    assert project.run("env", "-C", entry["directory"], *arguments, "-fsyntax-only").returncode == 0
    assert not list(project.build.rglob("k-editor.dir/*.o"))
