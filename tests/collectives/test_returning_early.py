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


def make_one(comm: aivops.Communicator) -> None:
    comm.empty(4, "int32")


def register_one(comm: aivops.Communicator) -> None:
    comm.register(aivops.Buffer(comm.device, 4, "int32"))


def close(comm: aivops.Communicator) -> None:
    comm.close()


@pytest.mark.parametrize("meet", [make_one, register_one, close])
def test_who_meets_the_others_is_told_soon(meet: Callable[[aivops.Communicator], None]) -> None:
    """Where memory is shared or given back; the group goes on, until all close."""
    with aivops.LocalGroup(3) as group:
        began = time.monotonic()
        with pytest.raises(aivops.PeerFailedError, match=r"rank 0 returned .* while rank 1 waits for it"):
            group.run(lambda comm: meet(comm) if comm.rank else None)
        assert time.monotonic() - began < 10
        shapes = group.run(lambda comm: comm.all_reduce(comm.empty(4, "int32")).shape)
        assert shapes == [(4,)] * 3
        assert group.run(close) == [None] * 3


@pytest.mark.parametrize("meet", [make_one, close])
def test_the_timeout_bounds_meetings(meet: Callable[[aivops.Communicator], None]) -> None:
    with aivops.LocalGroup(2, timeout=0.3) as group:

        def late(comm: aivops.Communicator) -> None:
            if comm.rank == 0:
                time.sleep(1.5)
            meet(comm)

        with pytest.raises(
            aivops.BootstrapTimeoutError, match=r"rank 1 waited for rank 0 for 0\.3 s in vain"
        ):
            group.run(late)


def test_work_that_is_done_is_not_waited_for(group_of: Callable[[int], aivops.LocalGroup]) -> None:
    group = group_of(2)
    works = []

    def queue_and_leave(comm: aivops.Communicator) -> None:
        stream = aivops.Stream(comm.device)
        work = comm.all_reduce(aivops.Buffer(comm.device, 4, "int32"), async_op=True, stream=stream)
        if comm.rank == 0:
            work.wait()
            comm.barrier(timeout=60)
        works.append(work)

    began = time.monotonic()
    with pytest.raises(aivops.PeerFailedError, match=r"rank 1 returned .* while rank 0 waits for it"):
        group.run(queue_and_leave)
    assert time.monotonic() - began < 10
