"""Nothing grows with the number of communicators that were made and destroyed."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from emulator.hccl.ranks import run_ranks
from emulator.hccl.toolkit import Rank, call

MODULE = "emulator.hccl.test_growth"
RANKS = 3


def usage() -> dict[str, int]:
    """What this process holds: descriptors, threads, mappings, bytes."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": int(status["Threads"]),
        "mappings": len(Path("/proc/self/maps").read_text().splitlines()),
        "bytes": int(status["VmRSS"].split()[0]) << 10,
    }


def make_use_and_destroy(rank: Rank, streams: list[c_void_p], buffers: list[c_void_p]) -> None:
    devices, comms = (c_int32 * RANKS)(*range(RANKS)), (c_void_p * RANKS)()
    call("HcclCommInitAll", RANKS, devices, comms)
    for comm, stream, buffer in zip(comms, streams, buffers, strict=True):
        call("HcclAllReduce", buffer, buffer, c_uint64(16), 2, 0, c_void_p(comm), stream)
    for device, (comm, stream) in enumerate(zip(comms, streams, strict=True)):
        call("aclrtSetDevice", device)
        call("aclrtSynchronizeStream", stream)
        call("aclrtResetDevice", device)
        memory = c_void_p()
        call("HcclEngineCtxCreate", c_void_p(comm), b"tag", 4, c_uint64(4096), byref(memory))
        call("HcclEngineCtxDestroy", c_void_p(comm), b"tag", 4)
        call("HcclGetHcclBuffer", c_void_p(comm), byref(memory), byref(c_uint64()))
        call("HcclCommDestroy", c_void_p(comm))


def communicators(rank: Rank) -> None:
    streams, buffers = [], []
    for device in range(RANKS):
        call("aclrtSetDevice", device)
        streams.append(c_void_p())
        call("aclrtCreateStream", byref(streams[-1]))
        buffers.append(rank.upload(np.zeros(16, np.int32)))
    for _ in range(20):
        make_use_and_destroy(rank, streams, buffers)
    before = usage()
    for _ in range(1000):
        make_use_and_destroy(rank, streams, buffers)
    after = usage()
    assert after["descriptors"] <= before["descriptors"]
    assert after["threads"] <= before["threads"]
    assert after["mappings"] <= before["mappings"] + 20
    assert after["bytes"] <= before["bytes"] + (16 << 20)
    call("aclrtSetDevice", 0)


@pytest.mark.long
def test_a_thousand_communicators_of_one_process(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:communicators", 1, tmp_path)


def between_processes(rank: Rank) -> None:
    def once() -> None:
        members = (ctypes.c_uint32 * rank.size)(*range(rank.size))
        config = ctypes.create_string_buffer(2248)
        ctypes.memmove(config, (c_uint64 * 1)(2248), 8)
        ctypes.memmove(ctypes.addressof(config) + 8, (ctypes.c_uint32 * 2)(0xF0F0F0F0, 11), 8)
        for offset in (24, 28, 292, 296, 316, 2228, 2240):
            ctypes.memmove(ctypes.addressof(config) + offset, b"\xff" * 4, 4)
        part = c_void_p()
        call(
            "HcclCreateSubCommConfig",
            byref(rank.comm),
            ctypes.c_uint32(rank.size),
            members,
            c_uint64(1),
            ctypes.c_uint32(rank.rank),
            config,
            byref(part),
        )
        call("HcclBarrier", part, rank.stream)
        rank.synchronize()
        call("HcclCommDestroy", part)

    for _ in range(20):
        once()
    before = usage()
    for _ in range(1000):
        once()
    after = usage()
    assert after["descriptors"] <= before["descriptors"]
    assert after["threads"] <= before["threads"]
    assert after["mappings"] <= before["mappings"] + 20
    assert after["bytes"] <= before["bytes"] + (16 << 20)


@pytest.mark.long
def test_a_thousand_communicators_between_processes(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:between_processes", 2, tmp_path)
