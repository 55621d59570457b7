"""Projects of other people, built and run as they would do it: from AivOps' wheel, outside the source tree."""

import json
import os
import platform
import re
import shutil
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from fixtures.cann import make_cann
from fixtures.oldest_cmake import find_oldest_cmake
from fixtures.wheels import (
    FreshEnvironment,
    Wheelhouse,
    build_wheel,
    duplicate_contents,
    dynamic_entries,
    run,
    wheel_files,
)

pytestmark = pytest.mark.xdist_group("wheel")

CPU = platform.machine()
EMULATED = f"emulated-{CPU}"
HERE = Path(__file__).parent
GENERATORS = ["Ninja", "Unix Makefiles", "Ninja Multi-Config"]

USE_NATIVE = """
import aivops, numpy as np, vector_sum
a, b = np.arange(1003, dtype=np.float32), np.full(1003, 0.5, np.float32)
assert np.array_equal(vector_sum.add(a, b), a + b)
assert aivops.load_kernels("vector_sum").kernel_names == ["vector_sum_float"]
print("sums agree")
"""

USE_KERNELS = """
import aivops, numpy as np
device = aivops.Device(0)
stream = aivops.Stream(device)
kernels = aivops.load_kernels("elementwise")
for operation, reference in (("add", np.add), ("multiply", np.multiply), ("maximum", np.maximum)):
    for name, dtype in (("float", np.float32), ("half", np.float16), ("int32", np.int32)):
        a = (np.arange(3001) % 50).astype(dtype)
        b = (np.arange(3001) % 7).astype(dtype)
        c = aivops.Buffer(device, a.shape, dtype)
        kernel = kernels.get_kernel(f"elementwise_{operation}_{name}")
        kernel.launch(stream, aivops.Buffer.from_host(device, a), aivops.Buffer.from_host(device, b), c, a.size)
        stream.synchronize()
        assert np.array_equal(c.to_numpy(), reference(a, b)), (operation, name)
print(len(kernels.kernel_names), "kernels agree")
"""


def copy_of(package: str, folder: Path) -> Path:
    """A consumer outside the source tree."""
    return Path(shutil.copytree(HERE / package, folder / package))


def build_and_run_pure(
    source: Path, build: Path, environment: FreshEnvironment, cmake: str, generator: str
) -> None:
    root = environment.run("aivops", "cmake-dir").strip()
    toolkit = environment.run("aivops", "toolkit-dir").strip()
    run(
        cmake, "-S", source, "-B", build, "-G", generator, f"-DAivOps_ROOT={root}", "-DCMAKE_BUILD_TYPE=Debug"
    )
    run(cmake, "--build", build)
    stage = build / "stage"
    # Multi-config generators build Debug by default.
    run(cmake, "--install", build, "--prefix", stage, "--config", "Debug")
    output = run(stage / "bin/add_main", environment={"ASCEND_HOME_PATH": toolkit})
    assert output == "largest error 0\n"


def build_and_run_plain(
    source: Path, build: Path, environment: FreshEnvironment, cmake: str, generator: str
) -> None:
    toolkit = environment.run("aivops", "toolkit-dir").strip()
    run(cmake, "-S", source, "-B", build, "-G", generator, f"-DASCEND_CANN_PACKAGE_PATH={toolkit}")
    run(cmake, "--build", build)
    (program,) = [path for path in build.rglob("fill_main") if path.is_file() and os.access(path, os.X_OK)]
    assert run(program, build / "fill.o") == "0 wrong words\n"


def test_pure_cmake(tmp_path: Path, user_environment: FreshEnvironment) -> None:
    source = copy_of("pure_cmake", tmp_path)
    build_and_run_pure(source, tmp_path / "build", user_environment, "cmake", "Ninja")


def test_plain_commands(tmp_path: Path, user_environment: FreshEnvironment) -> None:
    source = copy_of("plain_commands", tmp_path)
    build_and_run_plain(source, tmp_path / "build", user_environment, "cmake", "Ninja")


@pytest.fixture(scope="module")
def native_wheel(wheelhouse: Wheelhouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("native")
    return build_wheel(copy_of("native_wheel", folder), folder / "dist", environment=wheelhouse.environment)


def test_native_wheel(tmp_path: Path, wheelhouse: Wheelhouse, native_wheel: Path) -> None:
    wheel = native_wheel
    assert wheel.name == f"vector_sum-1.0-cp310-abi3-linux_{CPU}.whl"
    assert wheel_files(wheel) == [
        "vector_sum/__init__.py",
        "vector_sum/_host.abi3.so",
        f"vector_sum/kernels/{EMULATED}/dav-c220-vec/sum.o",
        f"vector_sum/kernels/{EMULATED}/dav-c310-vec/sum.o",
        "vector_sum/kernels/manifest.json",
    ]
    assert duplicate_contents(wheel) == []
    host = dynamic_entries(wheel)["vector_sum/_host.abi3.so"]
    assert host.search_paths == []
    assert not [library for library in host.needed if "acl" in library or "python" in library]

    environment = FreshEnvironment.make(tmp_path / "venv", wheelhouse, wheel)
    assert "sums agree" in environment.python(USE_NATIVE)
    assert "vector_sum" in environment.run("aivops", "doctor")


def test_kernel_wheel(tmp_path: Path, wheelhouse: Wheelhouse) -> None:
    wheel = build_wheel(
        copy_of("kernel_wheel", tmp_path), tmp_path / "dist", environment=wheelhouse.environment
    )
    assert wheel.name == f"elementwise_kernels-1.0-py3-none-linux_{CPU}.whl"
    assert wheel_files(wheel) == [
        "elementwise_kernels/__init__.py",
        f"elementwise_kernels/kernels/{EMULATED}/dav-c220-vec/arithmetic.o",
        f"elementwise_kernels/kernels/{EMULATED}/dav-c220-vec/maximum.o",
        f"elementwise_kernels/kernels/{EMULATED}/dav-c310-vec/arithmetic.o",
        "elementwise_kernels/kernels/manifest.json",
    ]
    environment = FreshEnvironment.make(tmp_path / "venv", wheelhouse, wheel)
    assert "9 kernels agree" in environment.python(USE_KERNELS)


def wheel_with_cann(
    tmp_path: Path, wheelhouse: Wheelhouse, environment: FreshEnvironment, setting: str
) -> Path:
    """The kernels' wheel, built beside a CANN installation."""
    emulated = Path(environment.run("aivops", "toolkit-dir").strip())
    cann = make_cann(tmp_path / "cann", "9.x", "9.0.0", emulated)
    variables = wheelhouse.environment | {"ASCEND_HOME_PATH": str(cann.root)}
    return build_wheel(copy_of("kernel_wheel", tmp_path), tmp_path / "dist", setting, environment=variables)


@pytest.mark.long
def test_wheel_for_npus_runs_anywhere(
    tmp_path: Path, wheelhouse: Wheelhouse, user_environment: FreshEnvironment
) -> None:
    npu = wheel_with_cann(tmp_path, wheelhouse, user_environment, "wheel.platlib=false")
    assert npu.name == "elementwise_kernels-1.0-py3-none-any.whl"
    assert [name for name in wheel_files(npu) if name.endswith(".o")] == [
        "elementwise_kernels/kernels/ascend/dav-c220-vec/arithmetic.o",
        "elementwise_kernels/kernels/ascend/dav-c220-vec/maximum.o",
        "elementwise_kernels/kernels/ascend/dav-c310-vec/arithmetic.o",
    ]


def test_wheel_for_both_machines(
    tmp_path: Path, wheelhouse: Wheelhouse, user_environment: FreshEnvironment
) -> None:
    setting = "cmake.define.AIVOPS_MACHINES=ascend;emulated"
    both = wheel_with_cann(tmp_path, wheelhouse, user_environment, setting)
    with zipfile.ZipFile(both) as archive:
        manifest = json.loads(archive.read("elementwise_kernels/kernels/manifest.json"))
        for binary in manifest["binaries"]:
            content = archive.read(f"elementwise_kernels/kernels/{binary['path']}")
            assert sha256(content).hexdigest() == binary["sha256"]
            machine = int.from_bytes(content[18:20], "little")
            assert (machine == 0x1029) == (binary["machine"] == "ascend")
    by_machine = {
        machine: {
            kernel["name"]: kernel["parameters"]
            for binary in manifest["binaries"]
            if binary["machine"] == machine
            for kernel in binary["kernels"]
        }
        for machine in ("ascend", EMULATED)
    }
    assert len(by_machine["ascend"]) == 9
    assert by_machine["ascend"] == by_machine[EMULATED]
    assert all(by_machine["ascend"].values())


def test_new_project_builds_and_passes(
    tmp_path: Path, wheelhouse: Wheelhouse, user_environment: FreshEnvironment
) -> None:
    folder = tmp_path / "my_ops"
    user_environment.run("aivops", "new", "my_ops", "--directory", folder)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        ".github/workflows/test.yml",
        "CMakeLists.txt",
        "README.md",
        "kernels/add.asc",
        "pyproject.toml",
        "src/my_ops/__init__.py",
        "tests/test_add.py",
    ]
    assert "example" not in "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    # As its workflow does it, with all that pip needs in the folder that it names; pytest is there already.
    workflow = (folder / ".github/workflows/test.yml").read_text()
    (links,) = re.findall(r"^ +PIP_FIND_LINKS: (\w+)$", workflow, re.MULTILINE)
    assert re.findall(r"^ +- run: (.+)$", workflow, re.MULTILINE) == ["pip install '.[test]'", "pytest"]
    (folder / links).symlink_to(wheelhouse.folder)
    environment = FreshEnvironment.make(tmp_path / "venv", wheelhouse)
    pip = [environment.folder / "bin/python", "-m", "pip", "install", "--quiet", "."]
    run(*pip, environment={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": links}, directory=folder)
    (environment.folder / "lib").joinpath(
        f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages", "tests.pth"
    ).write_text(str(Path(pytest.__file__).parent.parent))
    assert "7 passed" in environment.run("python", "-m", "pytest", "-q", folder / "tests")


def test_repair_leaves_kernels_alone(tmp_path: Path, native_wheel: Path) -> None:
    tools = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    auditwheel = [sys.executable, "-m", "auditwheel"]
    shown = run(*auditwheel, "show", native_wheel, environment=tools)
    assert "manylinux" in shown
    run(*auditwheel, "repair", "--wheel-dir", tmp_path / "repaired", native_wheel, environment=tools)
    (repaired,) = (tmp_path / "repaired").glob("*.whl")
    with zipfile.ZipFile(native_wheel) as before, zipfile.ZipFile(repaired) as after:
        kernels = [name for name in before.namelist() if "/kernels/" in name]
        assert kernels
        for name in kernels:
            assert before.read(name) == after.read(name), name


@pytest.mark.long
def test_editable_install(tmp_path: Path, wheelhouse: Wheelhouse) -> None:
    for package, code in (("native_wheel", USE_NATIVE), ("kernel_wheel", USE_KERNELS)):
        source = copy_of(package, tmp_path)
        environment = FreshEnvironment.make(tmp_path / f"venv-{package}", wheelhouse, "--editable", source)
        assert "agree" in environment.python(code)


@pytest.mark.long
def test_sdist_makes_the_same_wheel(tmp_path: Path, wheelhouse: Wheelhouse) -> None:
    variables = wheelhouse.environment | {"SOURCE_DATE_EPOCH": "1700000000"}
    source = copy_of("kernel_wheel", tmp_path)
    direct = build_wheel(source, tmp_path / "direct", environment=variables)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, source, environment=variables)
    (archive,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build_wheel(unpacked, tmp_path / "again", environment=variables)
    assert sha256(direct.read_bytes()).hexdigest() == sha256(again.read_bytes()).hexdigest()


@pytest.mark.long
@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("release", ["newest", "3.25"])
def test_cmake_consumers_everywhere(
    tmp_path: Path, user_environment: FreshEnvironment, generator: str, release: str
) -> None:
    cmake = "cmake" if release == "newest" else find_oldest_cmake(tmp_path / "cmake")
    build_and_run_pure(copy_of("pure_cmake", tmp_path), tmp_path / "b1", user_environment, cmake, generator)
    build_and_run_plain(
        copy_of("plain_commands", tmp_path), tmp_path / "b2", user_environment, cmake, generator
    )


@pytest.mark.long
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
@pytest.mark.parametrize("release", ["newest", "3.25"])
@pytest.mark.parametrize(("package", "code"), [("native_wheel", USE_NATIVE), ("kernel_wheel", USE_KERNELS)])
def test_wheel_consumers_everywhere(
    tmp_path: Path, wheelhouse: Wheelhouse, package: str, code: str, release: str, generator: str
) -> None:
    variables = wheelhouse.environment | {"CMAKE_GENERATOR": generator}
    if release == "3.25":
        oldest = Path(find_oldest_cmake(tmp_path / "cmake"))
        variables["CMAKE_EXECUTABLE"] = str(oldest)
    wheel = build_wheel(copy_of(package, tmp_path), tmp_path / "dist", environment=variables)
    environment = FreshEnvironment.make(tmp_path / "venv", wheelhouse, wheel)
    assert "agree" in environment.python(code)
