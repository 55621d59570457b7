"""Every operator against numpy, over ranks, shapes, types, ops, roots and blocks, drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aivops
import ml_dtypes
import numpy as np
import pytest
from collectives.reference import REDUCIBLE, bits, fold, numbers, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

GroupOf = Callable[[int], aivops.LocalGroup]

quick = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ranks = st.integers(1, 8)
# Around the edges of granules (512 bytes), steps and the one-shot limit.
counts = st.one_of(st.sampled_from([0, 1, 2, 7, 255, 257, 1000, 4096, 20_011]), st.integers(0, 3000))
moved = st.sampled_from(
    [np.uint8, np.float16, np.float32, np.int64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
)
folded = st.sampled_from(REDUCIBLE)
ops = st.sampled_from(["sum", "prod", "max", "min"])
seeds = st.integers(0, 1000)


@quick
@given(n=ranks, count=counts, dtype=moved, seed=seeds)
def test_all_to_all(group_of: GroupOf, n: int, count: int, *, dtype: Any, seed: int) -> None:
    inputs = [bits((n, count), dtype, seed + rank) for rank in range(n)]
    results = group_of(n).run(lambda comm: comm.all_to_all(inputs[comm.rank]))
    for rank, result in enumerate(results):
        assert same(result, np.stack([x[rank] for x in inputs]))


@quick
@given(n=ranks, count=counts, dtype=moved, seed=seeds)
def test_broadcast(group_of: GroupOf, n: int, count: int, *, dtype: Any, seed: int) -> None:
    root = seed % n
    inputs = [bits((count,), dtype, seed + rank) for rank in range(n)]
    for result in group_of(n).run(lambda comm: comm.broadcast(inputs[comm.rank], root)):
        assert same(result, inputs[root])


@quick
@given(n=ranks, count=counts, dtype=moved, seed=seeds)
def test_scatter(group_of: GroupOf, n: int, count: int, *, dtype: Any, seed: int) -> None:
    root = seed % n
    x = bits((n, count), dtype, seed)

    def call(comm: aivops.Communicator) -> np.ndarray:
        if comm.rank == root:
            return comm.scatter(x, root)
        return comm.scatter(None, root, shape=(count,), dtype=dtype)

    for rank, result in enumerate(group_of(n).run(call)):
        assert same(result, x[rank])


@quick
@given(n=ranks, count=counts, dtype=moved, seed=seeds)
def test_gather(group_of: GroupOf, n: int, count: int, *, dtype: Any, seed: int) -> None:
    root = seed % n
    inputs = [bits((count,), dtype, seed + rank) for rank in range(n)]
    results = group_of(n).run(lambda comm: comm.gather(inputs[comm.rank], root))
    assert same(results[root], np.stack(inputs))
    assert all(result is None for rank, result in enumerate(results) if rank != root)


@quick
@given(n=ranks, count=counts, dtype=folded, op=ops, seed=seeds)
def test_all_reduce(group_of: GroupOf, n: int, count: int, *, dtype: Any, op: str, seed: int) -> None:
    inputs = [numbers((count,), dtype, seed + rank) for rank in range(n)]
    for result in group_of(n).run(lambda comm: comm.all_reduce(inputs[comm.rank], op)):
        assert same(result, fold(inputs, op))


@quick
@given(n=ranks, count=counts, dtype=folded, op=ops, seed=seeds)
def test_reduce_scatter(group_of: GroupOf, n: int, count: int, *, dtype: Any, op: str, seed: int) -> None:
    inputs = [numbers((n * count,), dtype, seed + rank) for rank in range(n)]
    expected = fold(inputs, op).reshape(n, count)
    for rank, result in enumerate(group_of(n).run(lambda comm: comm.reduce_scatter(inputs[comm.rank], op))):
        assert same(result, expected[rank])


@quick
@given(n=ranks, count=counts, dtype=folded, op=ops, seed=seeds)
def test_reduce(group_of: GroupOf, n: int, count: int, *, dtype: Any, op: str, seed: int) -> None:
    root = seed % n
    inputs = [numbers((count,), dtype, seed + rank) for rank in range(n)]
    results = group_of(n).run(lambda comm: comm.reduce(inputs[comm.rank], op, root))
    assert same(results[root], fold(inputs, op))
    assert all(result is None for rank, result in enumerate(results) if rank != root)


@quick
@given(n=ranks, largest=counts, dtype=moved, seed=seeds, told=st.booleans())
def test_all_gather_v(group_of: GroupOf, n: int, largest: int, *, dtype: Any, seed: int, told: bool) -> None:
    lengths = np.random.default_rng(seed).integers(0, largest, n, endpoint=True).tolist()
    inputs = [bits((lengths[rank], 2), dtype, seed + rank) for rank in range(n)]
    for result in group_of(n).run(
        lambda comm: comm.all_gather_v(inputs[comm.rank], lengths if told else None)
    ):
        assert all(same(part, x) for part, x in zip(result, inputs, strict=True))


@quick
@given(n=ranks, largest=counts, dtype=folded, op=ops, seed=seeds)
def test_reduce_scatter_v(group_of: GroupOf, n: int, largest: int, *, dtype: Any, op: str, seed: int) -> None:
    lengths = np.random.default_rng(seed).integers(0, largest, n, endpoint=True).tolist()
    inputs = [numbers((sum(lengths), 3), dtype, seed + rank) for rank in range(n)]
    expected = np.split(fold(inputs, op), np.cumsum(lengths)[:-1])
    results = group_of(n).run(lambda comm: comm.reduce_scatter_v(inputs[comm.rank], lengths, op))
    assert all(same(result, part) for result, part in zip(results, expected, strict=True))


@quick
@given(n=ranks, largest=counts, dtype=moved, seed=seeds, told=st.booleans())
def test_all_to_all_v(group_of: GroupOf, n: int, largest: int, *, dtype: Any, seed: int, told: bool) -> None:
    matrix = np.random.default_rng(seed).integers(0, largest, (n, n), endpoint=True)
    parts = [[bits((matrix[i, j],), dtype, seed + i * n + j) for j in range(n)] for i in range(n)]
    results = group_of(n).run(lambda comm: comm.all_to_all_v(parts[comm.rank], matrix if told else None))
    for rank, result in enumerate(results):
        assert all(same(got, parts[peer][rank]) for peer, got in enumerate(result))


@quick
@given(n=st.integers(2, 8), count=counts, dtype=moved, seed=seeds)
def test_send_and_receive_around_a_ring(
    group_of: GroupOf, n: int, count: int, *, dtype: Any, seed: int
) -> None:
    inputs = [bits((count,), dtype, seed + rank) for rank in range(n)]

    def call(comm: aivops.Communicator) -> np.ndarray:
        out = np.empty((count,), dtype)
        after, before = (comm.rank + 1) % n, (comm.rank - 1) % n
        if comm.rank == 0:
            comm.send(inputs[0], after)
            return comm.recv(before, out)
        comm.recv(before, out)
        comm.send(inputs[comm.rank], after)
        return out

    for rank, result in enumerate(group_of(n).run(call)):
        assert same(result, inputs[rank - 1])


def test_barrier_holds_everybody_back(group_of: GroupOf) -> None:
    arrived: list[int] = []

    def call(comm: aivops.Communicator) -> int:
        comm.barrier()
        for turn in range(comm.size):
            if turn == comm.rank:
                arrived.append(comm.rank)
            comm.barrier()
        return len(arrived)

    assert group_of(4).run(call) == [4] * 4
    assert arrived == [0, 1, 2, 3]


@pytest.mark.parametrize("blocks", [1, 5])
def test_everything_mixed_through_a_small_window(blocks: int) -> None:
    """Operators follow each other without barrier, on messages many times the window."""
    n, count = 3, 30_011

    def call(comm: aivops.Communicator) -> bool:
        right = True
        for turn in range(4):
            inputs = [numbers((n * count,), np.float32, 10 * turn + rank) for rank in range(n)]
            x = inputs[comm.rank]
            total = fold(inputs, "sum")
            right &= same(comm.all_reduce(x), total)
            right &= same(comm.reduce_scatter(x), total.reshape(n, count)[comm.rank])
            right &= same(comm.broadcast(x, turn % n), inputs[turn % n])
            right &= same(
                comm.all_to_all(x.reshape(n, count)),
                np.stack([i.reshape(n, count)[comm.rank] for i in inputs]),
            )
            if comm.rank == 0:
                comm.send(x, 2)
            if comm.rank == 2:
                right &= same(comm.recv(0, np.empty_like(x)), inputs[0])
            right &= same(comm.all_gather(x[:7]), np.stack([i[:7] for i in inputs]))
            reduced = comm.reduce(x, "max", turn % n)
            right &= reduced is None if comm.rank != turn % n else same(reduced, fold(inputs, "max"))
        return right

    with aivops.LocalGroup(n, window_bytes=1 << 20, blocks=blocks) as group:
        assert all(group.run(call))


@pytest.mark.parametrize("algorithm", ["one_shot", "two_shots"])
@pytest.mark.parametrize("count", [0, 1, 1000, 40_009])
def test_all_reduce_algorithms_agree(group_of: GroupOf, algorithm: str, count: int) -> None:
    inputs = [numbers((count,), np.float16, rank) for rank in range(5)]
    for result in group_of(5).run(lambda comm: comm.all_reduce(inputs[comm.rank], algorithm=algorithm)):
        assert same(result, fold(inputs, "sum"))


def test_results_depend_on_neither_blocks_nor_window() -> None:
    """Float sums come out bit for bit alike, in place as well, whatever way they take."""
    inputs = [numbers((50_021,), np.float32, rank) for rank in range(4)]

    def call(comm: aivops.Communicator) -> np.ndarray:
        x = inputs[comm.rank].copy()
        return comm.all_reduce(x, out=x)

    for options in ({}, {"blocks": 1}, {"blocks": 17}, {"window_bytes": 400_000}):
        with aivops.LocalGroup(4, **options) as group:
            for result in group.run(call):
                assert same(result, fold(inputs, "sum"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda c: c.all_reduce(np.zeros(2, np.uint8)), ValueError, "no kernel folds uint8, expected one of float16, bfl"),
        (lambda c: c.all_reduce(np.zeros(2), "sum"), ValueError, "no kernel folds float64"),
        (lambda c: c.all_reduce(np.zeros(2, "f"), "mean"), ValueError, "op is 'mean', expected sum, prod, max or min"),
        (lambda c: c.all_reduce(np.zeros(2, "f"), algorithm="ring"), ValueError, "'ring', expected one of one_shot, two_s"),
        (lambda c: c.reduce_scatter(np.zeros(3, "f")), ValueError, r"x has shape \(3,\), expected a first axis that 2 ranks"),
        (lambda c: c.all_to_all(np.zeros((3, 2))), ValueError, r"x has shape \(3, 2\), expected a first axis of 2"),
        (lambda c: c.broadcast(np.zeros(3), 2), ValueError, "root is 2, expected 0 to 1"),
        (lambda c: c.gather(np.zeros(3), -1), ValueError, "root is -1, expected 0 to 1"),
        (lambda c: c.scatter(None, 1 - c.rank), ValueError, "a rank other than root passes out=, or shape= and dtype="),
        (lambda c: c.all_gather_v(np.zeros(3), [3, 4, 5]), ValueError, "expected 2 lengths, one per rank"),
        (lambda c: c.all_gather_v(np.zeros(3), [4, 4]), ValueError, r"x has length 3, but counts\[\d\] is 4"),
        (lambda c: c.all_gather_v(np.zeros(())), ValueError, "x is a scalar"),
        (lambda c: c.reduce_scatter_v(np.zeros(3, "f"), [1, 1]), ValueError, "counts add up to 2"),
        (lambda c: c.all_to_all_v([np.zeros(3)]), ValueError, "1 part, expected 2"),
        (lambda c: c.all_to_all_v([np.zeros((1, 2)), np.zeros((1, 3))]), ValueError, "may differ on axis 0 only"),
        (lambda c: c.send(np.zeros(3), c.rank), ValueError, r"the peer is rank (0|1), expected 0 to 1 and not \1 itself"),
        (lambda c: c.recv(5, np.zeros(3)), ValueError, "the peer is rank 5"),
        (lambda c: c.recv(1 - c.rank, [0]), TypeError, "out is a list, expected a numpy array"),
    ],
)  # fmt: skip
def test_calls_that_cannot_be(
    group_of: GroupOf, call: Callable[[aivops.Communicator], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        group_of(2).run(call)


def test_mismatches_name_both_calls(group_of: GroupOf) -> None:
    x = np.zeros(10, np.float32)
    for calls, text in (
        ((lambda c: c.all_reduce(x), lambda c: c.all_reduce(x, "max")), "float32, op sum.*float32, op max"),
        ((lambda c: c.broadcast(x, 0), lambda c: c.broadcast(x, 1)), "root 0.*root 1|root 1.*root 0"),
        (
            (lambda c: c.all_reduce(x), lambda c: c.barrier()),
            "rank 0 called all_reduce.*rank 1 called barrier",
        ),
        (
            (lambda c: c.send(x, 1), lambda c: c.recv(0, np.zeros(9, "f"))),
            "send/recv of 9 float32 from rank 0.*of 10",
        ),
    ):
        with pytest.raises(aivops.CallMismatchError, match=text):
            group_of(2).run(lambda comm, calls=calls: calls[comm.rank](comm))


def test_roots_that_wait_for_each_other_find_out(group_of: GroupOf) -> None:
    """Each tells another one than the one it hears, so no flag shows that they disagree."""
    for call in (
        lambda c: c.gather(np.zeros(3), (c.rank + 1) % 3),
        lambda c: c.broadcast(np.zeros(100_000), c.rank),
        lambda c: c.scatter(np.zeros((3, 2)), c.rank),
    ):
        with pytest.raises(
            aivops.CallMismatchError, match=r"rank \d called .* root \d.*rank \d called .* root \d"
        ):
            group_of(3).run(call)
    assert group_of(3).run(lambda c: c.barrier()) == [None] * 3
