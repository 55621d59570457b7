"""Writes the seeds of the fuzz targets: one small binary or document for each thing that the readers know."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from kernel_binary.builder import (
    C310_VECTOR,
    X86_64,
    Elf,
    Section,
    Symbol,
    ascend,
    dfx,
    emulated,
    parameter,
    record,
    summary,
    word,
)

EVERYTHING = (
    word(1, 3)
    + word(2, 0)
    + record(3, struct.pack("<HH", 0, 1))
    + dfx(2)
    + b"".join(word(kind, 1) for kind in range(7, 14))
    + record(14, struct.pack("<BBHQ", 0, 0, 0, 0))
    + word(15, 0xFFFFFFFF)
    + summary(2, 16)
    + parameter(0, 0, 8)
    + parameter(1, 8, 8)
    + word(18, 1)
)


def every_record() -> Elf:
    elf = ascend(flags=C310_VECTOR)
    elf.section(".ascend.meta.copy_0").data = EVERYTHING
    binary = word(0, 1) + record(1, bytes(8)) + word(2, 0) + word(3, 0) + word(4, 2) + record(5, bytes(36))
    elf.sections.append(Section(".ascend.meta", data=binary))
    elf.symbols.append(Symbol("g_sysFftsAddr", ".data", 0, 8, 1))
    return elf


def without_record() -> Elf:
    elf = ascend()
    elf.drop(".ascend.meta.copy_0")
    return elf


def shared_object() -> Elf:
    good = ascend().build()
    stub = struct.pack("<IIIII", 1, 1, 1, len(good), len(good)) + good
    sections = [Section(".ascend.kernel.ascend910b.x", data=stub), Section(".aicore_binary", data=good)]
    return Elf(type=3, machine=X86_64, flags=0, sections=sections)


def manifest() -> str:
    parameters = [{"name": "x", "offset": 0, "size": 8, "kind": "pointer"}]
    kernels = [
        {"name": "copy_0", "type": "K_TYPE_AIV", "args_size": 8, "parameters": parameters},
        {"name": "copy_1", "type": "K_TYPE_AIV", "args_size": None, "parameters": None},
    ]
    binary = {
        "path": "ascend/dav-c220-vec/set.o",
        "target": "set",
        "sha256": "0" * 64,
        "size": 1000,
        "machine": "ascend",
        "architecture": "dav-c220-vec",
        "toolkit": {"name": "CANN", "version": "9.0"},
        "kernels": kernels,
    }
    generator = {"name": "aivops", "version": "0.1.0"}
    return json.dumps({"schema": 1, "generator": generator, "binaries": [binary]})


SIDECAR = {
    "sha256": "0" * 64,
    "magic": "x",
    "intercoreSync": 1,
    "debugOptions": "printf",
    "kernelList": [{"kernelName": "copy_0"}],
    "w": [1.5e-3, -2, True, False, None, "\u00e9\ud83d\ude00\n"],
}


def write_seeds(folder: Path) -> None:
    binaries = {
        "ascend": ascend("copy_0", "copy_1"),
        "c310": ascend(flags=C310_VECTOR),
        "every-record": every_record(),
        "without-record": without_record(),
        "emulated": emulated("copy_0", "copy_1"),
        "shared-object": shared_object(),
    }
    for name, elf in binaries.items():
        (folder / "binary" / f"{name}.o").write_bytes(elf.build())
    (folder / "manifest" / "manifest.json").write_text(manifest())
    (folder / "manifest" / "sidecar.json").write_text(json.dumps(SIDECAR))


if __name__ == "__main__":
    write_seeds(Path(__file__).parent / "seeds")
