"""AivOps' own wheel: the complete list of its files, its tags and libraries, and what a user can do with it."""

import json
import platform
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from fixtures.wheels import (
    FreshEnvironment,
    duplicate_contents,
    dynamic_entries,
    wheel_files,
)

pytestmark = pytest.mark.xdist_group("wheel")

CPU = platform.machine()
ARCHITECTURES = ["dav-c220-vec", "dav-c310-vec"]
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
} | {
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
# Libraries without functions, for link lines that name them.
LINK_NAMES = [
    "ascend_dump",
    "ascend_hal",
    "ascendalog",
    "c_sec",
    "error_manager",
    "mmpa",
    "platform",
    "profapi",
    "register",
    "runtime",
    "tiling_api",
    "unified_dlog",
]
MADE = [
    "_core.abi3.so",
    "bin/aivops-verify",
    "kernels/manifest.json",
    "lib/cmake/AivOps/AivOpsConfig.cmake",
    "lib/cmake/AivOps/AivOpsConfigVersion.cmake",
    "lib/cmake/AivOps/AivOpsTargets-release.cmake",
    "lib/cmake/AivOps/AivOpsTargets.cmake",
    "toolkit/include/aivops/emulator.h",
    "toolkit/lib64/libacl_rt.so",
    "toolkit/lib64/libascendcl.so",
    "toolkit/lib64/libhccl.so",
    "toolkit/lib64/libhcomm.so",
    *(f"toolkit/lib64/lib{name}.so" for name in LINK_NAMES),
    "toolkit/share/doc/aivops/ascendc.md",
    "toolkit/share/info/aivops/toolkit.json",
    "toolkit/share/info/aivops/version.info",
    "toolkit/tools/ccec_compiler/bin/ccec",
    "toolkit/tools/ccec_compiler/bin/ld.lld",
    f"toolkit/{CPU}-linux/asc/include/aivops_emulator/contract.h",
    f"toolkit/{CPU}-linux/asc/include/aivops_emulator/version.h",
]


def tree(folder: Path, *suffixes: str) -> list[str]:
    """Files below a folder with one of the suffixes, relative to it."""
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in suffixes]


def expected_files(repository: Path) -> list[str]:
    """What the sources say a wheel has to have."""
    host = repository / "host"
    files = set(MADE)
    for folder, place, suffixes in (
        (repository / "python/aivops", "", (".py", ".pyi", ".typed", ".toml", ".txt", ".asc", ".md", ".yml")),
        (repository / "device/include", "include/device/", (".h",)),
        (host / "dispatch/include", "include/host/", (".h",)),
        (host / "kernel_binary/include", "include/host/", (".h",)),
        (host / "cann/include/aivops", "include/host/aivops/", (".h", ".def")),
        (host / "cann/include", "toolkit/include/", (".h",)),
        (host / "emulator/ascendc", f"toolkit/{CPU}-linux/asc/include/", (".h",)),
    ):
        names = tree(folder, *suffixes)
        if folder == host / "cann/include":
            names = [name for name in names if not name.startswith("aivops/")]
        if folder == repository / "python/aivops":
            names = [name for name in names if "__pycache__" not in name]
        files |= {place + name for name in names}
    cmake = repository / "cmake"
    files |= {f"lib/cmake/AivOps/{name}" for name in tree(cmake, ".cmake")}
    for source in (repository / "device/kernels").glob("*.asc"):
        files |= {f"kernels/emulated-{CPU}/{arch}/{source.stem}.o" for arch in ARCHITECTURES}
    return sorted(f"aivops/{name}" for name in files)


def test_every_file_and_no_other(aivops_wheel: Path, repository: Path) -> None:
    assert wheel_files(aivops_wheel) == expected_files(repository)


def test_tags(aivops_wheel: Path) -> None:
    assert aivops_wheel.name.endswith(f"-cp310-abi3-linux_{CPU}.whl")


def test_nothing_twice(aivops_wheel: Path) -> None:
    assert duplicate_contents(aivops_wheel) == []


def test_libraries_need_the_system_only(aivops_wheel: Path) -> None:
    entries = dynamic_entries(aivops_wheel)
    own = {Path(name).name for name in entries}
    assert "aivops/_core.abi3.so" in entries
    for name, entry in entries.items():
        assert set(entry.needed) <= SYSTEM_LIBRARIES | own, name
        assert all(path.startswith("$ORIGIN") for path in entry.search_paths), name


def test_manifest_is_true(aivops_wheel: Path) -> None:
    with zipfile.ZipFile(aivops_wheel) as archive:
        manifest = json.loads(archive.read("aivops/kernels/manifest.json"))
        listed = set()
        for binary in manifest["binaries"]:
            path = Path(binary["path"])
            assert not path.is_absolute()
            assert ".." not in path.parts
            content = archive.read(f"aivops/kernels/{path}")
            assert len(content) == binary["size"]
            assert sha256(content).hexdigest() == binary["sha256"]
            listed.add(f"aivops/kernels/{path}")
        assert listed == {
            name for name in archive.namelist() if name.startswith("aivops/kernels/") and name.endswith(".o")
        }


def test_no_place_of_the_build_is_inside(aivops_wheel: Path, repository: Path) -> None:
    with zipfile.ZipFile(aivops_wheel) as archive:
        for name in archive.namelist():
            assert str(repository).encode() not in archive.read(name), name


def test_demo_in_a_fresh_environment(user_environment: FreshEnvironment) -> None:
    output = user_environment.run("aivops", "demo")
    assert "bfloat16" in output


def test_installed_kernels_verify(user_environment: FreshEnvironment) -> None:
    kernels = user_environment.python(
        "from importlib.resources import files; print(files('aivops') / 'kernels')"
    )
    report = json.loads(user_environment.run("aivops", "verify", "--format", "json", kernels.strip()))
    assert report["summary"]["errors"] == 0
    assert report["summary"]["kernels"] > 0


def test_the_wheel_itself_verifies(user_environment: FreshEnvironment, aivops_wheel: Path) -> None:
    """Without unpacking it; and what the verifier reads is what the manifest says."""
    report = json.loads(
        user_environment.run("aivops", "verify", "--profile", "aiv", "--format", "json", aivops_wheel)
    )
    assert (report["summary"]["errors"], report["summary"]["warnings"]) == (0, 0)
    with zipfile.ZipFile(aivops_wheel) as archive:
        manifest = json.loads(archive.read("aivops/kernels/manifest.json"))
    expected = {
        f"{aivops_wheel}/aivops/kernels/{binary['path']}": (
            binary["machine"],
            binary["architecture"],
            {(kernel["name"], kernel["type"], kernel["args_size"]) for kernel in binary["kernels"]},
        )
        for binary in manifest["binaries"]
    }
    found = {
        file["path"]: (
            file["machine"],
            file["architecture"],
            {(kernel["name"], kernel["type"], kernel["args_size"]) for kernel in file["kernels"]},
        )
        for file in report["files"]
        if file["path"].endswith(".o")
    }
    assert found == expected
    assert report["summary"]["kernels"] == sum(len(kernels) for _, _, kernels in expected.values())


def test_import_loads_nothing(user_environment: FreshEnvironment) -> None:
    output = user_environment.python(
        "import sys, aivops; print(sorted(n for n in sys.modules if n.startswith(('aivops', 'numpy', 'nanobind'))))"
    )
    assert output.strip() == "['aivops']"
