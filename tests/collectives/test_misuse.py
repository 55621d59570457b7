"""Groups, buffers and handles used in ways that once hung or gave wrong data without a word."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
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
        ([-1, 4], r"counts are \[-1, 4\], expected lengths of 0 or more"),
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


def test_rows_of_different_sizes_are_told(group_of: GroupOf) -> None:
    """Also where one call is queued: the ranks ask each other at once."""
    for call in (
        lambda comm, x: comm.all_gather_v(x),
        lambda comm, x: comm.all_gather_v(x, async_op=True),
        lambda comm, x: comm.all_to_all_v([x, x]),
    ):
        words = "a row of rank 0 has 3 elements, of rank 1 4; shapes may differ on axis 0 only"
        with pytest.raises(aivops.CallMismatchError, match=words) as raised:
            group_of(2).run(lambda comm, call=call: call(comm, np.ones((2, 3 + comm.rank))))
        assert (raised.value.rank, raised.value.peer) in {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (None, "all_reduce(): x is None, expected an array"),
        ({}, "all_reduce(): x is a dict, expected an array"),
        ([[1], [1, 2]], "all_reduce(): x is no array: "),
        (np.ma.masked_less(np.arange(4.0), 2), "all_reduce(): x is a masked array"),
        (np.ones(2, complex), "no kernel for arrays of complex128, expected one of bool, float16"),
    ],
    ids=["None", "dict", "ragged", "masked", "complex"],
)
def test_what_is_no_array(group_of: GroupOf, x: Any, words: str) -> None:
    with pytest.raises((aivops.InvalidTypeError, aivops.InvalidValueError), match=re.escape(words)):
        group_of(2).run(lambda comm: comm.all_reduce(x))


def test_results_in_masked_arrays(group_of: GroupOf) -> None:
    with pytest.raises(aivops.InvalidTypeError, match=r"all_reduce\(\): out is a masked array"):
        group_of(2).run(lambda comm: comm.all_reduce(np.ones(4), out=np.ma.zeros(4)))


def test_the_others_of_a_broadcast_pass_an_array_too(group_of: GroupOf) -> None:
    words = "x is None on a rank other than root, expected an array of the shape and type of root's"
    with pytest.raises(aivops.InvalidTypeError, match=words):
        group_of(2).run(lambda comm: comm.broadcast(None if comm.rank else np.ones(4)))


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


def test_windows_of_others_end_with_the_group() -> None:
    group = aivops.LocalGroup(2)
    part = group.communicators[0].windows[1][8:16]
    assert part.to_numpy().size == 8
    group.close()
    uses: list[Callable[[], object]] = [
        part.to_numpy,
        lambda: part.fill(0),
        lambda: part.pointer,
        lambda: part.copy_from(np.zeros(8, np.uint8)),
        lambda: aivops.Buffer(part.device, 8).copy_from(part),
        lambda: np.from_dlpack(part),
    ]
    for use in uses:
        with pytest.raises(aivops.InvalidValueError, match="no more, because the communicator is closed"):
            use()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_closes_learns_that_another_failed(rank: int) -> None:
    learnt = []

    def close_or_raise(comm: aivops.Communicator) -> None:
        if comm.rank != rank:
            time.sleep(0.3)
            raise KeyError("lost")
        try:
            comm.close()
        except aivops.PeerFailedError as error:
            learnt.append(str(error))
            raise

    with aivops.LocalGroup(2) as group:
        with pytest.raises(KeyError):
            group.run(close_or_raise)
        (text,) = learnt
        assert f"rank {rank} stopped because rank {1 - rank} raised KeyError: 'lost'" in text


class Alone:
    """A bootstrap of one rank, or of something that is none."""

    rank: Any = 0
    size: Any = 1

    def __init__(self, **members: Any) -> None:
        vars(self).update(members)

    def all_gather(self, data: bytes, /) -> Any:
        return [data]

    def barrier(self) -> None:
        pass


HUGE = 10**400


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: aivops.LocalGroup(-1), "LocalGroup: size is -1, expected 1 to 64"),
        (lambda: aivops.LocalGroup("2"), "LocalGroup: size is '2', expected a whole number"),
        (lambda: aivops.LocalGroup(2, timeout=HUGE), "LocalGroup: timeout is 1000.*, expected seconds"),
        (lambda: aivops.LocalGroup(2, timeout="1"), "LocalGroup: timeout is '1', expected seconds"),
        (lambda: aivops.LocalGroup(2, window_bytes=-1), "LocalGroup: window_bytes is -1, expected 1 to"),
        (lambda: aivops.LocalGroup(2, blocks=1.5), "LocalGroup: blocks is 1.5, expected a whole number"),
        (lambda: aivops.Communicator(3), "Communicator: bootstrap is 3, expected one with rank"),
        (lambda: aivops.Communicator(Alone(), device="x"), "Communicator: device is 'x', expected a num"),
        (lambda: aivops.Communicator(Alone(size=-1)), "Bootstrap: size is -1, expected 0 to"),
        (lambda: aivops.Communicator(Alone(rank="x")), "Bootstrap: rank is 'x', expected a whole number"),
        (
            lambda: aivops.Communicator(Alone(all_gather=lambda data: 3)),
            r"Bootstrap: all_gather\(\) returned an? int, expected the bytes of every rank",
        ),
        (
            lambda: aivops.Communicator(Alone(all_gather=lambda data: ["x"])),
            r"Bootstrap: all_gather\(\) returned a str among the parts of ranks, expected bytes",
        ),
        (
            lambda: aivops.Communicator.from_env(join_timeout=HUGE),
            r"from_env\(\): join_timeout is 1000.*, expected seconds",
        ),
        (lambda: aivops.Communicator.from_mpi(3), r"from_mpi\(\): comm is 3, expected a communicator of"),
    ],
)
def test_what_makes_no_communicator(make: Callable[[], object], words: str) -> None:
    with pytest.raises((aivops.InvalidTypeError, aivops.InvalidValueError), match=words):
        make()


ONES = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda comm: comm.all_gather(ONES, stream=3), "stream is 3, expected a Stream or None"),
        (lambda comm: comm.all_gather(ONES, timeout=HUGE), "timeout is 1000.*, expected seconds"),
        (lambda comm: comm.all_gather(ONES, timeout="x"), "timeout is 'x', expected seconds"),
        (lambda comm: comm.all_gather(ONES, blocks="x"), "blocks is 'x', expected a whole number"),
        (lambda comm: comm.all_gather(ONES, blocks=HUGE), "blocks is 1000.*, expected 1 to 65535"),
        (lambda comm: comm.all_gather(ONES, algorithm=3), "algorithm is 3, expected a name or None"),
        (lambda comm: comm.all_gather(ONES, out=3), "out is 3, expected a host array"),
        (lambda comm: comm.all_reduce(ONES, op=3), "op is 3, expected sum, prod, max or min"),
        (lambda comm: comm.broadcast(ONES, root="x"), "root is 'x', expected a whole number"),
        (lambda comm: comm.reduce(ONES, root=HUGE), "root is 1000.*, expected 0 to 1"),
        (lambda comm: comm.scatter(ONES, root=None), "root is None, expected a whole number"),
        (lambda comm: comm.send(ONES, None), "the peer is None, expected a whole number"),
        (lambda comm: comm.recv("x", ONES), "the peer is 'x', expected a whole number"),
        (lambda comm: comm.all_to_all_v(3), "parts is 3, expected a list of arrays"),
        (lambda comm: comm.plan("all_gather", "x"), "nbytes is 'x', expected a whole number"),
        (lambda comm: comm.empty("x"), "shape is 'x', expected a whole number or several"),
        (lambda comm: comm.register(3), "buffer is 3, expected a Buffer"),
    ],
)
def test_arguments_of_collectives(call: Callable[[aivops.Communicator], object], words: str) -> None:
    group = aivops.LocalGroup(2)
    try:
        with pytest.raises((aivops.InvalidTypeError, aivops.InvalidValueError), match=words):
            call(group.communicators[0])
    finally:
        group.close()


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


@pytest.mark.parametrize(
    ("shape", "dtype", "error"),
    [
        ("4", "int32", r"scatter\(\): shape is '4', expected a whole number or several"),
        (2.5, "int32", r"scatter\(\): shape is 2.5, expected a whole number or several"),
        ((-2,), "int32", r"scatter\(\): shape \(-2,\) has a negative extent"),
        ((2,), "floaty", r"scatter\(\): dtype 'floaty' is not an element type; known are bool, int8"),
    ],
)
def test_what_a_rank_cannot_be_scattered(shape: Any, dtype: Any, error: str) -> None:
    with aivops.LocalGroup(2) as group, pytest.raises(aivops.Error, match=error):
        group.communicators[1].scatter(None, shape=shape, dtype=dtype)


def test_scatter_of_a_type_that_nobody_has_imported_yet() -> None:
    """numpy knows bfloat16 by name only once ml_dtypes is imported."""
    program = """
import sys, threading, aivops, numpy as np
launched = threading.Barrier(2)
def rank(comm):
    if comm.rank == 1:
        assert "ml_dtypes" not in sys.modules
        work = comm.scatter(None, shape=(3,), dtype="bfloat16", async_op=True)
        launched.wait()
        return work.wait().view(np.uint16).tolist()
    launched.wait()
    import ml_dtypes
    comm.scatter(np.arange(6, dtype=np.uint16).reshape(2, 3).view(ml_dtypes.bfloat16))
with aivops.LocalGroup(2) as group:
    print(group.run(rank)[1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[3, 4, 5]\n", done.stderr
