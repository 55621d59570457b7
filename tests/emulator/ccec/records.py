"""Reads what the drivers put into a binary, with pyelftools and the layouts written down in the contract."""

import struct
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

KINDS = ("struct", "pointer", "int", "uint", "float", "bool", "half", "bfloat16")


@dataclass(frozen=True)
class Parameter:
    name: str
    offset: int
    size: int
    kind: str


@dataclass(frozen=True)
class Layout:
    args_size: int
    parameters: tuple[Parameter, ...]


class Binary:
    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            self.type = elf["e_type"]
            self.machine = elf["e_machine"]
            self.sections = {section.name: section.data() for section in elf.iter_sections()}
            symbols = [
                (symbol.name, symbol["st_info"], symbol["st_shndx"] != "SHN_UNDEF")
                for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            ]
            dynamic = elf.get_section_by_name(".dynamic")
            self.needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []
        self.global_functions = {
            name
            for name, info, defined in symbols
            if defined and info["bind"] == "STB_GLOBAL" and info["type"] == "STT_FUNC"
        }
        self.undefined = {name for name, _, defined in symbols if name and not defined}

    def layout(self, kernel: str) -> Layout:
        data = self.sections[f".aivops.layout.{kernel}"]
        magic, version, count, args_size, _ = struct.unpack_from("<8s4I", data)
        assert (magic, version) == (b"AIVARGS\0", 1)
        assert len(data) == 24 + 64 * count
        parameters = []
        for index in range(count):
            offset, size, kind, _, name = struct.unpack_from("<4I48s", data, 24 + 64 * index)
            parameters.append(Parameter(name.rstrip(b"\0").decode(), offset, size, KINDS[kind]))
        return Layout(args_size, tuple(parameters))

    def contracts(self) -> list[tuple[int, int, str]]:
        """Contract version, architecture and toolkit version, once per translation unit."""
        data = self.sections[".aivops.contract"]
        records = struct.iter_unpack("<8sII16s", data)
        found = []
        for magic, version, architecture, toolkit in records:
            assert magic == b"AIVEMU\0\0"
            found.append((version, architecture, toolkit.rstrip(b"\0").decode()))
        return found
