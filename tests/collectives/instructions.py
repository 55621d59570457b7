"""What the emulator counts of the instructions that a device's kernels issue on the unified buffer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple

import aivops
from aivops import _toolkit


class Issued(NamedTuple):
    """Instructions of one name, and the bytes of the unified buffer that they touch."""

    times: int
    read_bytes: int
    written_bytes: int


class _Instruction(ctypes.Structure):
    """aivopsEmuInstruction of aivops/emulator.h."""

    _fields_ = (
        ("name", ctypes.c_char * 32),
        ("issued", ctypes.c_uint64),
        ("read_bytes", ctypes.c_uint64),
        ("written_bytes", ctypes.c_uint64),
    )


def instructions_of(
    group: aivops.LocalGroup, call: Callable[[aivops.Communicator], object]
) -> dict[str, Issued]:
    """What the devices of all ranks issue together during `call`, by name."""
    library = ctypes.CDLL(str(_toolkit.current().library))
    for comm in group.communicators:
        assert library.aivopsEmuResetCounters(comm.device.id) == 0
    group.run(call)
    total: dict[str, Issued] = {}
    for comm in group.communicators:
        found, count = (_Instruction * 256)(), ctypes.c_size_t()
        assert (
            library.aivopsEmuGetInstructions(comm.device.id, found, ctypes.c_size_t(256), ctypes.byref(count))
            == 0
        )
        for one in found[: count.value]:
            name = one.name.decode()
            more = (one.issued, one.read_bytes, one.written_bytes)
            total[name] = Issued(*(a + b for a, b in zip(total.get(name, (0, 0, 0)), more, strict=True)))
    return total
