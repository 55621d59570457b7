"""Every collective of hccl.h against numpy, on ranks that are threads and on ranks that are processes."""

from __future__ import annotations

import ctypes
import time
from ctypes import c_int, c_uint32, c_uint64
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.hccl.ranks import run_ranks
from emulator.hccl.toolkit import DATA_TYPES, REDUCTIONS, CallError, Rank

MODULE = "emulator.hccl.test_collectives"

# Elements; the last one is more than all queues between two ranks hold.
COUNTS = (1, 7, 1000, 70001)
FOLDS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def inputs(size: int, shape: Any, dtype: str, seed: int = 0) -> list[np.ndarray]:
    """What each rank gives; every rank can tell all of them."""
    made = []
    for rank in range(size):
        random = np.random.default_rng([seed, rank])
        if np.dtype(dtype).kind == "f":
            made.append(random.uniform(0.5, 1.5, shape).astype(dtype))
        else:
            information = np.iinfo(dtype)
            made.append(random.integers(information.min, information.max, shape, dtype, endpoint=True))
    return made


def folded(parts: list[np.ndarray], op: str) -> np.ndarray:
    """The parts folded in rank order; half precision is folded in single and rounded once."""
    wide = [part.astype(np.float32) if part.dtype == np.float16 else part for part in parts]
    with np.errstate(over="ignore"):
        return reduce(FOLDS[op], wide).astype(parts[0].dtype)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Bit for bit."""
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def gathers_and_copies(rank: Rank) -> None:
    n, me = rank.size, rank.rank
    for count in COUNTS:
        given = inputs(n, count, "int32", seed=count)
        mine = rank.upload(given[me])
        everything = rank.allocate(n * given[me].nbytes)
        rank.run("HcclAllGather", mine, everything, c_uint64(count), DATA_TYPES["int32"])
        same(rank.download(everything, (n, count), "int32"), np.stack(given))

        for root in range(n):
            buffer = rank.upload(given[me])
            rank.run("HcclBroadcast", buffer, c_uint64(count), DATA_TYPES["int32"], c_uint32(root))
            same(rank.download(buffer, count, "int32"), given[root])

            scattered = rank.allocate(given[me].nbytes)
            source = rank.upload(np.stack(given)) if me == root else ctypes.c_void_p()
            rank.run("HcclScatter", source, scattered, c_uint64(count), DATA_TYPES["int32"], c_uint32(root))
            same(rank.download(scattered, count, "int32"), given[me])

        matrix = inputs(n, (n, count), "uint8", seed=count)
        source, target = rank.upload(matrix[me]), rank.allocate(matrix[me].nbytes)
        counted = (c_uint64(count), DATA_TYPES["uint8"])
        rank.run("HcclAlltoAll", source, *counted, target, *counted)
        same(rank.download(target, (n, count), "uint8"), np.stack([given[me] for given in matrix]))

    # In place: a rank's input is its part of the output.
    given = inputs(n, 300, "float32", seed=1)
    whole = np.zeros((n, 300), "float32")
    whole[me] = given[me]
    buffer = rank.upload(whole)
    own = ctypes.c_void_p(buffer.value + me * given[me].nbytes)
    rank.run("HcclAllGather", own, buffer, c_uint64(300), DATA_TYPES["float32"])
    same(rank.download(buffer, (n, 300), "float32"), np.stack(given))


def ragged(rank: Rank) -> None:
    n, me = rank.size, rank.rank
    lengths = [5 + 3 * r if r != 1 else 0 for r in range(n)]
    given = [part[:length] for part, length in zip(inputs(n, 100, "int64"), lengths, strict=True)]
    array = c_uint64 * n

    # One element stays free between the parts.
    offsets = [sum(lengths[:r]) + r for r in range(n)]
    extent = offsets[-1] + lengths[-1]
    target = rank.upload(np.full(extent, -1, "int64"))
    rank.run(
        "HcclAllGatherV",
        rank.upload(given[me]),
        c_uint64(lengths[me]),
        target,
        array(*lengths),
        array(*offsets),
        DATA_TYPES["int64"],
    )
    expected = np.full(extent, -1, "int64")
    for part, offset in zip(given, offsets, strict=True):
        expected[offset : offset + len(part)] = part
    same(rank.download(target, extent, "int64"), expected)

    whole = inputs(n, extent, "int32", seed=4)
    target = rank.allocate(4 * max(lengths[me], 1))
    rank.run(
        "HcclReduceScatterV",
        rank.upload(whole[me]),
        array(*lengths),
        array(*offsets),
        target,
        c_uint64(lengths[me]),
        DATA_TYPES["int32"],
        REDUCTIONS["max"],
    )
    part = slice(offsets[me], offsets[me] + lengths[me])
    same(rank.download(target, lengths[me], "int32"), folded([one[part] for one in whole], "max"))

    # counts[i][j]: what rank i sends to rank j.
    counts = [[(i * 7 + j * 3) % 11 for j in range(n)] for i in range(n)]
    sent = [inputs(n, 200, "int16", seed=5)[i][: sum(counts[i])] for i in range(n)]
    starts = [np.concatenate([[0], np.cumsum(row)[:-1]]) for row in counts]
    expected = np.concatenate([sent[i][starts[i][me] : starts[i][me] + counts[i][me]] for i in range(n)])
    incoming = [counts[i][me] for i in range(n)]
    incoming_at = [sum(incoming[:i]) for i in range(n)]
    source, target = rank.upload(sent[me]), rank.allocate(expected.nbytes)
    kind = DATA_TYPES["int16"]
    rank.run(
        "HcclAlltoAllV",
        source,
        array(*counts[me]),
        array(*map(int, starts[me])),
        kind,
        target,
        array(*incoming),
        array(*incoming_at),
        kind,
    )
    same(rank.download(target, expected.shape, "int16"), expected)
    target = rank.allocate(expected.nbytes)
    flat = (c_uint64 * (n * n))(*[count for row in counts for count in row])
    rank.run("HcclAlltoAllVC", source, flat, kind, target, kind)
    same(rank.download(target, expected.shape, "int16"), expected)


def reductions(rank: Rank) -> None:
    n, me = rank.size, rank.rank
    for dtype, kind in DATA_TYPES.items():
        for op, number in REDUCTIONS.items():
            if (dtype, op) == ("int16", "prod"):
                continue
            given = inputs(n, 333, dtype, seed=kind)
            source, target = rank.upload(given[me]), rank.allocate(given[me].nbytes)
            rank.run("HcclAllReduce", source, target, c_uint64(333), kind, number)
            same(rank.download(target, 333, dtype), folded(given, op))
    for count in COUNTS:
        given = inputs(n, count, "float32", seed=count)
        # In place: what peers still have to get must not be overwritten.
        buffer = rank.upload(given[me])
        rank.run("HcclAllReduce", buffer, buffer, c_uint64(count), DATA_TYPES["float32"], REDUCTIONS["sum"])
        same(rank.download(buffer, count, "float32"), folded(given, "sum"))

        root = n - 1
        source, target = rank.upload(given[me]), rank.allocate(given[me].nbytes)
        rank.run("HcclReduce", source, target, c_uint64(count), DATA_TYPES["float32"], 0, c_uint32(root))
        if me == root:
            same(rank.download(target, count, "float32"), folded(given, "sum"))

        matrix = inputs(n, (n, count), "float16", seed=count)
        source, target = rank.upload(matrix[me]), rank.allocate(matrix[me][0].nbytes)
        rank.run("HcclReduceScatter", source, target, c_uint64(count), DATA_TYPES["float16"], 0)
        same(rank.download(target, count, "float16"), folded([one[me] for one in matrix], "sum"))


class Item(ctypes.Structure):
    """HcclSendRecvItem."""

    _fields_ = [
        ("type", c_int),
        ("buffer", ctypes.c_void_p),
        ("count", c_uint64),
        ("data_type", c_int),
        ("remote", c_uint32),
    ]


def point_to_point(rank: Rank) -> None:
    n, me = rank.size, rank.rank
    if n == 1:
        return
    following, previous = (me + 1) % n, (me - 1) % n
    given = inputs(n, 70001, "int32")
    kind = DATA_TYPES["int32"]
    target = rank.allocate(given[me].nbytes)
    counted = (c_uint64(given[me].size), kind)
    # A ring; even ranks send first.
    steps = [
        ("HcclSend", rank.upload(given[me]), c_uint32(following)),
        ("HcclRecv", target, c_uint32(previous)),
    ]
    for name, buffer, peer in steps if me % 2 == 0 else reversed(steps):
        rank.run(name, buffer, *counted, peer, wait=False)
    rank.synchronize()
    same(rank.download(target, given[me].shape, "int32"), given[previous])

    # The same as one batch, twice to the same peer, and once to itself.
    first, second, own = (rank.allocate(given[me].nbytes) for _ in range(3))
    source = rank.upload(given[me])
    items = [(0, source, following), (0, source, following), (1, first, previous), (1, second, previous)]
    items += [(0, source, me), (1, own, me)]
    batch = (Item * len(items))(
        *[Item(type_, buffer.value, given[me].size, kind, peer) for type_, buffer, peer in items]
    )
    rank.run("HcclBatchSendRecv", batch, c_uint32(len(items)))
    for buffer, sender in ((first, previous), (second, previous), (own, me)):
        same(rank.download(buffer, given[me].shape, "int32"), given[sender])


def barriers(rank: Rank) -> None:
    for _ in range(50):
        rank.run("HcclBarrier", wait=False)
    rank.synchronize()


def many_in_flight(rank: Rank) -> None:
    """Nothing is waited for between the calls; the stream keeps them in order."""
    given = inputs(rank.size, 5000, "int32")
    buffer = rank.upload(given[rank.rank])
    arguments = (buffer, buffer, c_uint64(5000), DATA_TYPES["int32"], REDUCTIONS["sum"])
    for _ in range(20):
        rank.run("HcclAllReduce", *arguments, wait=False)
    rank.synchronize()
    expected = given
    for _ in range(20):
        expected = [folded(expected, "sum")] * rank.size
    same(rank.download(buffer, 5000, "int32"), expected[0])


FUNCTIONS = [gathers_and_copies, ragged, reductions, point_to_point, barriers, many_in_flight]


def everything(rank: Rank) -> None:
    for function in FUNCTIONS:
        function(rank)


@pytest.mark.parametrize(("size", "threads"), [(1, True), (2, True), (4, True), (2, False), (3, False)])
def test_every_collective(tmp_path: Path, size: int, threads: bool) -> None:
    run_ranks(f"{MODULE}:everything", size, tmp_path, threads)


@pytest.mark.long
@pytest.mark.parametrize(("size", "threads"), [(8, True), (8, False), (16, False)])
def test_every_collective_with_many_ranks(tmp_path: Path, size: int, threads: bool) -> None:
    run_ranks(f"{MODULE}:everything", size, tmp_path, threads, AIVOPS_EMU_DEVICES="16")


def calls_differently(rank: Rank) -> None:
    buffer = rank.allocate(4096)
    reduction = ("HcclAllReduce", buffer, buffer, c_uint64(64), DATA_TYPES["float32"], 0)
    gathering = ("HcclAllGather", buffer, buffer, c_uint64(64), DATA_TYPES["int32"])
    with pytest.raises(CallError) as error:
        rank.run(*(reduction if rank.rank == 0 else gathering))
    assert "HcclAllReduce(64 x fp32, sum)" in error.value.message
    assert "HcclAllGather(64 x int32)" in error.value.message
    # The communicator is of no use any more, and says why.
    with pytest.raises(CallError, match="HcclAllReduce"):
        rank.run("HcclBarrier")


@pytest.mark.parametrize("threads", [True, False])
def test_calls_that_differ_end_with_both_named(tmp_path: Path, threads: bool) -> None:
    run_ranks(f"{MODULE}:calls_differently", 2, tmp_path, threads)


def stands_alone(rank: Rank) -> None:
    buffer = rank.allocate(64)
    if rank.rank == 0:
        with pytest.raises(CallError, match="HCCL_EXEC_TIMEOUT"):
            rank.run("HcclBroadcast", buffer, c_uint64(16), DATA_TYPES["int32"], c_uint32(1))
    else:
        time.sleep(2.5)


def is_left_alone(rank: Rank) -> None:
    buffer = rank.allocate(64)
    if rank.rank == 0:
        with pytest.raises(CallError, match="rank 1 has destroyed its communicator"):
            rank.run("HcclBroadcast", buffer, c_uint64(16), DATA_TYPES["int32"], c_uint32(1))


def test_a_collective_that_nobody_joins_times_out(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:stands_alone", 2, tmp_path, threads=True, HCCL_EXEC_TIMEOUT="1")
    run_ranks(f"{MODULE}:is_left_alone", 2, tmp_path, threads=True)
