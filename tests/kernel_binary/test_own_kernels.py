"""The kernels of the project itself: clean, as readers of others see them, and as their manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import aivops
import pytest
from aivops._core import KernelBinary
from elftools.elf.elffile import ELFFile

from kernel_binary.test_corpus import global_functions


@pytest.fixture(scope="module")
def kernels() -> Path:
    folder = Path(aivops.__file__).parent / "kernels"
    if not (folder / "manifest.json").is_file():
        pytest.skip("this aivops is installed without kernels")
    return folder


def test_they_are_clean_and_their_figures_are_the_manifests(kernels: Path) -> None:
    report = aivops.verify(kernels, profile="aiv")
    assert not report.reaches("warning")
    binaries = json.loads((kernels / "manifest.json").read_text())["binaries"]
    assert binaries
    files = {file.path.removeprefix(f"{kernels}/"): file for file in report.files}
    for binary in binaries:
        file = files[binary["path"]]
        assert (file.machine, file.architecture) == (binary["machine"], binary["architecture"])
        assert [(k.name, k.type, k.args_size) for k in file.kernels] == [
            (k["name"], k["type"], k["args_size"]) for k in binary["kernels"]
        ]
        data = (kernels / binary["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (binary["sha256"], binary["size"])


def test_pyelftools_sees_the_same(kernels: Path) -> None:
    for path in kernels.rglob("*.o"):
        page = json.loads(KernelBinary.open(path).inspect("x"))
        with path.open("rb") as file:
            elf = ELFFile(file)
            sections = [(s.name, s["sh_offset"], s["sh_size"]) for s in elf.iter_sections()]
            functions = sorted(f for f in global_functions(elf) if f[2] > 0)
            records = {
                section.name.removeprefix(".ascend.meta."): section.data()
                for section in elf.iter_sections()
                if section.name.startswith(".ascend.meta.")
            }
        assert [(s["name"], s["offset"], s["size"]) for s in page["sections"]] == sections
        assert sorted((k["name"], k["offset"], k["size"]) for k in page["kernels"]) == functions
        assert set(records) == {kernel["name"] for kernel in page["kernels"]}
        assert set(records.values()) == {bytes.fromhex("0100040003000000")}
