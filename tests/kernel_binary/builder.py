"""Builds kernel binaries byte by byte: good ones, ones with a single fault, large and hostile ones. It knows the ELF format
from the specification and shares no code with the reader that it tests."""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS, DYNSYM = 1, 2, 3, 4, 7, 8, 11
VERSYM = 0x6FFFFFFF
WRITE, ALLOC, EXEC = 1, 2, 4
LOCAL, GLOBAL, WEAK = 0, 1, 2
NOTYPE, OBJECT, FUNC = 0, 1, 2
HIDDEN = 2
ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
ASCEND, X86_64, AARCH64 = 0x1029, 62, 183
C220_VECTOR, C310_VECTOR = 0x930000, 0x990000
AIV_RECORD = bytes.fromhex("0100040003000000")


@dataclass
class Section:
    """One section. `header` overrides fields of its header after everything has its place."""

    name: str
    type: int = PROGBITS
    flags: int = 0
    data: bytes = b""
    align: int = 4
    entry_bytes: int = 0
    link: str = ""
    header: dict[str, int] = field(default_factory=dict)


@dataclass
class Symbol:
    name: str
    section: str | int = ".text"  # a name, or an index as it is
    value: int = 0
    size: int = 0
    type: int = FUNC
    binding: int = GLOBAL
    visibility: int = 0
    name_offset: int | None = None


HEADER_FIELDS = {
    "sh_name": (0, "I"),
    "sh_type": (4, "I"),
    "sh_flags": (8, "Q"),
    "sh_addr": (16, "Q"),
    "sh_offset": (24, "Q"),
    "sh_size": (32, "Q"),
    "sh_link": (40, "I"),
    "sh_info": (44, "I"),
    "sh_addralign": (48, "Q"),
    "sh_entsize": (56, "Q"),
}
ELF_FIELDS = {
    "ei_class": (4, "B"),
    "ei_data": (5, "B"),
    "e_type": (16, "H"),
    "e_machine": (18, "H"),
    "e_version": (20, "I"),
    "e_phoff": (32, "Q"),
    "e_shoff": (40, "Q"),
    "e_flags": (48, "I"),
    "e_phentsize": (54, "H"),
    "e_phnum": (56, "H"),
    "e_shentsize": (58, "H"),
    "e_shnum": (60, "H"),
    "e_shstrndx": (62, "H"),
}


@dataclass
class Elf:
    """An ELF to be. `patch` overrides fields of its header last."""

    type: int = ET_EXEC
    machine: int = ASCEND
    flags: int = C220_VECTOR
    version: int = 1
    sections: list[Section] = field(default_factory=list)
    tail: list[Section] = field(default_factory=list)  # behind the tables
    symtab_header: dict[str, int] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)
    segments: list[tuple[int, int, int, int]] | None = None  # offset, address, bytes in file, in memory
    patch: dict[str, int] = field(default_factory=dict)
    edit: Callable[[bytearray], None] | None = None

    def clone(self) -> Elf:
        return copy.deepcopy(self)

    def section(self, name: str) -> Section:
        return next(section for section in self.sections if section.name == name)

    def symbol(self, name: str) -> Symbol:
        return next(symbol for symbol in self.symbols if symbol.name == name)

    def drop(self, name: str) -> None:
        self.sections = [section for section in self.sections if section.name != name]

    def build(self) -> bytes:
        symtab = Section(".symtab", SYMTAB, 0, b"", 8, 24, ".strtab", {"sh_info": 1, **self.symtab_header})
        strtab, shstrtab = Section(".strtab", STRTAB, align=1), Section(".shstrtab", STRTAB, align=1)
        sections = [*self.sections, symtab, strtab, shstrtab, *self.tail]
        index = {section.name: number for number, section in reversed(list(enumerate(sections, 1)))}
        strtab.data, symtab.data = self._symbol_table(index)
        names = _StringTable()
        name_offsets = [names.add(section.name) for section in sections]
        shstrtab.data = names.data()

        image = bytearray(64 + 56 * (len(self.segments) if self.segments else 1))
        places = []
        base = None
        for section in sections:
            alignment = max(section.align, 1)
            _pad(image, alignment)
            if section.flags & ALLOC and section.type != NOBITS:
                if base is None:
                    _pad(image, 256)
                    base = 0 if self.type == ET_DYN else len(image)
                _pad(image, alignment)
                places.append((len(image), len(image) - base if self.type != ET_REL else 0))
            else:
                places.append((len(image), 0))
            if section.type != NOBITS:
                image += section.data
        _pad(image, 8)
        table = len(image)
        image += bytes(64)
        for section, name, (offset, address) in zip(sections, name_offsets, places, strict=True):
            raw = bytearray(64)
            fields = {
                "sh_name": name,
                "sh_type": section.type,
                "sh_flags": section.flags,
                "sh_addr": address,
                "sh_offset": offset,
                "sh_size": len(section.data),
                "sh_link": index.get(section.link, 0),
                "sh_addralign": section.align,
                "sh_entsize": section.entry_bytes,
                **section.header,
            }
            _write(raw, HEADER_FIELDS, fields)
            image += raw
        self._write_header(image, table, len(sections) + 1, index[".shstrtab"])
        if self.edit is not None:
            self.edit(image)
        return bytes(image)

    def _symbol_table(self, index: dict[str, int]) -> tuple[bytes, bytes]:
        names = _StringTable()
        table = bytearray(24)
        for symbol in self.symbols:
            section = index[symbol.section] if isinstance(symbol.section, str) else symbol.section
            table += struct.pack(
                "<IBBHQQ",
                names.add(symbol.name) if symbol.name_offset is None else symbol.name_offset,
                symbol.binding << 4 | symbol.type,
                symbol.visibility,
                section,
                symbol.value,
                symbol.size,
            )
        return names.data(), bytes(table)

    def _write_header(self, image: bytearray, table: int, count: int, name_section: int) -> None:
        image[0:16] = b"\x7fELF\x02\x01\x01" + bytes(9)
        segments = self.segments
        if segments is None:
            segments = [(0, 0, table, table)] if self.type == ET_DYN else []
        for number, (offset, address, file_bytes, memory_bytes) in enumerate(segments):
            struct.pack_into(
                "<IIQQQQQQ",
                image,
                64 + 56 * number,
                *(1, 5, offset, address, address, file_bytes, memory_bytes, 4096),
            )
        fields = {
            "e_type": self.type,
            "e_machine": self.machine,
            "e_version": self.version,
            "e_phoff": 64 if segments else 0,
            "e_shoff": table,
            "e_flags": self.flags,
            "e_phentsize": 56,
            "e_phnum": len(segments),
            "e_shentsize": 64,
            "e_shnum": count,
            "e_shstrndx": name_section,
            **self.patch,
        }
        _write(image, ELF_FIELDS, fields)
        struct.pack_into("<H", image, 52, 64)


class _StringTable:
    def __init__(self) -> None:
        self._data = bytearray(1)

    def add(self, name: str) -> int:
        if not name:
            return 0
        offset = len(self._data)
        self._data += name.encode("utf-8", "surrogateescape") + b"\0"
        return offset

    def data(self) -> bytes:
        return bytes(self._data)


def _pad(image: bytearray, alignment: int) -> None:
    image += bytes(-len(image) % alignment)


def _write(raw: bytearray, layout: dict[str, tuple[int, str]], fields: dict[str, int]) -> None:
    for name, value in fields.items():
        offset, code = layout[name]
        struct.pack_into("<" + code, raw, offset, value)


def record(kind: int, payload: bytes) -> bytes:
    return struct.pack("<HH", kind, len(payload)) + payload


def word(kind: int, value: int) -> bytes:
    return record(kind, struct.pack("<I", value))


def dfx(arguments: int) -> bytes:
    """A DFX record of so many pointer arguments, big-endian as the compiler writes it."""
    return record(4, b"".join(struct.pack(">HHQ", 5, 1, 2) for _ in range(arguments)))


def parameter(ordinal: int, offset: int, size: int) -> bytes:
    fields = (0, ordinal, offset, size, 8, 2, 0, 0, 0, 0)
    return record(17, struct.pack("<IIIIHHIIII", *fields))


def summary(count: int, size: int) -> bytes:
    return record(16, struct.pack("<IQ", count, size))


def meta(kernel: str, data: bytes) -> Section:
    return Section(f".ascend.meta.{kernel}", NOTE, 0, data)


def ascend(*kernels: str, flags: int = C220_VECTOR) -> Elf:
    """A good binary: each kernel has a type, two arguments and an argument size, and no rule fires."""
    kernels = kernels or ("copy_0",)
    elf = Elf(flags=flags)
    code = 64
    elf.sections = [
        Section(".text", PROGBITS, ALLOC | EXEC, bytes([0x5A]) * code * len(kernels)),
        Section(".data", PROGBITS, ALLOC | WRITE, bytes(32), 32),
        Section(".comment", data=b"Linker: LLD 15\0clang version 15\0", align=1),
    ]
    if flags == C220_VECTOR:
        stack = struct.pack("<Q", 32768) * len(kernels)
        elf.sections.append(Section(".ascend.stack.size.record", NOTE, 0, stack, 1))
    elf.sections.append(Section("__CCE_KernelArgSize", NOTE, 0, struct.pack("<I", 16) * len(kernels)))
    for number, kernel in enumerate(kernels):
        records = word(1, 3) + (word(12, 1) if flags == C310_VECTOR else b"") + dfx(2)
        elf.sections.append(meta(kernel, records))
        elf.symbols.append(Symbol(kernel, ".text", code * number, code))
        size_symbol = Symbol(f"{kernel}__", "__CCE_KernelArgSize", 4 * number, 4, OBJECT, WEAK)
        elf.symbols.append(size_symbol)
    return elf


def contract(npu_arch: int = 2201, version: int = 1) -> bytes:
    return struct.pack("<8sII16s", b"AIVEMU", version, npu_arch, b"0.1.0")


def layout(*parameters: tuple[str, int, int, int], args_size: int) -> bytes:
    """Name, offset, size and kind of each parameter."""
    data = struct.pack("<8sIIII", b"AIVARGS", 1, len(parameters), args_size, 0)
    for name, offset, size, kind in parameters:
        data += struct.pack("<IIII48s", offset, size, kind, 0, name.encode())
    return data


def emulated(*kernels: str, machine: int = X86_64) -> Elf:
    """A good emulated binary with one pointer and one 4-byte count per kernel."""
    kernels = kernels or ("copy_0",)
    elf = Elf(type=ET_DYN, machine=machine, flags=0)
    elf.sections = [
        Section(".text", PROGBITS, ALLOC | EXEC, bytes([0x5A]) * 64 * len(kernels), 16),
        Section(".aivops.contract", PROGBITS, ALLOC, contract()),
    ]
    for kernel in kernels:
        parameters = (("x", 0, 8, 1), ("count", 8, 4, 3))
        elf.sections.append(
            Section(f".aivops.layout.{kernel}", PROGBITS, ALLOC, layout(*parameters, args_size=12))
        )
        elf.sections.append(Section(f".ascend.meta.{kernel}", PROGBITS, ALLOC, word(1, 3) + dfx(2)))
        elf.symbols.append(Symbol(kernel, ".text", 0, 64))
    elf.edit = _place_symbols
    return elf


def _place_symbols(image: bytearray) -> None:
    """Symbols of a shared object hold addresses: adds the address of .text to each function."""
    table, count = struct.unpack_from("<Q", image, 40)[0], struct.unpack_from("<H", image, 60)[0]
    headers = [image[table + 64 * i : table + 64 * (i + 1)] for i in range(count)]
    text = next(header for header in headers if struct.unpack_from("<Q", header, 8)[0] & EXEC)
    address = struct.unpack_from("<Q", text, 16)[0]
    symtab = next(header for header in headers if struct.unpack_from("<I", header, 4)[0] == SYMTAB)
    offset, size = struct.unpack_from("<QQ", symtab, 24)
    for at in range(offset + 24, offset + size, 24):
        if image[at + 4] & 15 == FUNC and struct.unpack_from("<H", image, at + 6)[0] != 0:
            value = struct.unpack_from("<Q", image, at + 8)[0]
            struct.pack_into("<Q", image, at + 8, value + address)
