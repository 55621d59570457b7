"""A rank that returns from group.run's function while others still wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable

import aivops
import numpy as np
import pytest


def test_the_others_are_told_soon(group_of: Callable[[int], aivops.LocalGroup]) -> None:
    group = group_of(3)

    def first_is_gone(comm: aivops.Communicator) -> None:
        if comm.rank != 0:
            comm.all_reduce(np.ones(5, np.float32))

    began = time.monotonic()
    with pytest.raises(aivops.PeerFailedError, match=r"rank 0 returned .* while rank [12] waits for it"):
        group.run(first_is_gone)
    assert time.monotonic() - began < 10
    total = group.run(lambda comm: comm.all_reduce(np.ones(1, np.float32))[0])  # the group goes on
    assert total == [3, 3, 3]


def test_a_call_fewer(group_of: Callable[[int], aivops.LocalGroup]) -> None:
    group = group_of(2)

    def one_call_fewer(comm: aivops.Communicator) -> None:
        for _ in range(5 - comm.rank):
            comm.barrier()

    with pytest.raises(aivops.PeerFailedError, match=r"rank 1 returned .* while rank 0 waits for it"):
        group.run(one_call_fewer)


def test_who_leaves_work_behind_is_no_reason(group_of: Callable[[int], aivops.LocalGroup]) -> None:
    """Rank 0 only queues its part; rank 1 comes much later and needs it."""
    group = group_of(2)

    def late(comm: aivops.Communicator) -> aivops.Work | np.ndarray:
        x = aivops.Buffer(aivops.Device(comm.rank), 4, "int32")
        x.copy_from(np.full(4, comm.rank + 1, np.int32))
        if comm.rank == 0:
            return comm.all_reduce(x, async_op=True)
        time.sleep(1)
        return comm.all_reduce(x).to_numpy()

    work, array = group.run(late)
    assert array.tolist() == work.wait().to_numpy().tolist() == [3] * 4


def test_a_slow_rank_is_waited_for(group_of: Callable[[int], aivops.LocalGroup]) -> None:
    """The fast ranks wait for one that works on the host; another has what it needs and returns."""
    group = group_of(3)

    def slow(comm: aivops.Communicator) -> list[int]:
        if comm.rank == 2:
            time.sleep(1)
        return comm.broadcast(np.array([comm.rank + 7]), root=0).tolist()

    assert group.run(slow) == [[7]] * 3
