"""Groups: results in rank order, failures of a rank, bad arguments, and calls that do not match."""

from __future__ import annotations

import copy
import pickle
import re
import threading
import time
from collections.abc import Callable

import aivops
import numpy as np
import pytest
from collectives.tags import flag_place

GroupOf = Callable[[int], aivops.LocalGroup]


def test_results_come_in_rank_order(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> tuple[int, int]:
        time.sleep(0.01 * (comm.size - comm.rank))
        return comm.rank, comm.size

    assert group_of(4).run(call) == [(rank, 4) for rank in range(4)]


@pytest.mark.parametrize("use", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_is_one_owner(use: Callable[[object], object]) -> None:
    with aivops.LocalGroup(2) as group:
        works = group.run(lambda comm: comm.all_reduce(np.ones(4, np.float32), async_op=True))
        for one, words in (
            (group, "LocalGroup: it can be neither copied nor pickled; every process makes its own"),
            (group.communicators[0], "Communicator: it can be neither copied nor pickled; every rank makes"),
            (works[0], r"Work: it can be neither copied nor pickled; pass on what wait\(\) returns"),
        ):
            with pytest.raises(aivops.InvalidTypeError, match=words):
                use(one)
        for work in works:
            work.wait()


def test_what_is_shown() -> None:
    with aivops.LocalGroup(2) as group:
        assert repr(group) == "<aivops.LocalGroup of 2 ranks>"
        assert repr(group.communicators[1]) == "<aivops.Communicator rank 1 of 2>"
        works = group.run(lambda comm: comm.barrier(async_op=True, blocks=1))
        assert repr(works[0]).endswith(" on 1 block, not waited for yet>")
        works[0].wait()
        assert repr(works[0]).endswith(" on 1 block, waited for>")
        works[1].wait()
    assert repr(group) == "<aivops.LocalGroup, closed>"


def test_a_coroutine_would_not_run(group_of: GroupOf) -> None:
    async def call(comm: aivops.Communicator) -> None:
        comm.barrier()

    with pytest.raises(aivops.InvalidTypeError, match="function is a coroutine function, expected one that"):
        group_of(2).run(call)


def test_no_ranks() -> None:
    with pytest.raises(ValueError, match="LocalGroup: size is 0, expected 1 to 64"):
        aivops.LocalGroup(0)


def test_more_ranks_than_devices() -> None:
    words = "LocalGroup: size is 9, expected 1 to 8, the number of devices: .*; AIVOPS_EMU_DEVICES gives more"
    with pytest.raises(ValueError, match=words):
        aivops.LocalGroup(9)


def test_more_ranks_than_any_group_has() -> None:
    with pytest.raises(ValueError, match="LocalGroup: size is 65, expected 1 to 64"):
        aivops.LocalGroup(65)


def test_more_blocks_than_cores() -> None:
    with pytest.raises(ValueError, match=r"Communicator: 4096 blocks, but a device has \d+ vector cores"):
        aivops.LocalGroup(2, blocks=4096)


def test_window_too_small() -> None:
    with pytest.raises(ValueError, match=r"window_bytes is 1000, expected at least \d+ for 2 ranks"):
        aivops.LocalGroup(2, window_bytes=1000)


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_timeout_must_be_positive(timeout: float) -> None:
    with pytest.raises(ValueError, match=r"timeout: .* is not a time limit"):
        aivops.LocalGroup(2, timeout=timeout)


def test_a_rank_that_raises_stops_the_others(group_of: GroupOf) -> None:
    group = group_of(4)
    seen = []

    def call(comm: aivops.Communicator) -> None:
        if comm.rank == 2:
            raise KeyError("lost")
        try:
            comm.all_gather(np.zeros(10))
        except aivops.PeerFailedError as error:
            seen.append(str(error))
            raise

    started = time.perf_counter()
    with pytest.raises(KeyError, match="lost") as caught:
        group.run(call)
    assert time.perf_counter() - started < 5
    assert caught.value.rank == 2  # type: ignore[attr-defined]
    assert "raised by rank 2" in caught.value.__notes__
    assert len(seen) == 3
    assert all("because rank 2 raised KeyError: 'lost'" in text for text in seen)
    # And the group goes on.
    assert all(np.array_equal(r, np.arange(4)) for r in group.run(lambda comm: comm.all_gather(comm.rank)))


def test_unequal_lengths_are_told_with_both_calls(group_of: GroupOf) -> None:
    with pytest.raises(
        ValueError, match=r"rank 0 called all_gather of 10 float32.*rank 1 called all_gather of 11 float32"
    ):
        group_of(2).run(lambda comm: comm.all_gather(np.zeros(10 + comm.rank, np.float32)))


def test_nothing_against_something_is_a_mismatch(group_of: GroupOf) -> None:
    with pytest.raises(
        aivops.CallMismatchError,
        match=r"rank \d called all_gather of 0 int8.*called all_gather of 900000 int8",
    ):
        group_of(4).run(lambda comm: comm.all_gather(np.zeros(900_000 if comm.rank == 3 else 0, np.int8)))


def test_unequal_types_are_told_with_both_calls(group_of: GroupOf) -> None:
    types = (np.float32, np.int32)
    with pytest.raises(
        ValueError, match=r"rank 0 called all_gather of 10 float32.*rank 1 called all_gather of 10 int32"
    ):
        group_of(2).run(lambda comm: comm.all_gather(np.zeros(10, types[comm.rank])))


def test_a_peer_that_never_comes() -> None:
    given_up = threading.Event()
    with aivops.LocalGroup(3, timeout=0.2) as group:

        def call(comm: aivops.Communicator) -> None:
            comm.all_gather(np.zeros(4))
            if comm.rank == 1:
                given_up.wait(60)
                return
            try:
                comm.all_gather(np.zeros(4))
            finally:
                given_up.set()

        with pytest.raises(aivops.PeerTimeoutError, match=r"rank [02] waited in vain for rank 1") as caught:
            group.run(call)
    error = caught.value
    assert isinstance(error, TimeoutError)
    # Ranks 0 and 2 wait equally long; the first to give up stops the other.
    assert error.rank in (0, 2)
    assert (error.peer, error.block, error.expected, error.found) == (1, 0, 2, 0)
    assert error.flag == flag_place(lane=0, tag=2, peer=1)
    assert re.search(
        rf"all_gather\(\): rank {error.rank} waited in vain for rank 1 \([\d.]+ s\): block 0 expected tag 2 in the flag "
        rf"at {error.flag:#x} of its window and found 0; see whether that rank made the same call",
        str(error),
    )


def test_a_receiver_whose_sender_never_comes() -> None:
    given_up = threading.Event()
    with aivops.LocalGroup(2, timeout=0.2) as group:

        def call(comm: aivops.Communicator) -> None:
            if comm.rank == 0:
                given_up.wait(60)
                return
            try:
                comm.recv(0, np.zeros(4))
            finally:
                given_up.set()

        with pytest.raises(aivops.PeerTimeoutError, match=r"rank 1 waited in vain for rank 0") as caught:
            group.run(call)
    error = caught.value
    assert (error.rank, error.peer, error.block, error.expected, error.found) == (1, 0, 0, 1, 0)


def test_a_limit_on_vector_cores_holds() -> None:
    device = aivops.Device(0)
    device.vector_core_limit = 3
    try:
        inputs = [np.arange(500_000) + rank for rank in range(2)]
        with aivops.LocalGroup(2) as group:
            results = group.run(lambda comm: comm.all_gather(inputs[comm.rank]))
        assert all(np.array_equal(result, np.stack(inputs)) for result in results)
        with pytest.raises(ValueError, match="4 blocks, but a device has 3 vector cores"):
            aivops.LocalGroup(2, blocks=4)
    finally:
        device.reset_vector_core_limit()


def test_a_closed_group_cannot_run() -> None:
    group = aivops.LocalGroup(1)
    group.close()
    group.close()
    with pytest.raises(ValueError, match="LocalGroup: it is closed"):
        group.run(lambda comm: comm.rank)


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (
            np.zeros(3, np.complex64),
            TypeError,
            "no kernel for arrays of complex64, expected one of bool, float16",
        ),
        (np.zeros(3, ">i4"), TypeError, "bytes are swapped"),
        (np.array(["a"]), TypeError, "no kernel for arrays of"),
    ],
)
def test_arrays_without_kernel(
    group_of: GroupOf, array: np.ndarray, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        group_of(2).run(lambda comm: comm.all_gather(array))


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (
            np.zeros((2, 4)),
            ValueError,
            r"out has shape \(2, 4\) and type float64, expected \(2, 3\) and float64",
        ),
        (np.zeros((2, 3), np.float32), ValueError, "type float32, expected .* float64"),
        (np.zeros((3, 2)).T, ValueError, "not a writable C-contiguous array"),
        ([[0] * 3] * 2, TypeError, "out is a list"),
    ],
)
def test_out_that_does_not_fit(group_of: GroupOf, out: np.ndarray, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        group_of(2).run(lambda comm: comm.all_gather(np.zeros(3), out=out))


def test_dtype_must_have_the_arrays_width(group_of: GroupOf) -> None:
    with pytest.raises(ValueError, match="dtype hifloat8 has 1 byte, of the array"):
        group_of(2).run(lambda comm: comm.all_gather(np.zeros(3, np.float32), dtype="hifloat8"))
