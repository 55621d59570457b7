"""all_gather equals numpy.stack, for every type, count, number of ranks and blocks, called again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import aivops
import ml_dtypes
import numpy as np
import pytest

NUMPY_TYPES = [
    np.float16, np.float32, np.float64,
    np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64,
    np.bool_,
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu,
]  # fmt: skip
GroupOf = Callable[[int], aivops.LocalGroup]


def values(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray:
    """Arbitrary bits, NaNs of all kinds among them."""
    bits = np.random.default_rng(seed).integers(
        0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8
    )
    if dtype is np.bool_:
        bits &= 1
    return bits.view(dtype).reshape(shape)


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_every_type_and_count(group_of: GroupOf, dtype: Any, count: int) -> None:
    inputs = [values((count,), dtype, rank) for rank in range(4)]
    for result in group_of(4).run(lambda comm: comm.all_gather(inputs[comm.rank])):
        assert same_bits(result, np.stack(inputs))


@pytest.mark.parametrize("ranks", range(1, 9))
def test_any_number_of_ranks(group_of: GroupOf, ranks: int) -> None:
    inputs = [values((3, 5, 11), np.int32, rank) for rank in range(ranks)]
    for result in group_of(ranks).run(lambda comm: comm.all_gather(inputs[comm.rank])):
        assert same_bits(result, np.stack(inputs))


@pytest.mark.parametrize("blocks", [1, 2, 7, 40])
def test_any_number_of_blocks(blocks: int) -> None:
    inputs = [values((100_003,), np.uint8, rank) for rank in range(3)]
    with aivops.LocalGroup(3, blocks=blocks) as group:
        for result in group.run(lambda comm: comm.all_gather(inputs[comm.rank])):
            assert same_bits(result, np.stack(inputs))


def test_messages_beyond_the_window() -> None:
    inputs = [values((700_001,), np.float32, rank) for rank in range(4)]
    with aivops.LocalGroup(4, window_bytes=1 << 20) as group:
        for result in group.run(lambda comm: comm.all_gather(inputs[comm.rank])):
            assert same_bits(result, np.stack(inputs))


def test_hifloat8_travels_as_bytes(group_of: GroupOf) -> None:
    inputs = [values((77,), np.uint8, rank) for rank in range(2)]
    for result in group_of(2).run(lambda comm: comm.all_gather(inputs[comm.rank], dtype="hifloat8")):
        assert same_bits(result, np.stack(inputs))


def test_not_contiguous_arrays(group_of: GroupOf) -> None:
    inputs = [values((40, 60), np.int16, rank).T[3::2, ::-1] for rank in range(3)]
    for result in group_of(3).run(lambda comm: comm.all_gather(inputs[comm.rank])):
        assert same_bits(result, np.stack(inputs))


def test_scalars_and_lists(group_of: GroupOf) -> None:
    assert all(
        np.array_equal(r, [0.0, 0.5]) for r in group_of(2).run(lambda comm: comm.all_gather(comm.rank / 2))
    )
    assert all(
        np.array_equal(r, [[0, 1], [1, 2]])
        for r in group_of(2).run(lambda comm: comm.all_gather([comm.rank, comm.rank + 1]))
    )


def test_out_takes_the_result(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> bool:
        out = np.zeros((comm.size, 9), np.int64)
        result = comm.all_gather(np.full(9, comm.rank), out=out)
        return result is out and np.array_equal(out, np.repeat(np.arange(comm.size)[:, None], 9, 1))

    assert all(group_of(4).run(call))


def test_calls_in_a_row_without_barrier(group_of: GroupOf) -> None:
    """Ranks run ahead of each other as far as the protocol lets them; every call must still see its own data."""

    def call(comm: aivops.Communicator) -> bool:
        rng = np.random.default_rng(comm.rank)
        right = True
        for call in range(60):
            count = (1, 5000, 0, 70_000)[call % 4]
            if rng.random() < 0.2:
                time.sleep(rng.random() * 0.002)
            result = comm.all_gather(np.full(count, call * 16 + comm.rank, np.uint32))
            right &= np.array_equal(result, np.repeat(call * 16 + np.arange(comm.size)[:, None], count, 1))
        return right

    assert all(group_of(4).run(call))
