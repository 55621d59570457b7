"""What crosses between ranks, counted by owner of the address, and what the counting would notice."""

from __future__ import annotations

import time
from collections.abc import Callable

import aivops
import numpy as np
import pytest
from aivops._traffic import Traffic, remote_traffic
from collectives.mutants import Mutants

GroupOf = Callable[[int], aivops.LocalGroup]


def traffic_of(group: aivops.LocalGroup, call: Callable[[aivops.Communicator], object]) -> list[Traffic]:
    """What each rank's kernels read from and wrote to other devices during `call`."""
    before = [remote_traffic(rank) for rank in range(group.size)]
    group.run(call)
    after = [remote_traffic(rank) for rank in range(group.size)]
    return [
        Traffic(*(new - old for old, new in zip(first, last, strict=True)))
        for first, last in zip(before, after, strict=True)
        if first is not None and last is not None
    ]


def scatter(comm: aivops.Communicator, x: np.ndarray) -> np.ndarray:
    if comm.rank == 0:
        return comm.scatter(x.reshape(comm.size, -1))
    return comm.scatter(None, shape=(x.size // comm.size,), dtype=x.dtype)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 1000, 300_001])
def test_every_rank_reads_what_the_others_have_once(group_of: GroupOf, ranks: int, count: int) -> None:
    traffic = traffic_of(group_of(ranks), lambda comm: comm.all_gather(np.ones(count, np.int16)))
    assert [t.read_bytes for t in traffic] == [(ranks - 1) * count * 2] * ranks


# Bytes that must cross between n ranks for a message of S bytes in parts of B = S / n, in all and, where the
# ranks divide the message, into each rank (root first, root being rank 0). One-shot all_reduce is for short messages.
BOUNDS: dict[
    str, tuple[Callable[[aivops.Communicator, np.ndarray], object], Callable[[int, int], list[int]]]
] = {
    "all_reduce": (lambda c, x: c.all_reduce(x), lambda n, s: [2 * (n - 1) * s // n] * n),
    "reduce_scatter": (lambda c, x: c.reduce_scatter(x), lambda n, s: [(n - 1) * s // n] * n),
    "all_to_all": (lambda c, x: c.all_to_all(x.reshape(c.size, -1)), lambda n, s: [(n - 1) * s // n] * n),
    "broadcast": (lambda c, x: c.broadcast(x), lambda n, s: [0, *[s] * (n - 1)]),
    "scatter": (scatter, lambda n, s: [0, *[s // n] * (n - 1)]),
    "gather": (lambda c, x: c.gather(x), lambda n, s: [(n - 1) * s, *[0] * (n - 1)]),
    "reduce": (lambda c, x: c.reduce(x), lambda n, s: [(n - 1) * s, *[0] * (n - 1)]),
    "barrier": (lambda c, x: c.barrier(), lambda n, s: [0] * n),
}


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("operator", BOUNDS)
def test_traffic_is_the_least_there_can_be(group_of: GroupOf, operator: str, ranks: int) -> None:
    call, bound = BOUNDS[operator]
    x = np.ones(ranks * 25_003, np.float32)
    traffic = traffic_of(group_of(ranks), lambda comm: call(comm, x))
    assert [t.read_bytes for t in traffic] == bound(ranks, x.nbytes)


def test_one_shot_takes_everything_from_everybody(group_of: GroupOf) -> None:
    x = np.ones(1000, np.float32)
    traffic = traffic_of(group_of(4), lambda comm: comm.all_reduce(x, algorithm="one_shot"))
    assert [t.read_bytes for t in traffic] == [3 * x.nbytes] * 4


@pytest.mark.parametrize("operator", ["all_reduce", "broadcast"])
def test_total_traffic_when_ranks_do_not_divide(group_of: GroupOf, operator: str) -> None:
    call, _ = BOUNDS[operator]
    x = np.ones(50_021, np.float32)
    traffic = traffic_of(group_of(8), lambda comm: call(comm, x))
    assert sum(t.read_bytes for t in traffic) == (14 if operator == "all_reduce" else 7) * x.nbytes


def test_send_and_receive_cross_once(group_of: GroupOf) -> None:
    x = np.ones(12_345, np.int16)

    def call(comm: aivops.Communicator) -> None:
        if comm.rank == 0:
            comm.send(x, 1)
        else:
            comm.recv(0, np.empty_like(x))

    assert [t.read_bytes for t in traffic_of(group_of(2), call)] == [0, x.nbytes]


@pytest.mark.parametrize(("blocks", "count", "lanes"), [(1, 0, 1), (1, 1000, 1), (4, 4096, 4), (4, 512, 1)])
def test_signals_per_rank(blocks: int, count: int, lanes: int) -> None:
    """One flag of 32 bytes per peer, lane and step; blocks without data send none. Nothing else is written."""
    with aivops.LocalGroup(4, blocks=blocks) as group:
        traffic = traffic_of(group, lambda comm: comm.all_gather(np.ones(count, np.uint8)))
    assert [(t.small_writes, t.written_bytes) for t in traffic] == [(3 * lanes, 3 * lanes * 32)] * 4


def test_nobody_polls_over_a_link(group_of: GroupOf) -> None:
    def late(comm: aivops.Communicator) -> None:
        time.sleep(0.05 * (comm.rank == 1))
        comm.all_gather(np.ones(10))

    assert [t.poll_bytes for t in traffic_of(group_of(3), late)] == [0, 0, 0]


def test_a_kernel_that_reads_peers_twice_shows_twice(mutants: Mutants) -> None:
    copy = "tiles.copy(output + peer * count + offset, lane.stage<T>(peer), length);"
    name = mutants.all_gather("reads_twice", {"kernels/all_gather.asc": [(copy, copy + copy)]})
    with aivops.LocalGroup(4, kernels=name) as group:
        traffic = traffic_of(group, lambda comm: comm.all_gather(np.ones(5000, np.uint8)))
    assert [t.read_bytes for t in traffic] == [2 * 3 * 5000] * 4


def test_a_constant_tag_is_noticed(mutants: Mutants) -> None:
    """A flag of an earlier call satisfies the wait, and a rank that runs ahead takes old data."""
    assert stale_rows("aivops") == 0
    name = mutants.all_gather(
        "constant_tag", {"include/aivops/lane.h": [("next_step() { ++tag_; }", "next_step() { tag_ = 1; }")]}
    )
    assert stale_rows(name) > 0


def stale_rows(kernels: str) -> int:
    """How many rows of other calls rank 0 gets in ten calls while rank 1 is late."""

    def call(comm: aivops.Communicator) -> int:
        stale = 0
        for number in range(10):
            if comm.rank == 1:
                time.sleep(0.01)
            result = comm.all_gather(np.full(100, number))
            stale += int((result[:, 0] != number).sum())
        return stale

    with aivops.LocalGroup(2, kernels=kernels) as group:
        return group.run(call)[0]
