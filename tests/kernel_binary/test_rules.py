"""Every rule of the table: a binary that fires it and nothing else, and one just beside it that does not."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aivops import _core

from kernel_binary.builder import (
    ALLOC,
    C220_VECTOR,
    C310_VECTOR,
    DYNSYM,
    ET_DYN,
    ET_REL,
    EXEC,
    LOCAL,
    NOBITS,
    NOTE,
    NOTYPE,
    OBJECT,
    RELA,
    SYMTAB,
    VERSYM,
    WRITE,
    Elf,
    Section,
    Symbol,
    ascend,
    contract,
    dfx,
    emulated,
    layout,
    meta,
    parameter,
    record,
    summary,
    word,
)

Binary = Elf | bytes


@dataclass
class Case:
    rule: str
    severity: str
    fires: Binary
    near_miss: Binary
    options: dict[str, Any] = field(default_factory=dict)
    near_options: dict[str, Any] | None = None
    also: frozenset[str] = frozenset()  # rules that cannot be told apart from this one


def build(binary: Binary) -> bytes:
    return binary if isinstance(binary, bytes) else binary.build()


def good(change: Callable[[Elf], Any], *kernels: str, flags: int = C220_VECTOR) -> Elf:
    elf = ascend(*kernels, flags=flags)
    change(elf)
    return elf


def good_emulated(change: Callable[[Elf], Any]) -> Elf:
    elf = emulated()
    change(elf)
    return elf


def with_section(*sections: Section) -> Elf:
    return good(lambda elf: elf.sections.extend(sections))


def with_symbol(*symbols: Symbol) -> Elf:
    return good(lambda elf: elf.symbols.extend(symbols))


def with_records(records: bytes, kernel: str = "copy_0", flags: int = C220_VECTOR) -> Elf:
    """One kernel whose meta section holds exactly these records."""

    def change(elf: Elf) -> None:
        elf.section(f".ascend.meta.{kernel}").data = records

    return good(change, kernel, flags=flags)


def with_more(records: bytes, kernel: str = "copy_0", flags: int = C220_VECTOR) -> Elf:
    """One good kernel with more records behind its own."""
    own = word(1, 3) + (word(12, 1) if flags == C310_VECTOR else b"") + dfx(2)
    return with_records(own + records, kernel, flags)


def patched(**fields: int) -> Elf:
    return good(lambda elf: elf.patch.update(fields))


def headed(name: str, **fields: int) -> Elf:
    return good(lambda elf: elf.section(name).header.update(fields))


def note(**fields: int) -> Elf:
    """A good binary with one more section that means nothing, and these fields in its header."""
    return with_section(Section(".note.x", NOTE, data=bytes(8), header=fields))


def moved_text(address: int) -> Elf:
    def change(elf: Elf) -> None:
        elf.section(".text").header["sh_addr"] = address
        elf.section(".data").header["sh_addr"] = address + 64
        elf.symbol("copy_0").value = address

    return good(change)


def without_section(name: str) -> Elf:
    return good(lambda elf: elf.drop(name))


def symbol_with(**fields: Any) -> Elf:
    return good(lambda elf: elf.symbol("copy_0").__dict__.update(fields))


def mixed(*pairs: tuple[str, int]) -> Elf:
    """Kernels of these names and types."""

    def change(elf: Elf) -> None:
        for name, kind in pairs:
            elf.section(f".ascend.meta.{name}").data = word(1, kind) + dfx(2)

    return good(change, *(name for name, _ in pairs))


def ratio(cube: int, vector: int) -> bytes:
    return record(3, struct.pack("<HH", cube, vector))


def entry(flag: int, value: int, reserved: int = 0) -> bytes:
    return record(14, struct.pack("<BBHQ", flag, 0, reserved, value))


def binary_meta(records: bytes, *symbols: Symbol) -> Elf:
    def change(elf: Elf) -> None:
        elf.sections.append(Section(".ascend.meta", NOTE, 0, records))
        elf.symbols.extend(symbols)

    return good(change)


def stack(*sizes: int, tail: bytes = b"") -> Elf:
    data = struct.pack(f"<{len(sizes)}Q", *sizes) + tail
    return good(lambda elf: elf.section(".ascend.stack.size.record").__dict__.update(data=data))


def unlinked() -> Elf:
    return good(lambda elf: elf.__dict__.update(type=ET_REL))


def no_load() -> Elf:
    def change(elf: Elf) -> None:
        elf.drop(".data")
        elf.section(".text").flags = EXEC

    return good(change)


def no_kernel() -> Elf:
    def change(elf: Elf) -> None:
        elf.symbol("copy_0").binding = LOCAL
        elf.drop(".ascend.meta.copy_0")

    return good(change)


def long_name(length: int, with_meta: bool) -> Elf:
    name = "k" * length

    def change(elf: Elf) -> None:
        if not with_meta:
            elf.drop(f".ascend.meta.{name}")

    return good(change, name)


def imports(version: int) -> Elf:
    """An emulated binary that takes `helper` from a library, with this version index."""
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0, 0, 0, 0)

    def change(elf: Elf) -> None:
        elf.sections.append(Section(".dynstr", 3, ALLOC, b"\0helper\0", 1))
        elf.sections.append(Section(".dynsym", DYNSYM, ALLOC, bytes(24) + symbol, 8, 24, ".dynstr"))
        elf.sections.append(Section(".gnu.version", VERSYM, ALLOC, struct.pack("<HH", 0, version), 2))

    return good_emulated(change)


def contract_of(data: bytes) -> Elf:
    return good_emulated(lambda elf: elf.section(".aivops.contract").__dict__.update(data=data))


def layout_of(data: bytes) -> Elf:
    return good_emulated(lambda elf: elf.section(".aivops.layout.copy_0").__dict__.update(data=data))


def argument_size(size: int) -> Elf:
    data = struct.pack("<I", size)
    return good(lambda elf: elf.section("__CCE_KernelArgSize").__dict__.update(data=data))


def drop_symbol(name: str) -> Elf:
    return good(
        lambda elf: elf.__dict__.update(symbols=[symbol for symbol in elf.symbols if symbol.name != name])
    )


def unterminated_names(elf_bytes: bytes) -> bytes:
    image = bytearray(elf_bytes)
    end = image.rindex(b".shstrtab\0") + len(b".shstrtab")
    image[end] = ord("x")
    return bytes(image)


GOOD = ascend()
TWO = ascend("copy_0", "copy_1")
FILLER = word(13, 1)

CASES = [
    Case("META001", "error", b"ELF\x7f" + bytes(100), b"\x7fELF\x02\x01" + bytes(58)),
    Case("META001", "error", GOOD.build()[:63], GOOD.build()[:64]),
    Case("META002", "error", patched(ei_class=1), GOOD),
    Case("META003", "error", patched(ei_data=2), GOOD),
    Case("META004", "error", patched(e_machine=0x1028), GOOD),
    Case("META004", "error", patched(e_machine=62), emulated()),
    Case("META004", "error", GOOD, GOOD, {"machine": "emulated-x86_64"}, {"machine": "ascend"}),
    Case("META004", "error", contract_of(contract(version=2)), contract_of(contract() * 2)),
    Case("META004", "error", contract_of(contract() + contract(3510)), contract_of(contract(3510))),
    Case("META004", "error", contract_of(contract()[:31]), emulated(machine=183)),
    Case("META005", "error", patched(e_type=ET_DYN), GOOD),
    Case("META005", "error", good_emulated(lambda elf: elf.patch.update(e_type=1)), emulated()),
    Case("META006", "warning", patched(e_version=2), patched(e_version=0x5A5A0203)),
    Case("META007", "error", GOOD, GOOD, {"architecture": "dav-c310-vec"}, {"architecture": "ascend910_93"}),
    Case("META007", "error", contract_of(contract(3510)), emulated(), {"architecture": "dav-2201"}),
    Case("META007", "warning", patched(e_flags=0x950000), patched(e_flags=0x940000)),
    Case("META007", "warning", contract_of(contract(9999)), contract_of(contract(3510))),
    Case("META008", "error", patched(e_shentsize=63), GOOD),
    Case("META008", "error", patched(e_shnum=0), GOOD),
    Case("META008", "error", GOOD.build()[:-1], GOOD),
    Case("META008", "error", patched(e_shoff=2**64 - 64), GOOD),
    Case("META009", "error", patched(e_shstrndx=0), GOOD),
    Case("META009", "error", patched(e_shstrndx=0xFFFF), GOOD),
    Case("META009", "error", patched(e_shstrndx=1), GOOD),
    Case("META010", "error", note(sh_size=2**40), note(sh_size=8)),
    Case("META010", "error", note(sh_offset=2**64 - 8), note(sh_type=NOBITS, sh_offset=2**64 - 8)),
    Case("META011", "error", note(sh_name=0xFFFF), note(sh_name=0)),
    Case("META011", "error", unterminated_names(GOOD.build()), GOOD),
    Case("META012", "error", note(sh_link=11), note(sh_link=10)),
    Case("META013", "error", good(lambda elf: elf.symtab_header.update(sh_type=1)), GOOD),
    Case("META014", "error", good(lambda elf: elf.symtab_header.update(sh_entsize=23)), GOOD),
    Case("META014", "error", good(lambda elf: elf.symtab_header.update(sh_size=71)), GOOD),
    Case("META014", "error", good(lambda elf: elf.symtab_header.update(sh_link=1)), GOOD),
    Case(
        "META014",
        "error",
        with_symbol(Symbol("x", ".data", 0, 8, OBJECT, LOCAL, name_offset=17)),
        with_symbol(Symbol("x", ".data", 0, 8, OBJECT, LOCAL, name_offset=16)),
    ),
    Case(
        "META015",
        "warning",
        good(lambda elf: elf.tail.append(Section(".s", SYMTAB, 0, bytes(24), 8, 24, ".strtab"))),
        good(lambda elf: elf.tail.append(Section(".s", DYNSYM, 0, bytes(24), 8, 24, ".strtab"))),
    ),
    Case("META016", "error", no_load(), GOOD),
    Case("META017", "error", moved_text(256), moved_text(0)),
    Case(
        "META017",
        "error",
        good_emulated(lambda elf: elf.__dict__.update(segments=[(0, 0, 2**20, 2**20)])),
        emulated(),
    ),
    Case("META017", "error", good_emulated(lambda elf: elf.patch.update(e_phnum=0)), emulated()),
    Case("META018", "error", headed(".data", sh_addr=128), headed(".data", sh_addr=64)),
    Case("META018", "info", unlinked(), GOOD, also=frozenset({"META005"})),
    Case(
        "META018",
        "error",
        good_emulated(lambda elf: elf.section(".aivops.contract").header.update(sh_addr=8)),
        emulated(),
    ),
    Case(
        "META019",
        "error",
        with_section(Section(".bss", NOBITS, ALLOC | WRITE, header={"sh_size": 16})),
        with_section(Section(".bl_uninit", NOBITS, 0, header={"sh_size": 16})),
    ),
    Case("META019", "error", headed(".data", sh_offset=64), GOOD),
    Case(
        "META020",
        "warning",
        good(lambda elf: elf.section(".data").__dict__.update(name=".mine")),
        good(lambda elf: elf.section(".data").__dict__.update(name=".mine", flags=ALLOC)),
    ),
    Case(
        "META021",
        "error",
        with_symbol(Symbol("x", 0, type=NOTYPE)),
        with_symbol(Symbol("x", ".data", type=NOTYPE)),
    ),
    Case("META021", "error", imports(1), imports(2)),
    Case(
        "META022",
        "info",
        with_section(Section(".rela.text", RELA, 0, bytes(24), 8, 24)),
        good_emulated(lambda elf: elf.sections.append(Section(".rela.dyn", RELA, ALLOC, bytes(24), 8, 24))),
    ),
    Case("META030", "error", no_kernel(), GOOD),
    Case("META030", "error", GOOD, TWO, {"kernels": ["copy_0", "copy_1"]}),
    Case("META030", "error", GOOD, GOOD, {"kernels": ["copy_0", "z*"]}, {"kernels": ["copy_0", "c*"]}),
    Case("META033", "error", symbol_with(size=65), symbol_with(size=64)),
    Case("META033", "error", symbol_with(value=68), symbol_with(value=60, size=4)),
    Case("META033", "warning", symbol_with(size=0), symbol_with(size=1)),
    Case("META034", "error", symbol_with(section=".data"), GOOD),
    Case("META034", "error", symbol_with(section=0xFFF1), GOOD),
    Case("META035", "error", symbol_with(value=2, size=4), symbol_with(value=4, size=4)),
    Case("META036", "warning", TWO, TWO, {"kernels": ["copy_0"]}, {"kernels": ["copy_?"]}),
    Case("META036", "error", TWO, GOOD, {"kernels": ["copy_0"], "profile": "aiv"}),
    Case("META037", "error", long_name(4096, False), long_name(4095, True)),
    Case("META037", "warning", ascend("a_mix_aiv_1"), ascend("a_1_mix_aiv")),
    Case("META038", "error", ascend("a_1", "a_1_mix_aiv"), mixed(("a_1_mix_aic", 4), ("a_1_mix_aiv", 4))),
    Case("META039", "info", ascend("a", "b"), ascend("a_1", "b_2")),
    Case("META039", "info", ascend("a_7", "b_7"), mixed(("a_7_mix_aic", 4), ("a_7_mix_aiv", 4))),
    Case("META050", "warning", without_section(".ascend.meta.copy_0"), GOOD),
    Case("META050", "error", without_section(".ascend.meta.copy_0"), GOOD, {"profile": "aiv"}),
    Case("META051", "warning", with_section(meta("other", word(1, 3) + dfx(2))), ascend("copy_0", "other_1")),
    Case(
        "META052",
        "error",
        with_section(Section("x.ascend.meta.copy_0", NOTE, 0, word(1, 3))),
        with_section(Section(".rela.ascend.meta.copy_0", RELA, 0, bytes(24), 8, 24)),
    ),
    Case("META053", "warning", with_section(meta("", word(1, 3))), GOOD),
    Case("META053", "warning", with_section(meta("k" * 4096, word(1, 3))), long_name(4095, True)),
    Case("META054", "error", with_section(meta("copy_0", word(1, 3) + dfx(2))), GOOD),
    Case(
        "META055",
        "error",
        headed(".ascend.meta.copy_0", sh_type=0x70000000),
        headed(".ascend.meta.copy_0", sh_type=1),
    ),
    Case("META056", "error", with_records(bytes(4)), with_records(word(1, 3))),
    Case(
        "META057", "error", with_more(struct.pack("<HHI", 8, 5, 0)), with_more(struct.pack("<HHI", 8, 4, 0))
    ),
    Case("META057", "warning", with_more(b"\0\1"), with_more(b"")),
    Case("META057", "info", with_more(bytes(4)), with_more(b"")),
    Case("META058", "error", with_more(record(8, bytes(8))), with_more(record(8, bytes(4)))),
    Case("META058", "error", with_more(record(14, bytes(8))), with_more(entry(0, 0))),
    Case("META059", "warning", with_records(dfx(2)), GOOD),
    Case("META059", "error", with_records(dfx(2)), GOOD, {"profile": "aiv"}),
    Case("META060", "error", with_records(word(1, 8) + dfx(2)), with_records(word(1, 7) + dfx(2))),
    Case("META060", "error", with_records(word(1, 0) + dfx(2)), GOOD, {"profile": "aiv"}),
    Case(
        "META061",
        "error",
        with_records(word(1, 2) + dfx(2)),
        with_records(word(1, 3) + dfx(2)),
        {"profile": "aiv"},
    ),
    Case(
        "META061",
        "error",
        with_records(word(1, 5) + ratio(0, 1) + dfx(2), "a_1_mix_aiv"),
        with_records(word(1, 5) + ratio(0, 1) + dfx(2), "a_1_mix_aiv"),
        {"profile": "aiv"},
        {"profile": "aiv", "allow_hard_sync": True},
    ),
    Case("META062", "error", with_records(word(1, 2) + word(1, 3) + dfx(2)), with_more(word(1, 3))),
    Case("META063", "warning", with_more(word(2, 1)), with_more(word(2, 0))),
    Case("META063", "error", with_more(word(2, 1)), GOOD, {"profile": "aiv"}),
    Case(
        "META063",
        "warning",
        with_records(word(1, 2) + word(2, 2) + dfx(2)),
        with_records(word(1, 2) + word(2, 1) + dfx(2)),
    ),
    Case("META064", "error", with_more(ratio(1, 2)), with_more(ratio(0, 1))),
    Case(
        "META064",
        "error",
        with_records(word(1, 4) + ratio(2, 2) + dfx(2), "a_1_mix_aic"),
        with_records(word(1, 4) + ratio(2, 1) + dfx(2), "a_1_mix_aic"),
    ),
    Case("META064", "error", with_more(ratio(1, 0)), with_more(ratio(0, 0))),
    Case("META065", "error", with_records(word(1, 4) + dfx(2)), mixed(("a_1_mix_aic", 4))),
    Case("META066", "error", with_records(word(1, 3) + record(4, bytes(3))), GOOD),
    Case("META066", "error", with_records(word(1, 3) + record(4, dfx(2)[4:-1])), GOOD),
    Case("META067", "info", with_records(word(1, 3)), GOOD),
    Case("META068", "error", with_more(entry(1, 0)), with_more(entry(0x80, 5))),
    Case("META068", "warning", with_more(entry(0, 5)), with_more(entry(0, 0))),
    Case("META068", "warning", with_more(entry(0, 0, reserved=1)), with_more(entry(0, 0))),
    Case("META069", "error", with_more(word(18, 2)), with_more(word(18, 1))),
    Case("META070", "warning", with_more(word(8, 32769)), with_more(word(8, 32768))),
    Case("META070", "error", with_more(word(8, 196609)), with_more(word(8, 32768))),
    Case(
        "META070",
        "error",
        with_more(word(8, 131073), flags=C310_VECTOR),
        with_more(word(8, 32768), flags=C310_VECTOR),
    ),
    Case(
        "META071",
        "error",
        with_more(summary(2, 16) + parameter(0, 0, 8)),
        with_more(summary(2, 16) + parameter(0, 0, 8) + parameter(1, 8, 8)),
    ),
    Case(
        "META071",
        "error",
        with_more(summary(2, 16) + parameter(0, 0, 8) + parameter(2, 8, 8)),
        with_more(summary(2, 16) + parameter(1, 8, 8) + parameter(0, 0, 8)),
    ),
    Case(
        "META071",
        "error",
        with_more(summary(2, 16) + parameter(0, 0, 8) + parameter(1, 9, 8)),
        with_more(summary(0, 0) + parameter(0, 0, 8) + parameter(1, 9, 8)),
    ),
    Case(
        "META071",
        "error",
        with_more(summary(2, 16) + parameter(0, 0, 8) + parameter(1, 7, 8)),
        with_more(parameter(0, 0, 8) + parameter(1, 7, 8)),
    ),
    Case("META072", "error", with_more(word(12, 5)), with_more(word(12, 4))),
    Case(
        "META072", "error", with_more(word(12, 2) + word(7, 262145)), with_more(word(12, 2) + word(7, 262144))
    ),
    Case(
        "META072", "error", with_more(word(12, 3) + word(7, 229377)), with_more(word(12, 3) + word(7, 229376))
    ),
    Case("META072", "warning", with_more(word(7, 8192)), with_more(word(7, 0))),
    Case(
        "META073",
        "warning",
        with_records(word(1, 3) + dfx(2), flags=C310_VECTOR),
        with_records(word(1, 2) + dfx(2), flags=C310_VECTOR),
    ),
    Case("META074", "warning", with_more(word(19, 0)), with_more(word(18, 0))),
    Case("META074", "warning", with_more(word(5, 0)), with_more(b"")),
    Case("META074", "info", with_more(bytes(4) + word(11, 0)), with_more(word(11, 0))),
    Case("META076", "error", with_more(FILLER * 8190), with_more(FILLER * 8180)),
    Case("META080", "warning", binary_meta(word(6, 0)), binary_meta(record(5, bytes(32)))),
    Case("META080", "warning", binary_meta(record(4, bytes(2)) + word(0, 1)), binary_meta(word(0, 1))),
    Case("META080", "warning", binary_meta(struct.pack("<HHI", 0, 5, 0)), binary_meta(word(0, 0))),
    Case("META081", "warning", binary_meta(word(4, 6)), binary_meta(word(4, 2))),
    Case(
        "META082",
        "warning",
        binary_meta(word(4, 3)),
        binary_meta(word(4, 3), Symbol("g_opL2CacheHintCfg", ".data", 0, 8, OBJECT)),
    ),
    Case(
        "META082",
        "warning",
        binary_meta(word(0, 1), Symbol("g_sysFftsAddr", ".data", 0, 8, OBJECT)),
        binary_meta(word(4, 2), Symbol("g_sysFftsAddr", ".data", 0, 256, OBJECT)),
    ),
    Case(
        "META083",
        "warning",
        binary_meta(record(1, bytes([0] * 4 + [1] + [0] * 3))),
        binary_meta(record(1, bytes(8))),
    ),
    Case("META083", "warning", binary_meta(word(4, 5)), binary_meta(word(0, 1))),
    Case(
        "META084",
        "warning",
        with_symbol(Symbol("x", 0xFFF1, type=OBJECT, binding=LOCAL)),
        with_symbol(Symbol("x", 9, type=OBJECT, binding=LOCAL)),
    ),
    Case("META086", "info", binary_meta(record(2, bytes(2))), binary_meta(record(2, bytes(4)))),
    Case("META090", "warning", drop_symbol("copy_0__"), GOOD),
    Case("META090", "warning", good_emulated(lambda elf: elf.drop(".aivops.layout.copy_0")), emulated()),
    Case("META091", "error", argument_size(24), argument_size(16)),
    Case(
        "META091",
        "error",
        with_more(summary(1, 8) + parameter(0, 0, 8)),
        with_more(summary(1, 9) + parameter(0, 0, 8)),
    ),
    Case("META091", "error", layout_of(layout(("x", 0, 8, 9), args_size=8)), layout_of(layout(args_size=0))),
    Case(
        "META091",
        "error",
        layout_of(layout(("x", 0, 8, 1), ("y", 4, 8, 1), args_size=16)),
        layout_of(layout(("x", 0, 8, 1), ("y", 8, 8, 1), args_size=16)),
    ),
    Case("META095", "error", stack(32768, tail=bytes(4)), stack(32768)),
    Case("META095", "error", stack(), stack(16384)),
    Case("META096", "warning", stack(65536), stack(16384)),
    Case("META097", "error", stack(32768, 16384), stack(32768, 32768)),
    Case(
        "META098",
        "warning",
        without_section(".ascend.stack.size.record"),
        good(
            lambda elf: (elf.drop(".ascend.stack.size.record"), elf.__dict__.update(version=0x5A5A0100)),
        ),
    ),
    Case(
        "META100",
        "warning",
        with_section(Section(".debug_info", data=b"x"), Section(".debug_frame", data=b"x")),
        with_section(Section(".eh_frame", data=b"x")),
    ),
    Case("META100", "info", with_section(Section(".debug_frame", data=b"x")), GOOD),
    Case(
        "META101",
        "warning",
        with_section(Section(".note.x", NOTE, data=b"\0/home/someone/kernel.asc\0")),
        with_section(Section(".note.x", NOTE, data=b"\0src/home/someone/kernel.asc\0/opt/x\0/tmp\0")),
    ),
    Case("META106", "info", without_section(".comment"), GOOD),
    Case(
        "META106",
        "info",
        good(lambda elf: elf.section(".comment").__dict__.update(data=b"clang 15\0clang 16\0")),
        good(lambda elf: elf.section(".comment").__dict__.update(data=b"clang 15\0clang 15\0Linker: LLD\0")),
    ),
]

# Shown where what they are about is made: archives, embedded kernels, sidecars, manifests, sparse files of 2 GiB.
ELSEWHERE = {
    "META102",
    "META104",
    "META105",
    "META110",
    "META111",
    "META120",
    "META121",
    "META122",
    "META123",
}


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{i}" for i, case in enumerate(CASES)])
def test_rule_fires_alone_and_misses_its_neighbour(case: Case, check: Callable[..., dict[str, Any]]) -> None:
    found = check(build(case.fires), **case.options)["findings"]
    assert {finding["rule"] for finding in found} == {case.rule} | case.also
    assert case.severity in {finding["severity"] for finding in found if finding["rule"] == case.rule}
    for finding in found:
        assert finding["message"]
        assert finding["fix"]
        assert finding["expected"] or finding["found"]

    near_options = case.options if case.near_options is None else case.near_options
    near = check(build(case.near_miss), **near_options)["findings"]
    assert case.rule not in {finding["rule"] for finding in near}


def test_every_rule_is_shown() -> None:
    table = {rule["id"] for rule in json.loads(_core.verification_rules())}
    shown = {case.rule for case in CASES}
    assert shown | ELSEWHERE == table
    assert not shown & ELSEWHERE


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{i}" for i, case in enumerate(CASES)])
def test_severities_are_those_of_the_table(case: Case, check: Callable[..., dict[str, Any]]) -> None:
    table = {rule["id"]: rule for rule in json.loads(_core.verification_rules())}
    for profile in ("any", "aiv"):
        for finding in check(build(case.fires), **{**case.options, "profile": profile})["findings"]:
            assert finding["severity"] in table[finding["rule"]][profile]


def test_good_binaries_are_clean(check: Callable[..., dict[str, Any]]) -> None:
    binaries = [
        GOOD,
        TWO,
        ascend(flags=C310_VECTOR),
        emulated(),
        emulated("a_1", "b_2"),
        emulated(machine=183),
    ]
    for binary in binaries:
        assert check(binary.build(), profile="aiv")["findings"] == []
