"""Collectives order kernels of different ranks: strict mode sees no race across them, and one where they are missing."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from ctypes import byref, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from emulator.hccl.ranks import run_ranks
from emulator.hccl.toolkit import CallError, Rank, call

MODULE = "emulator.hccl.test_strict"

shared: dict[str, c_void_p] = {}  # between the ranks, which are threads
allocated, written, read = threading.Event(), threading.Event(), threading.Event()


def launch_copy(rank: Rank, to: c_void_p, source: c_void_p) -> None:
    binary, function = c_void_p(), c_void_p()
    call("aclrtBinaryLoadFromFile", os.environ["AIVOPS_TEST_KERNELS"].encode(), None, byref(binary))
    call("aclrtBinaryGetFunction", binary, b"copy", byref(function))
    arguments = ctypes.create_string_buffer(struct.pack("<QQQ", to.value or 0, source.value or 0, 256))
    call(
        "aclrtLaunchKernelWithHostArgs",
        function,
        1,
        rank.stream,
        None,
        arguments,
        c_size_t(24),
        None,
        c_size_t(0),
    )


def write_then_read(rank: Rank, between: str | None) -> None:
    """Rank 0 writes into memory of rank 1, which reads it; `between` is all that orders the two."""
    call("aclrtDeviceEnablePeerAccess", 1 - rank.rank, 0)
    content = np.arange(256, dtype=np.uint8)
    if rank.rank == 1:
        shared["memory"] = rank.upload(np.zeros(256, np.uint8))
        allocated.set()
        target = rank.allocate(256)
        written.wait()
    else:
        allocated.wait()
        launch_copy(rank, shared["memory"], rank.upload(content))
        written.set()
    if between == "HcclBarrier":
        rank.run("HcclBarrier", wait=False)
    elif between == "HcclAllReduce":
        buffer = rank.upload(np.zeros(16, np.int32))
        rank.run("HcclAllReduce", buffer, buffer, c_uint64(16), 2, 0, wait=False)
    if rank.rank == 1:
        launch_copy(rank, target, shared["memory"])
        read.set()
    # Nobody waits for the first kernel before the second one is launched.
    read.wait()
    rank.synchronize()
    if rank.rank == 1 and between is not None:
        assert rank.download(target, 256, "uint8").tolist() == content.tolist()


def ordered(rank: Rank) -> None:
    write_then_read(rank, os.environ["AIVOPS_TEST_BETWEEN"])


def unordered(rank: Rank) -> None:
    # Whichever comes second is told.
    try:
        write_then_read(rank, None)
    except CallError as error:
        Path(os.environ["AIVOPS_TEST_FOLDER"], "report").write_text(error.message)


@pytest.mark.parametrize("between", ["HcclBarrier", "HcclAllReduce"])
def test_a_collective_orders_kernels_of_its_ranks(kernels: Path, tmp_path: Path, between: str) -> None:
    settings = {
        "AIVOPS_EMU_CHECK": "strict",
        "AIVOPS_TEST_KERNELS": str(kernels),
        "AIVOPS_TEST_BETWEEN": between,
    }
    run_ranks(f"{MODULE}:ordered", 2, tmp_path, threads=True, **settings)


def test_without_one_there_is_a_race(kernels: Path, tmp_path: Path) -> None:
    settings = {"AIVOPS_EMU_CHECK": "strict", "AIVOPS_TEST_KERNELS": str(kernels)}
    run_ranks(f"{MODULE}:unordered", 2, tmp_path, threads=True, AIVOPS_TEST_FOLDER=str(tmp_path), **settings)
    assert "race" in (tmp_path / "report").read_text()
