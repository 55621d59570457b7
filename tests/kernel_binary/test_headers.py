"""The header-only part: SHA-256, JSON, manifests and summaries, against Python's own; and the contract's records."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernel_binary.builder import ascend, contract, emulated, layout

Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def headers(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Compiles the headers as the host library's users do, with every warning on."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    program = tmp_path_factory.mktemp("headers") / "headers"
    include = repository / "host" / "kernel_binary" / "include"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    paths = ["-I", include, "-I", repository / "host" / "emulator" / "contract"]
    source = repository / "tests" / "kernel_binary" / "headers.cpp"
    made = subprocess.run(
        [compiler, *flags, *paths, source, "-o", program], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr

    def run(*words: str | Path, data: bytes = b"") -> tuple[int, str]:
        done = subprocess.run([program, *words], input=data, capture_output=True, check=False)
        assert not done.stderr
        return done.returncode, done.stdout.decode()

    return run


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000])
def test_sha256(headers: Run, size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert headers("sha256", data=data) == (0, hashlib.sha256(data).hexdigest() + "\n")


def lines(value: Any) -> Iterator[str]:
    """What headers.cpp prints for a value that Python's json has read."""
    if value is None or isinstance(value, bool):
        yield json.dumps(value)
    elif isinstance(value, int):
        yield f"integer {value}" if 0 <= value < 2**64 else f"number {value}"
    elif isinstance(value, float):
        yield "number"
    elif isinstance(value, str):
        yield f"string {digest(value)}"
    elif isinstance(value, list):
        yield f"array {len(value)}"
        for item in value:
            yield from lines(item)
    else:
        yield f"object {len(value)}"
        for key, item in value.items():
            yield f"key {digest(key)}"
            yield from lines(item)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "null",
        " [ ] ",
        "{}",
        '{"a": [true, false, null, 0, 18446744073709551615, -1], "": {"b": "c"}}',
        r'"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u0000"',
        '"é😀"',
        "[18446744073709551616, -0]",
        "[" * 60 + "]" * 60,
    ],
)
def test_json(headers: Run, text: str) -> None:
    expected = "".join(f"{line}\n" for line in lines(json.loads(text)))
    status, shown = headers("json", data=text.encode())
    assert status == 0
    assert shown.replace("number -0", "integer 0") == expected


@pytest.mark.parametrize("number", ["1.5", "-2.25e10", "1E-3", "0.0", "1e+2"])
def test_json_numbers(headers: Run, number: str) -> None:
    status, shown = headers("json", data=number.encode())
    assert (status, math.isclose(float(shown.removeprefix("number ")), json.loads(number))) == (0, True)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[1,]",
        b"{,}",
        b'{"a" 1}',
        b"01",
        b"1.",
        b"+1",
        b".5",
        b"1e",
        b"nul",
        b"tru",
        b"'a'",
        b'"\x01"',
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xed\xa0\x80"',
        rb'"\ud800"',
        rb'"\ud800\u0041"',
        rb'"\udc00"',
        rb'"\u12"',
        rb'"\x"',
        b'"a',
        b'"\\',
        b"[1] 2",
        b"NaN",
        b"\xef\xbb\xbf1",
        b'{"a": 1, "a": 2}',
        b"[" * 100,
    ],
)
def test_json_that_is_none(headers: Run, text: bytes) -> None:
    status, shown = headers("json", data=text)
    assert status == 1
    assert shown.startswith("error: line 1, column ")


def test_summary(headers: Run) -> None:
    assert headers("summary", data=ascend().build()) == (0, "ascend dav-c220-vec 0 \n")
    expected = "emulated-x86_64 dav-c220-vec 1 0.1.0\ncopy_0 12 x:pointer:8@0 count:uint:4@8\n"
    assert headers("summary", data=emulated().build()) == (0, expected)
    assert headers("summary", data=emulated(machine=183).build())[1].startswith("emulated-aarch64 ")
    bad_layout, bad_contract = emulated(), emulated()
    bad_layout.section(".aivops.layout.copy_0").data = layout(("x", 0, 8, 1), args_size=4)
    bad_contract.section(".aivops.contract").data = contract() + contract(3510)
    for data, words in [
        (b"", "not a complete 64-bit little-endian ELF"),
        (ascend().build()[:-1], "not a complete 64-bit little-endian ELF"),
        (Path("/bin/sh").read_bytes(), "without a contract record is no kernel binary"),
        (bad_layout.build(), "section .aivops.layout.copy_0 cannot be used: parameter 0 overlaps"),
        (bad_contract.build(), "its .aivops.contract section cannot be used"),
    ]:
        status, shown = headers("summary", data=data)
        assert status == 1
        assert words in shown


def write_manifest(folder: Path, data: bytes, **values: Any) -> Path:
    """A manifest of one binary of 1 000 bytes, with these values instead of right ones."""
    entry = {
        "path": "a/set.o",
        "target": "set",
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "machine": "ascend",
        "architecture": "dav-c220-vec",
        "toolkit": {"name": "CANN", "version": "9"},
        "kernels": [],
        **values,
    }
    path = folder / "manifest.json"
    generator = {"name": "aivops", "version": "0.1.0"}
    path.write_text(json.dumps({"schema": 1, "generator": generator, "binaries": [entry]}))
    return path


def test_manifest(headers: Run, tmp_path: Path) -> None:
    data = random.Random(1).randbytes(1000)
    (tmp_path / "kernels" / "a").mkdir(parents=True)
    (tmp_path / "kernels" / "a" / "set.o").write_bytes(data)
    (tmp_path / "outside.o").write_bytes(data)
    (tmp_path / "kernels" / "link.o").symlink_to(tmp_path / "outside.o")
    folder = tmp_path / "kernels"
    assert headers("manifest", write_manifest(folder, data)) == (0, "a/set.o 1000\n")
    assert headers("manifest", write_manifest(folder, data, path="a\u00e9/x.o"))[0] == 1
    for values, words in [
        ({"sha256": "0" * 64}, "expected sha256 0000"),
        ({"size": 999}, "has 1000 bytes, more than the 999 expected here"),
        ({"size": 1001}, "over 1001 bytes, found"),
        ({"path": "../outside.o"}, "must be relative and stay inside"),
        ({"path": str(tmp_path / "outside.o")}, "must be relative and stay inside"),
        ({"path": "a/./set.o"}, "must be relative and stay inside"),
        ({"path": "a\\set.o"}, "must be relative and stay inside"),
        ({"path": "a//set.o"}, "must be relative and stay inside"),
        ({"path": ""}, "must be relative and stay inside"),
        ({"path": "link.o"}, "leaves the manifest's folder through a link"),
        ({"path": "missing.o"}, "names missing.o, which cannot be read"),
        ({"sha256": "ABC"}, "64 lower-case hexadecimal digits"),
        ({"size": -1}, "needs binaries[0].size to be a whole number"),
        ({"kernels": {}}, "needs binaries[0].kernels to be an array"),
        ({"toolkit": None}, "needs binaries[0].toolkit to be an object"),
    ]:
        status, shown = headers("manifest", write_manifest(folder, data, **values))
        assert (status, words in shown) == (1, True), (values, shown)
    assert "cannot be read" in headers("manifest", tmp_path / "missing.json")[1]
    (folder / "manifest.json").write_text('{"schema": 2}')
    assert "has schema 2, this version of AivOps reads 1" in headers("manifest", folder / "manifest.json")[1]
