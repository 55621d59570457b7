"""Binaries and kernel sets that fit, and those that are refused before they reach the runtime."""

import hashlib
import json
import platform
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aivops
import pytest
from aivops import _core

E_MACHINE = 18  # offsets in an ELF header
E_FLAGS = 48
MACHINE_ASCEND = 0x1029


def test_what_a_binary_says_of_itself(
    binary: aivops.Binary, kernels_path: Path, emulated_machine: str
) -> None:
    assert binary.origin == str(kernels_path)
    assert binary.sha256 == hashlib.sha256(kernels_path.read_bytes()).hexdigest()
    assert (binary.machine, binary.architecture) == (emulated_machine, "dav-c220-vec")
    expected = {"echo", "store", "report_blocks", "wait_for", "nothing", "wide", "untyped"}
    assert expected == set(binary.kernel_names)
    assert binary.get_kernel("store").type == "K_TYPE_AIV"


def test_bytes_are_as_good_as_a_path(kernels_path: Path) -> None:
    loaded = aivops.Binary(kernels_path.read_bytes())
    assert loaded.origin == "<bytes>"
    assert loaded.get_kernel("store").args_size == 16


def test_an_unknown_kernel(binary: aivops.Binary) -> None:
    with pytest.raises(
        aivops.InvalidValueError, match=r"has no kernel stor \(did you mean store\?\); it has .*store"
    ):
        binary.get_kernel("stor")


def test_a_hash_that_does_not_match(kernels_path: Path) -> None:
    digest = hashlib.sha256(kernels_path.read_bytes()).hexdigest()
    assert aivops.Binary(kernels_path, sha256=digest).sha256 == digest
    with pytest.raises(aivops.BinaryError, match=f"expected sha256 {'0' * 64}, found {digest}"):
        aivops.Binary(kernels_path, sha256="0" * 64)


def test_another_architecture(binaries: dict[str, Path]) -> None:
    with pytest.raises(
        aivops.BinaryError, match="is for architecture dav-c310-vec, but Ascend910B1 has dav-c220-vec"
    ):
        aivops.Binary(binaries["dav-c310-vec"])


def test_another_machine(kernels_path: Path, emulated_machine: str) -> None:
    image = bytearray(kernels_path.read_bytes())
    struct.pack_into("<H", image, E_MACHINE, MACHINE_ASCEND)
    struct.pack_into("<I", image, E_FLAGS, 0x930000)
    with pytest.raises(
        aivops.BinaryError,
        match=f"is for machine ascend, but Toolkit aivops-emulator .* runs {emulated_machine}",
    ):
        aivops.Binary(bytes(image))


@pytest.mark.parametrize("kept", [0, 3, 63, 64, 1000])
def test_a_truncated_binary(kernels_path: Path, kept: int) -> None:
    with pytest.raises(aivops.BinaryError, match="not a complete 64-bit little-endian ELF"):
        aivops.Binary(kernels_path.read_bytes()[:kept])


@pytest.mark.parametrize("image", [b"PK\x03\x04" + bytes(100), b"#!/bin/sh\n" * 20])
def test_a_foreign_file(image: bytes) -> None:
    with pytest.raises(aivops.BinaryError, match="not a complete 64-bit little-endian ELF"):
        aivops.Binary(image)


def test_a_host_library_is_no_kernel_binary() -> None:
    with pytest.raises(aivops.BinaryError, match="without a contract record is no kernel binary"):
        aivops.Binary(Path(_core.__file__))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(aivops.BinaryError, match=r"no\.o: cannot be read \(No such file or directory\)"):
        aivops.Binary(tmp_path / "no.o")


MakeSet = Callable[..., Path]


@pytest.fixture
def make_set(tmp_path: Path, kernels_path: Path, emulated_machine: str) -> MakeSet:
    """A folder of kernels with a manifest; keywords change its only entry."""

    def make(**changes: Any) -> Path:
        image = kernels_path.read_bytes()
        shutil.copy(kernels_path, tmp_path / "kernels.o")
        parameters = [
            {"name": "to", "offset": 0, "size": 8, "kind": "pointer"},
            {"name": "value", "offset": 8, "size": 4, "kind": "int"},
        ]
        entry = {
            "path": "kernels.o",
            "target": "kernels",
            "sha256": hashlib.sha256(image).hexdigest(),
            "size": len(image),
            "machine": emulated_machine,
            "architecture": "dav-c220-vec",
            "toolkit": {"name": "aivops-emulator", "version": "0.1.0"},
            "kernels": [{"name": "store", "type": "K_TYPE_AIV", "args_size": 16, "parameters": parameters}],
            **changes,
        }
        document = {"schema": 1, "generator": {"name": "aivops", "version": "0.1.0"}, "binaries": [entry]}
        (tmp_path / "manifest.json").write_text(json.dumps(document))
        return tmp_path

    return make


def open_set(device: aivops.Device, folder: Path) -> _core.KernelSet:
    return _core.KernelSet.open(device.toolkit, folder)


def test_a_kernel_in_two_binaries(device: aivops.Device, make_set: MakeSet) -> None:
    folder = make_set()
    manifest = folder / "manifest.json"
    document = json.loads(manifest.read_text())
    document["binaries"].append(document["binaries"][0] | {"path": "again.o"})
    manifest.write_text(json.dumps(document))
    with pytest.raises(
        aivops.BinaryError,
        match=r"kernel store is in two binaries, kernels\.o and again\.o; rename one of them",
    ):
        open_set(device, folder)


def test_a_kernel_set(device: aivops.Device, stream: aivops.Stream, make_set: MakeSet) -> None:
    kernels = open_set(device, make_set())
    assert kernels.kernel_names == ["store"]
    target = aivops.Buffer(device, 1, "int32")
    kernels.get_kernel("store").launch(stream, target, 9)
    stream.synchronize()
    assert target.to_numpy()[0] == 9
    with pytest.raises(
        aivops.InvalidValueError, match=r"have no kernel echo for emulated-.*; they have store$"
    ):
        kernels.get_kernel("echo")
    with pytest.raises(aivops.InvalidValueError, match=r"have no kernel stoer .*\(did you mean store\?\)"):
        kernels.get_kernel("stoer")


def test_kernels_that_resemble_the_wrong_name_come_first() -> None:
    kernels = aivops.load_kernels("aivops")
    with pytest.raises(aivops.InvalidValueError) as raised:
        kernels.get_kernel("all_gather_float")
    shown, rest = str(raised.value).partition("; they have ")[2].split(" and ")
    assert shown.split(", ")[0] == "aiv_all_gather_float"
    assert [name for name in shown.split(", ") if name in kernels.kernel_names] == shown.split(", ")
    assert rest == f"{len(kernels.kernel_names) - 12} more"


def test_a_folder_of_kernels(device: aivops.Device, make_set: MakeSet) -> None:
    assert aivops.load_kernels(make_set()).kernel_names == ["store"]
    with pytest.raises(aivops.InvalidTypeError, match="a list, expected the name of a package or the path"):
        aivops.load_kernels(["store"])  # type: ignore[arg-type]


def test_an_ascend_kernel_is_asked_of_a_set_without_any(device: aivops.Device, make_set: MakeSet) -> None:
    """The other way round is what one machine can show: the toolkit's machine is not in the set."""
    folder = make_set(machine="ascend")
    with pytest.raises(aivops.BinaryError) as caught:
        open_set(device, folder)
    text = str(caught.value)
    assert text.startswith(
        f"Kernels at {folder}: have no kernel for emulated-{platform.machine()} (dav-c220-vec)"
    )
    assert "they have ascend (dav-c220-vec)" in text
    assert "pip install --no-binary" in text


def test_a_manifest_whose_hash_does_not_match(device: aivops.Device, make_set: MakeSet) -> None:
    kernels = open_set(device, make_set(sha256="0" * 64))
    with pytest.raises(
        aivops.BinaryError, match=f"expected sha256 {'0' * 64} over .* reinstall or rebuild the kernels"
    ):
        kernels.get_kernel("store")


@pytest.mark.parametrize("path", ["../kernels.o", "/etc/passwd", "a/../../kernels.o", ".", ""])
def test_a_path_that_leaves_the_folder(device: aivops.Device, make_set: MakeSet, path: str) -> None:
    with pytest.raises(aivops.BinaryError, match="a path must be relative and stay inside the folder"):
        open_set(device, make_set(path=path))


def test_a_link_that_leaves_the_folder(
    device: aivops.Device, make_set: MakeSet, kernels_path: Path, tmp_path: Path
) -> None:
    folder = make_set(path="link.o")
    (folder / "link.o").symlink_to(kernels_path)
    with pytest.raises(aivops.BinaryError, match="leaves the manifest's folder through a link"):
        open_set(device, folder).get_kernel("store")


def test_a_manifest_that_names_a_missing_file(device: aivops.Device, make_set: MakeSet) -> None:
    with pytest.raises(aivops.BinaryError, match=r"names gone\.o, which cannot be read"):
        open_set(device, make_set(path="gone.o")).get_kernel("store")


def test_no_manifest(device: aivops.Device, tmp_path: Path) -> None:
    with pytest.raises(aivops.BinaryError, match=r"manifest\.json: cannot be read"):
        open_set(device, tmp_path)


def test_a_package_without_kernels() -> None:
    with pytest.raises(
        aivops.BinaryError, match=r"load_kernels\('no_such_package'\): no distribution registers kernels"
    ):
        aivops.load_kernels("no_such_package")
