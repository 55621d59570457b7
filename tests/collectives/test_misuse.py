"""Groups, buffers and handles used in ways that once hung or gave wrong data without a word."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aivops
import numpy as np
import pytest

GroupOf = Callable[[int], aivops.LocalGroup]


def test_swapped_bytes_are_refused() -> None:
    device = aivops.Device(0)
    buffer = aivops.Buffer(device, 3, "int32")
    with pytest.raises(TypeError, match="bytes are swapped"):
        aivops.Buffer.from_host(device, np.arange(3, dtype=">i4"))
    with pytest.raises(TypeError, match="bytes are swapped"):
        buffer.copy_from(np.arange(3, dtype=">i4"))
    with pytest.raises(TypeError, match="bytes are swapped"):
        buffer.to_numpy(np.zeros(3, ">i4"))


def test_a_handle_fails_as_often_as_it_is_waited_for() -> None:
    with aivops.LocalGroup(2) as group:
        work = group.communicators[0].all_reduce(np.ones(4, np.float32), async_op=True, timeout=0.2)
        for _ in range(2):
            with pytest.raises(aivops.PeerTimeoutError):
                work.wait()


def test_threads_that_wait_for_one_handle_get_the_same() -> None:
    with aivops.LocalGroup(2) as group, ThreadPoolExecutor(2) as pool:
        first, second = group.communicators
        work = first.all_reduce(np.ones(4, np.float32), async_op=True)
        waits = [pool.submit(work.wait) for _ in range(2)]
        time.sleep(0.1)
        assert not any(wait.done() for wait in waits)
        second.all_reduce(np.ones(4, np.float32), async_op=True).wait()
        results = [wait.result() for wait in waits]
        assert results[0] is results[1] is work.wait()
        assert results[0].tolist() == [2.0] * 4


def test_an_interrupted_wait_can_be_repeated() -> None:
    # Programs that a shell starts in the background ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupt_a_wait()
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt_a_wait() -> None:
    with aivops.LocalGroup(2) as group:
        first, second = group.communicators
        work = first.all_reduce(np.ones(4, np.float32), async_op=True)
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work.wait()
        timer.join()
        second.all_reduce(np.ones(4, np.float32), async_op=True).wait()
        assert work.wait().tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([3.7, 3.2], "expected whole numbers"),
        (["3", "3"], "expected whole numbers"),
        ([[3], [3, 3]], "expected whole numbers"),
        ([3, 2**64], "expected whole numbers"),
        ([3, 2**62], "more than any memory holds"),
        ([3], "expected 2 lengths, one per rank"),
    ],
)
def test_counts_that_are_none(group_of: GroupOf, counts: list[Any], words: str) -> None:
    x = np.ones(3, np.float32)
    for call in (
        lambda comm: comm.all_gather_v(x, counts),
        lambda comm: comm.reduce_scatter_v(x, counts),
    ):
        with pytest.raises(aivops.InvalidValueError, match=words):
            group_of(2).run(call)
    with pytest.raises(aivops.InvalidValueError, match="expected whole numbers"):
        group_of(2).run(lambda comm: comm.all_to_all_v([x, x], np.full((2, 2), 3.5)))


def overlapping_reduce(comm: aivops.Communicator) -> None:
    both = aivops.Buffer(comm.device, 100, "float32")
    comm.all_reduce(both[:50], out=both[8:58])


def first_part_of_a_longer_reduce_scatter(comm: aivops.Communicator) -> None:
    """Where rank 1's part is longer than rank 0's, its result would lie on what other lanes still read."""
    x = aivops.Buffer(comm.device, 50, "int32")
    comm.reduce_scatter_v(x, [10, 40], out=x[: 10 + 30 * comm.rank])


def other_row_of_gathered(comm: aivops.Communicator) -> None:
    out = aivops.Buffer(comm.device, (2, 10), "int32")
    comm.all_gather(out[1 - comm.rank], out=out)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (overlapping_reduce, "out and x share 168 bytes at different places; .* or x itself as out"),
        (first_part_of_a_longer_reduce_scatter, "share 160 bytes .* or this rank's own part of x as out"),
        (other_row_of_gathered, "share 40 bytes .* or this rank's own part of out as x"),
    ],
)
def test_overlapping_buffers_are_refused(
    group_of: GroupOf, call: Callable[[aivops.Communicator], None], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        group_of(2).run(call)


def test_own_row_of_the_result_may_be_the_input(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> list[int]:
        out = aivops.Buffer(comm.device, (2, 1), "int32")
        row = out[comm.rank]
        row.copy_from(np.array([comm.rank + 5], np.int32))
        comm.all_gather(row, out=out)
        return out.to_numpy().ravel().tolist()

    assert group_of(2).run(call) == [[5, 6], [5, 6]]


class MuteError(Exception):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("make", [lambda: ValueError("bad \udcff"), MuteError])
def test_an_exception_without_text_stops_the_others(group_of: GroupOf, make: Callable[[], Exception]) -> None:
    error = make()  # here, not in the parameters: its traceback would keep the group until pytest ends

    def call(comm: aivops.Communicator) -> None:
        if comm.rank == 1:
            raise error
        comm.barrier(timeout=30)

    with pytest.raises(type(error)) as raised:
        group_of(2).run(call)
    assert raised.value is error


def test_ranks_do_not_run_the_group(group_of: GroupOf) -> None:
    group = group_of(2)
    with pytest.raises(ValueError, match="called by one of the group's own ranks"):
        group.run(lambda comm: group.run(lambda inner: inner.rank))
    with pytest.raises(ValueError, match="called by one of the group's own ranks"):
        group.run(lambda comm: group.close())
    assert group.run(lambda comm: comm.rank) == [0, 1]


def test_two_callers_take_turns(group_of: GroupOf) -> None:
    group = group_of(2)
    sums: list[float] = []

    def call() -> None:
        for _ in range(20):
            sums.extend(group.run(lambda comm: float(comm.all_reduce(np.ones(1, np.float32), timeout=30)[0])))

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert sums == [2.0] * 80


def test_a_forked_child_may_not_run_the_group(group_of: GroupOf) -> None:
    group = group_of(2)
    group.run(lambda comm: comm.barrier())
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            group.run(lambda comm: comm.rank)
        except aivops.errors.ForkError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert "forked after the group was made" in pipe.read()
    os.waitpid(child, 0)


def test_a_stream_of_another_device_is_refused(group_of: GroupOf) -> None:
    stream = aivops.Stream(aivops.Device(0))

    def call(comm: aivops.Communicator) -> None:
        comm.all_reduce(np.ones(1, np.float32), stream=stream)

    with pytest.raises(ValueError, match="rank 1: the stream is one of device 0"):
        group_of(2).run(call)


def test_communicators_of_a_closed_group_say_so() -> None:
    group = aivops.LocalGroup(2)
    comm = group.communicators[0]
    group.close()
    with pytest.raises(aivops.PeerFailedError, match="the group was closed"):
        comm.barrier()


CALLS: dict[str, Callable[[aivops.Communicator, aivops.Buffer], object]] = {
    "all_reduce": lambda comm, array: comm.all_reduce(array),
    "empty": lambda comm, array: comm.empty(4),
    "register": lambda comm, array: comm.register(array),
    "unregister": lambda comm, array: comm.unregister(array),
    "windows": lambda comm, array: comm.windows,
}


def test_closed_communicators_of_a_group_stay_closed() -> None:
    with aivops.LocalGroup(2) as group:
        array = aivops.Buffer(aivops.Device(0), 4)
        group.run(lambda comm: comm.close())
        for _ in range(2):  # a run that fails makes nothing usable again
            for call in CALLS.values():
                with pytest.raises(
                    aivops.PeerFailedError, match="rank 0 stopped because the communicator was closed"
                ):
                    group.run(lambda comm, call=call: call(comm, array))
