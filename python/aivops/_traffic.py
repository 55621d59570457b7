"""What the emulated toolkit counts: bytes between a device's kernels and other devices' memory.

On an NPU nobody counts, and the answers are None.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from . import _toolkit


class Traffic(NamedTuple):
    """Bytes between one device's kernels and the memory of all other devices. Polls are counted apart."""

    read_bytes: int
    written_bytes: int
    small_writes: int
    poll_bytes: int


class _Owner(ctypes.Structure):
    _fields_ = (
        ("read_bytes", ctypes.c_uint64),
        ("written_bytes", ctypes.c_uint64),
        ("small_reads", ctypes.c_uint64),
        ("small_read_bytes", ctypes.c_uint64),
        ("small_writes", ctypes.c_uint64),
        ("small_written_bytes", ctypes.c_uint64),
        ("polls", ctypes.c_uint64),
        ("poll_bytes", ctypes.c_uint64),
    )


class _Counters(ctypes.Structure):
    """aivopsEmuCounters of aivops/emulator.h."""

    _fields_ = (
        ("local", _Owner),
        ("remote", _Owner),
        ("launches", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("sync_alls", ctypes.c_uint64),
        ("atomics", ctypes.c_uint64),
    )


def remote_traffic(device: int) -> Traffic | None:
    """Since the process began."""
    get_counters = getattr(ctypes.CDLL(str(_toolkit.current().library)), "aivopsEmuGetCounters", None)
    if get_counters is None:
        return None
    counters = _Counters()
    status = get_counters(ctypes.c_int32(device), ctypes.byref(counters))
    if status != 0:
        raise RuntimeError(f"aivopsEmuGetCounters({device}): failed with {status}")
    remote = counters.remote
    return Traffic(remote.read_bytes, remote.written_bytes, remote.small_writes, remote.poll_bytes)
