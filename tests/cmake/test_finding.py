"""Every way to find AivOps, and what finding it leaves alone."""

import shutil
from pathlib import Path

import pytest
from fixtures.cmake_project import CMakeProject, kernel_source

ONE_KERNEL = "aivops_add_kernels(k SOURCES k.asc)\naivops_install_kernels(k DESTINATION kernels)\n"


def check_one_kernel(project: CMakeProject, emulated: str, *arguments: str) -> None:
    """Builds and installs the project's one kernel; exactly the set arrives."""
    project.write({"k.asc": kernel_source("k")})
    project.configure_and_make(*arguments)
    stage = project.build / "stage"
    installed = project.run(project.cmake, "--install", project.build, "--prefix", stage)
    assert installed.returncode == 0, installed.stdout
    assert sorted(str(path.relative_to(stage)) for path in stage.rglob("*") if path.is_file()) == [
        f"kernels/{emulated}/dav-c220-vec/k.o",
        f"kernels/{emulated}/dav-c310-vec/k.o",
        "kernels/manifest.json",
    ]


def test_by_root(project: CMakeProject, emulated: str) -> None:
    project.write_lists(ONE_KERNEL)
    check_one_kernel(project, emulated)


def test_by_prefix_path_in_a_moved_install_tree(tmp_path: Path, prefix: Path, emulated: str) -> None:
    moved = tmp_path / "else where"
    shutil.copytree(prefix, moved)
    project = CMakeProject(tmp_path / "consumer", None)
    project.write_lists(ONE_KERNEL)
    check_one_kernel(project, emulated, f"-DCMAKE_PREFIX_PATH={moved}")


def test_in_a_build_tree(tmp_path: Path, build_dir: Path, emulated: str) -> None:
    project = CMakeProject(tmp_path / "consumer", None)
    project.write_lists(ONE_KERNEL)
    check_one_kernel(project, emulated, f"-DAivOps_DIR={build_dir}")


@pytest.mark.long
def test_as_a_subdirectory(tmp_path: Path, repository: Path, emulated: str) -> None:
    project = CMakeProject(tmp_path / "consumer", None)
    project.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n"
            f'add_subdirectory("{repository}" aivops)\n{ONE_KERNEL}'
            "add_executable(main main.cpp)\ntarget_link_libraries(main PRIVATE AivOps::host)\n"
            "add_dependencies(main aivops_toolkit)\n",
            "main.cpp": '#include "aivops/dispatch.h"\nint main() {}\n',
        }
    )
    check_one_kernel(project, emulated)
    toolkit = project.build / "aivops/toolkit"
    assert (toolkit / "lib64/libacl_rt.so").is_file()
    assert (toolkit / "tools/ccec_compiler/bin/ccec").is_file()


@pytest.mark.long
def test_by_fetch_content(tmp_path: Path, repository: Path, emulated: str) -> None:
    project = CMakeProject(tmp_path / "consumer", None)
    project.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n"
            f'include(FetchContent)\nFetchContent_Declare(AivOps SOURCE_DIR "{repository}")\n'
            f"FetchContent_MakeAvailable(AivOps)\n{ONE_KERNEL}"
        }
    )
    check_one_kernel(project, emulated)


def test_before_project_and_without_languages(tmp_path: Path, prefix: Path, emulated: str) -> None:
    project = CMakeProject(tmp_path / "consumer", prefix)
    project.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nfind_package(AivOps REQUIRED)\n"
            f"project(consumer LANGUAGES NONE)\n{ONE_KERNEL}"
        }
    )
    check_one_kernel(project, emulated)


def test_versions(project: CMakeProject) -> None:
    for request, found in (
        ("0.1", True),
        ("0.1.0 EXACT", True),
        ("0.2", False),
        ("1.0", False),
        ("0.0.9", False),
    ):
        project.write(
            {
                "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(consumer CXX)\n"
                f'find_package(AivOps {request})\nmessage(STATUS "found=$<BOOL:${{AivOps_FOUND}}> ${{AivOps_FOUND}}")\n'
            }
        )
        output = project.configure("--fresh").stdout
        assert ("found=$<BOOL:1> 1" in output) == found, (request, output)


def test_the_caller_is_left_alone(project: CMakeProject) -> None:
    project.write(
        {
            "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
cmake_policy(SET CMP0140 OLD)
set(watched CMAKE_CXX_FLAGS CMAKE_CXX_COMPILER CMAKE_CXX_STANDARD CMAKE_BUILD_TYPE CMAKE_SKIP_RPATH CMAKE_PREFIX_PATH
    CMAKE_MODULE_PATH CMAKE_POSITION_INDEPENDENT_CODE BUILD_SHARED_LIBS CMAKE_INSTALL_PREFIX CMAKE_CXX_VISIBILITY_PRESET)
foreach(name IN LISTS watched)
    set(before_${name} "${${name}}")
endforeach()
get_cmake_property(variables_before VARIABLES)
get_directory_property(links_before LINK_LIBRARIES)
get_cmake_property(cache_before CACHE_VARIABLES)
find_package(AivOps REQUIRED)
find_package(AivOps REQUIRED)
foreach(name IN LISTS watched)
    if(NOT "${before_${name}}" STREQUAL "${${name}}")
        message(SEND_ERROR "${name} changed")
    endif()
endforeach()
cmake_policy(GET CMP0140 policy)
if(NOT policy STREQUAL "OLD")
    message(SEND_ERROR "policy changed")
endif()
get_cmake_property(cache_after CACHE_VARIABLES)
list(REMOVE_ITEM cache_after ${cache_before})
message(STATUS "cache gained: ${cache_after}")
get_cmake_property(variables_after VARIABLES)
list(REMOVE_ITEM variables_after ${variables_before} ${cache_after})
list(FILTER variables_after EXCLUDE REGEX "^(AivOps_|Threads_|CMAKE_|_CMAKE|PACKAGE_|FIND_|AIVOPS_|Find|THREADS_|PTHREAD_|links|cache|variables|policy|name|before)")
message(STATUS "variables gained: ${variables_after}")
""",
        }
    )
    configured = project.configure()
    assert configured.returncode == 0, configured.stdout
    gained = next(line for line in configured.stdout.splitlines() if "cache gained: " in line)
    names = set(gained.split(": ")[1].split(";"))
    allowed = {"AIVOPS_ARCHITECTURES", "AIVOPS_MACHINES", "AivOps_DIR", "_AIVOPS_REPORTED_TOOLKITS"}
    assert {name for name in names if not name.startswith(("CMAKE_HAVE_LIBC", "FIND_PACKAGE"))} <= allowed
    assert "variables gained: \n" in configured.stdout + "\n"


def test_another_verifier_may_be_named(project: CMakeProject, prefix: Path, tmp_path: Path) -> None:
    verifier = tmp_path / "verifier"
    verifier.write_text(f'#!/bin/sh\necho called >> {tmp_path}/calls\nexec {prefix}/bin/aivops-verify "$@"\n')
    verifier.chmod(0o755)
    project.write({"k.asc": kernel_source("k")})
    project.write_lists("aivops_add_kernels(k SOURCES k.asc ARCHITECTURES 2201)")
    project.configure_and_make(f"-DAivOps_VERIFY_EXECUTABLE={verifier}")
    assert (tmp_path / "calls").read_text() == "called\n"
