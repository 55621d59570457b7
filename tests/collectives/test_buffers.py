"""Collectives on device memory: Buffers in and out, streams, calls in flight, windows and the wrap of tags."""

from __future__ import annotations

import time
from collections.abc import Callable

import aivops
import ml_dtypes
import numpy as np
import pytest
from collectives.reference import fold, numbers, same
from collectives.tags import channel_tags, set_channel_tags, set_tags, tag_of

GroupOf = Callable[[int], aivops.LocalGroup]


def test_buffers_in_and_out(group_of: GroupOf) -> None:
    inputs = [numbers((6, 1000), ml_dtypes.bfloat16, rank) for rank in range(3)]

    def call(comm: aivops.Communicator) -> bool:
        x = aivops.Buffer.from_host(comm.device, inputs[comm.rank])
        out = aivops.Buffer(comm.device, (6, 1000), ml_dtypes.bfloat16)
        right = same(comm.all_gather(x).to_numpy(), np.stack(inputs))
        right &= comm.all_reduce(x, out=out) is out
        right &= same(out.to_numpy(), fold(inputs, "sum"))
        right &= same(comm.reduce_scatter(x, "max").to_numpy(), np.split(fold(inputs, "max"), 3)[comm.rank])
        right &= same(comm.broadcast(x, 2).to_numpy(), inputs[2])
        rows = comm.all_gather_v(x[: comm.rank])
        right &= all(same(row.to_numpy(), inputs[rank][:rank]) for rank, row in enumerate(rows))
        comm.all_reduce(x, "prod", out=x)
        return right and same(x.to_numpy(), fold(inputs, "prod"))

    assert all(group_of(3).run(call))


@pytest.mark.parametrize("blocks", [1, 5, 40])
def test_results_in_the_own_part_of_the_input(group_of: GroupOf, blocks: int) -> None:
    """Parts of different lengths, through several steps of several lanes."""
    lengths = [3000, 150_000, 20_000]
    inputs = [numbers((sum(lengths),), np.int32, rank) for rank in range(3)]
    parts = np.split(fold(inputs, "sum"), np.cumsum(lengths)[:-1])

    def call(comm: aivops.Communicator) -> bool:
        x = aivops.Buffer.from_host(comm.device, inputs[comm.rank])
        begin = sum(lengths[: comm.rank])
        out = x[begin : begin + lengths[comm.rank]]
        comm.reduce_scatter_v(x, lengths, out=out, blocks=blocks)
        return same(out.to_numpy(), parts[comm.rank])

    assert all(group_of(3).run(call))


def test_many_calls_in_flight(group_of: GroupOf) -> None:
    """No rank waits for anything before the last call is queued, and ranks queue at different speeds."""

    def call(comm: aivops.Communicator) -> bool:
        works = []
        for number in range(30):
            time.sleep(0.001 * ((comm.rank + number) % 3 == 0))
            works.append(comm.all_gather(np.full(200, 10 * number + comm.rank), async_op=True))
        return all(
            (work.wait()[:, 7] == 10 * number + np.arange(comm.size)).all()
            for number, work in enumerate(works)
        )

    assert all(group_of(4).run(call))


def test_work_gives_its_result_twice(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> bool:
        work = comm.all_reduce(np.ones(3, np.float32), async_op=True)
        return work.wait() is work.wait()

    assert all(group_of(2).run(call))


def test_calls_follow_what_their_stream_does(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> bool:
        stream = aivops.Stream(comm.device)
        first = aivops.Buffer.from_host(comm.device, np.full(50_000, comm.rank, np.int32))
        x = aivops.Buffer.from_host(comm.device, np.full(50_000, 99, np.int32))
        x.copy_from(first, stream=stream)
        total = comm.all_reduce(x, stream=stream)
        return bool((total.to_numpy() == 3).all())

    assert all(group_of(3).run(call))


def test_two_groups_on_one_stream() -> None:
    with aivops.LocalGroup(2) as one, aivops.LocalGroup(2) as other:

        def call(comm: aivops.Communicator) -> bool:
            stream = aivops.Stream(comm.device)
            second = other.communicators[comm.rank]
            works = []
            for number in range(10):
                x = np.array([number + comm.rank])
                works.append(comm.all_gather(x, stream=stream, async_op=True))
                works.append(second.all_gather(-x, stream=stream, async_op=True))
            results = [work.wait() for work in works]
            return all(
                np.array_equal(result.ravel(), sign * np.array([number // 2, number // 2 + 1]))
                for number, (result, sign) in enumerate(zip(results, [1, -1] * 10, strict=True))
            )

        assert all(one.run(call))


def test_a_mismatch_is_raised_where_the_result_is_waited_for(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> None:
        work = comm.all_gather(np.zeros(3 + comm.rank), async_op=True)
        with pytest.raises(
            aivops.CallMismatchError, match=r"all_gather of [34] float64.*all_gather of [34] float64"
        ):
            work.wait()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        group_of(2).run(call)


def test_a_buffer_of_another_device_is_refused(group_of: GroupOf) -> None:
    with pytest.raises(
        ValueError, match=r"all_gather\(\): input is a Buffer of 12 bytes on device 0, expected 12 bytes on"
    ):
        group_of(2).run(lambda comm: comm.all_gather(aivops.Buffer(aivops.Device(0), 3, "float32")))


def test_out_is_where_x_is(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> None:
        comm.all_reduce(aivops.Buffer(comm.device, 3, "float32"), out=np.zeros(3, np.float32))

    with pytest.raises(TypeError, match="out is a ndarray, expected a Buffer, as x is"):
        group_of(2).run(call)


def test_tags_wrap_around() -> None:
    """Calls go on when the 32-bit tag of a lane passes its largest value."""
    with aivops.LocalGroup(3, blocks=2) as group:
        set_tags(group, 2**32 - 3)

        def call(comm: aivops.Communicator) -> bool:
            return all(
                (
                    comm.all_gather(np.full(2000, 8 * number + comm.rank))[:, -1] == 8 * number + np.arange(3)
                ).all()
                for number in range(7)
            )

        assert all(group.run(call))
        tags = [tag_of(comm, lane) for comm in group.communicators for lane in range(2)]
    assert tags == [4] * 6


def test_tags_of_channels_wrap_around() -> None:
    """Messages of several pieces each, both ways."""
    with aivops.LocalGroup(2, blocks=2, window_bytes=400_000) as group:
        set_channel_tags(group, 2**32 - 3)

        def call(comm: aivops.Communicator) -> bool:
            right = True
            for number in range(6):
                x, out = np.full(9000, 8 * number + comm.rank), np.empty(9000, np.int64)
                comm.send(x, 1) if comm.rank == 0 else comm.recv(0, out)
                right &= comm.rank == 0 or bool((out == 8 * number).all())
                comm.recv(1, out) if comm.rank == 0 else comm.send(x, 0)
                right &= comm.rank == 1 or bool((out == 8 * number + 1).all())
            return right

        assert group.run(call) == [True, True]
        for comm in group.communicators:
            assert all(0 < tag < 1000 for tag in channel_tags(comm, 1 - comm.rank))
