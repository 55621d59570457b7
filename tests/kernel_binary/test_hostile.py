"""Files that no linker writes: damaged anywhere, and large in every way that an ELF can be. Time stays linear and memory
bounded, and there is always a verdict."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aivops._core import KernelBinary
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_binary.builder import (
    NOTE,
    OBJECT,
    Elf,
    Section,
    Symbol,
    ascend,
    dfx,
    emulated,
    layout,
    meta,
    word,
)

Check = Callable[..., dict[str, Any]]


def verdict(data: bytes) -> list[str]:
    binary = KernelBinary.from_bytes(data)
    entry = json.loads(binary.verify("x", profile="aiv", architecture="dav-c220-vec"))
    assert json.loads(binary.inspect("x"))["path"] == "x"
    json.loads(binary.check_embedding())
    for _, part in binary.embedded():
        json.loads(part.verify("x"))
    binary.add_vector_records()
    return [finding["rule"] for finding in entry["findings"]]


@pytest.mark.parametrize("elf", [ascend("copy_0", "copy_1"), emulated()], ids=["ascend", "emulated"])
def test_every_truncation_has_a_verdict(elf: Elf) -> None:
    data = elf.build()
    for size in range(len(data)):
        assert verdict(data[:size])


@pytest.mark.parametrize("elf", [ascend("copy_0", "copy_1"), emulated()], ids=["ascend", "emulated"])
def test_every_byte_may_be_anything(elf: Elf) -> None:
    data = elf.build()
    for offset in range(len(data)):
        for value in (0x00, 0x7F, 0xFF):
            verdict(data[:offset] + bytes([value]) + data[offset + 1 :])


GOOD = ascend("copy_0", "copy_1").build()
FIELDS = st.tuples(
    st.integers(0, len(GOOD) // 4 - 1),
    st.sampled_from([0, 1, 2, 0x7FFFFFFF, 0xFFFFFFFF, 0x1000, 0xFFFC, len(GOOD)]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(FIELDS, min_size=1, max_size=6))
def test_several_fields_at_once(changes: list[tuple[int, int]]) -> None:
    data = bytearray(GOOD)
    for index, value in changes:
        struct.pack_into("<I", data, index * 4, value)
    verdict(bytes(data))


def many_sections(count: int) -> bytes:
    """As many meta sections as an ELF can count, each of a kernel that is not there."""
    elf = ascend()
    elf.sections += [meta(f"k{number}", word(1, 3) + dfx(2)) for number in range(count)]
    return elf.build()


def overlapping_sections(count: int) -> bytes:
    """Meta sections that all claim the same 60 000 bytes of records."""
    elf = ascend()
    elf.sections.append(Section(".note.x", NOTE, data=word(13, 1) * 7500))
    place = elf.build().index(word(13, 1) * 7500)
    claim = {"sh_offset": place, "sh_size": 60000}
    elf.sections += [Section(f".ascend.meta.k{number}", NOTE, header=claim) for number in range(count)]
    return elf.build()


def names_that_never_end(count: int) -> bytes:
    """Kernels whose names all run through one string of the file's size."""
    elf = ascend()
    elf.symbols += [Symbol("x", value=0, size=4, name_offset=number + 1) for number in range(count)]
    elf.symbols.append(Symbol("y" * 40 * count, type=OBJECT, section=".data"))
    return elf.build()


def one_name(count: int) -> bytes:
    """Kernels that all have one name, and so one section."""
    elf = ascend()
    elf.section(".ascend.meta.copy_0").data += word(13, 1) * 8000
    elf.symbols += [Symbol("x", value=0, size=4, name_offset=1) for _ in range(count)]
    return elf.build()


def one_layout(count: int) -> bytes:
    """Emulated kernels that all have one name, and so one layout, which is long."""
    elf = emulated()
    parameters = [("x", 8 * number, 8, 1) for number in range(500)]
    elf.section(".aivops.layout.copy_0").data = layout(*parameters, args_size=4000)
    elf.symbols += [Symbol("x", value=0, size=4, name_offset=1) for _ in range(count)]
    return elf.build()


def many_kernels(count: int) -> bytes:
    elf = ascend()
    elf.symbols += [Symbol(f"kernel_{number}", value=0, size=4) for number in range(count)]
    return elf.build()


def many_records(count: int) -> bytes:
    elf = ascend()
    elf.sections.append(Section(".ascend.meta", NOTE, data=bytes(8 * count)))
    return elf.build()


def many_embedded(count: int) -> bytes:
    elf = ascend()
    elf.sections.append(Section(".ascend.kernel.x.y", data=struct.pack("<II", 1, count) + bytes(12 * count)))
    return elf.build()


def embedded_in_each_other(count: int) -> bytes:
    """ELF headers one behind the other, each of which says that its image is the whole rest."""
    head = bytearray(GOOD[:64])
    struct.pack_into("<Q", head, 40, 0)
    struct.pack_into("<H", head, 60, 1)
    elf = ascend()
    elf.sections.append(Section(".aicore_binary", data=bytes(head) * count))
    return elf.build()


def overlapping_layouts(count: int) -> bytes:
    elf = emulated()
    place = elf.build().index(b"AIVARGS")
    claim = {"sh_offset": place, "sh_size": 24 + 64 * 2}
    elf.sections += [Section(f".aivops.layout.k{number}", header=claim) for number in range(count)]
    return elf.build()


HOSTILE = [
    (many_sections, 16000),
    (overlapping_sections, 16000),
    (names_that_never_end, 8000),
    (one_name, 20000),
    (one_layout, 10000),
    (many_kernels, 20000),
    (many_records, 40000),
    (many_embedded, 8000),
    (embedded_in_each_other, 8000),
    (overlapping_layouts, 16000),
]


def seconds(data: bytes) -> float:
    started = time.process_time()
    verdict(data)
    return time.process_time() - started


@pytest.mark.parametrize(("make", "count"), HOSTILE, ids=[make.__name__ for make, _ in HOSTILE])
def test_time_is_linear(make: Callable[[int], bytes], count: int) -> None:
    """Four times as much takes about four times as long; a quadratic reader would take sixteen times."""
    small, large = make(count // 4), make(count)
    times = [(seconds(small), seconds(large)) for _ in range(3)]
    assert min(after / max(before, 0.001) for before, after in times) < 10
    assert min(after for _, after in times) < 5


def test_65535_sections_and_offsets_of_4_gib(check: Check) -> None:
    assert "META051" in {finding["rule"] for finding in check(many_sections(65500))["findings"]}
    elf = ascend()
    elf.sections.append(Section(".note.x", NOTE, header={"sh_offset": 2**32, "sh_size": 8}))
    assert [finding["rule"] for finding in check(elf.build())["findings"]] == ["META010"]


def test_findings_are_bounded(check: Check) -> None:
    found = check(many_sections(20000))["findings"]
    of_rule = [finding for finding in found if finding["rule"] == "META051"]
    assert len(of_rule) == 65
    assert of_rule[-1]["message"] == "the file has 19936 more findings of META051"


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A process of its own, so that its peak is its own: no more than some times the file."""
    for number, (make, count) in enumerate(HOSTILE):
        path = tmp_path / f"{number}.o"
        path.write_bytes(make(count))
    code = (
        "import sys, re; from pathlib import Path; from aivops._core import KernelBinary\n"
        "for path in sys.argv[1:]: b = KernelBinary.open(path); b.verify('x'); b.inspect('x')\n"
        # not ru_maxrss: that starts from the peak of the process that started this one
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])"
    )
    files = sorted(map(str, tmp_path.glob("*.o")))
    run = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    largest = max(Path(file).stat().st_size for file in files)
    assert int(run.stdout) * 1024 < 64 * largest + (100 << 20)
