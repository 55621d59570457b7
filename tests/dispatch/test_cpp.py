"""The C++ API, compiled as C++17 without a warning, and the example of the documentation."""

import os
import shutil
import subprocess
from pathlib import Path

import aivops
import pytest
from aivops._locations import get_toolkit_dir
from fixtures.cmake_project import VARIABLES_OF_TOOLKITS

COMPILERS = ["g++", pytest.param("clang++", marks=pytest.mark.long)]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def run(*command: object, **variables: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES_OF_TOOLKITS}
    environment.update({name: str(value) for name, value in variables.items()})
    done = subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_api_in_cpp17(compiler: str, tmp_path: Path, kernels_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = tmp_path / "cpp_api"
    includes = [f"-I{aivops.get_include()}", f"-I{get_toolkit_dir() / 'include'}"]
    source = Path(__file__).parent / "cpp_api.cpp"
    run(compiler, "-std=c++17", "-O0", *WARNINGS, *includes, source, "-o", program, "-pthread", "-ldl")
    run(program, get_toolkit_dir(), kernels_path)


def test_the_example_builds_and_runs(repository: Path, tmp_path: Path) -> None:
    source = repository / "examples/launch_from_cpp"
    build, prefix = tmp_path / "build", tmp_path / "installed"
    configure = ["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DAivOps_DIR={aivops.get_cmake_dir()}"]
    run(*configure, f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--build", build)
    run("cmake", "--install", build)
    program = prefix / "bin/launch_from_cpp"
    output = run(program, prefix / "kernels", ASCEND_HOME_PATH=get_toolkit_dir())
    assert output == "100000 values are right, on Ascend910B1 (aivops-emulator)\n"
