"""Memory that ranks registered: whose it is, how long it stays, and what calls make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aivops
import numpy as np
import pytest
from aivops._bootstrap import LocalBootstrap, LocalMeeting
from collectives.reference import fold, numbers, same

GroupOf = Callable[[int], aivops.LocalGroup]
COUNT = 70_001  # more than the table has go through stages


def reads_in_place(comm: aivops.Communicator, x: aivops.Buffer, expected: np.ndarray) -> bool:
    """Whether an all_gather of `x` is right and reads it where it lies, unasked."""
    gathered = comm.all_gather(x)
    assert comm.last_plan is not None
    return same(gathered.to_numpy(), expected) and comm.last_plan.algorithm == "direct"


def test_any_part_of_a_registered_buffer(group_of: GroupOf) -> None:
    inputs = [numbers((COUNT,), np.int16, rank) for rank in range(3)]

    def call(comm: aivops.Communicator) -> bool:
        mine = aivops.Buffer(comm.device, (4, 2 * COUNT), "int16")
        assert comm.register(mine) is mine
        assert comm.register(mine[1]) is not mine  # it is there already
        begin = 17 * comm.rank  # at another place on every rank
        x = mine[comm.rank + 1][begin : begin + COUNT]
        x.copy_from(inputs[comm.rank])
        return reads_in_place(comm, x, np.stack(inputs))

    assert all(group_of(3).run(call))


def test_inputs_may_be_written_as_soon_as_a_call_returns(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> bool:
        x, out = comm.empty(COUNT, "int32"), comm.empty((comm.size, COUNT), "int32")
        right = True
        for turn in range(20):
            x.copy_from(np.full(COUNT, 10 * turn + comm.rank, np.int32))
            comm.all_gather(x, out=out)
            x.fill(255)
            right &= bool((out.to_numpy() == 10 * turn + np.arange(comm.size)[:, None]).all())
        return right

    assert all(group_of(4).run(call))


def test_dropped_buffers_give_their_place_back() -> None:
    """There are 64 places; what nobody holds on any rank is freed by the next registration."""
    with aivops.LocalGroup(2) as group:

        def call(comm: aivops.Communicator) -> int:
            kept = comm.empty(COUNT, "int16")
            kept.fill(1)
            for _ in range(200):
                comm.empty(1000).fill(0)
            return int(reads_in_place(comm, kept, np.full((2, COUNT), 257, np.int16)))

        assert group.run(call) == [1, 1]


def test_there_is_room_for_64_arrays() -> None:
    """The 65th is refused on every rank and changes nothing; unregister() makes room at once."""
    full = "64 arrays are registered, and there is no room for another; drop or unregister one on every rank"
    with aivops.LocalGroup(2) as group:

        def call(comm: aivops.Communicator) -> list[bool]:
            held = [comm.empty(COUNT, "int16") for _ in range(64)]
            for refused in (lambda: comm.empty(8), lambda: comm.register(aivops.Buffer(comm.device, 8))):
                with pytest.raises(aivops.InvalidValueError, match=full):
                    refused()
            assert comm.register(held[63][:9]) is not None  # it is there already
            comm.unregister(held[20])
            held[20] = comm.empty(COUNT, "int16")
            with pytest.raises(aivops.InvalidValueError, match=full):
                comm.empty(8)
            for array in (held[0], held[20], held[63]):
                array.fill(comm.rank)
            rows = np.stack([np.full(COUNT, 257 * rank, np.int16) for rank in range(2)])
            return [reads_in_place(comm, array, rows) for array in (held[0], held[20], held[63])]

        assert group.run(call) == [[True] * 3] * 2


def test_a_buffer_that_one_rank_still_holds_stays() -> None:
    with aivops.LocalGroup(2) as group:
        x = group.run(lambda comm: comm.empty(COUNT, "int16"))
        x[1] = aivops.Buffer(aivops.Device(1), COUNT, "int16")  # rank 1 drops its own
        group.run(lambda comm: comm.empty(3))
        with pytest.raises(
            aivops.CallMismatchError, match=r"algorithm (direct|mesh).*algorithm (direct|mesh)"
        ):
            group.run(lambda comm: comm.all_gather(x[comm.rank]))


def test_what_is_unregistered_is_read_no_more(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> list[str]:
        x = comm.empty(COUNT)
        x.fill(0)
        algorithms = []
        for change in (lambda: None, lambda: comm.unregister(x), lambda: comm.register(x)):
            change()
            comm.all_gather(x)
            assert comm.last_plan is not None
            algorithms.append(comm.last_plan.algorithm)
        return algorithms

    assert group_of(2).run(call) == [["direct", "mesh", "direct"]] * 2


def test_all_ranks_learn_what_failed_on_one(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> None:
        comm.empty(1 << 50 if comm.rank == 1 else 8, "uint8")

    with pytest.raises(aivops.AclError) as caught:
        group_of(2).run(call)
    assert caught.value.rank == 1  # type: ignore[attr-defined]
    assert all(group_of(2).run(lambda comm: comm.barrier() is None))


class Line:
    """A bootstrap that can break once, after everybody's words have passed."""

    def __init__(self, bootstrap: LocalBootstrap) -> None:
        self.rank, self.size, self.barrier = bootstrap.rank, bootstrap.size, bootstrap.barrier
        self.calls = 0
        self.breaks_at = 0
        self._all_gather = bootstrap.all_gather

    def all_gather(self, data: bytes, /) -> Sequence[bytes]:
        words = self._all_gather(data)
        self.calls += 1
        if self.calls == self.breaks_at:
            raise OSError("the line broke")
        return words


def test_ranks_agree_again_when_one_did_not_hear_the_last_word() -> None:
    """One rank has a region then that the other has not."""

    def call(bootstrap: LocalBootstrap) -> tuple[bool, bool]:
        line = Line(bootstrap)
        with aivops.Communicator(line) as comm:
            before = line.calls
            kept = comm.empty(8)
            if comm.rank == 1:
                line.breaks_at = line.calls + (line.calls - before)
            try:
                more = comm.empty(8)
            except OSError:
                more = None
            x = comm.empty(COUNT, "int16")
            x.fill(comm.rank)
            rows = np.stack([np.full(COUNT, 257 * rank, np.int16) for rank in range(2)])
            right = reads_in_place(comm, x, rows)
            del kept
            return more is None, right

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(call, LocalMeeting(2).bootstraps)) == [(False, True), (True, True)]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda c: c.register(np.ones(3)), TypeError, r"register\(\): buffer is a ndarray, expected a Buffer on this rank's device"),
        (
            lambda c: c.register(aivops.Buffer(aivops.Device(1 - c.rank), 3)),
            ValueError,
            r"register\(\): the Buffer is on device [01], expected this rank's device [01]",
        ),
        (lambda c: c.unregister(aivops.Buffer(c.device, 3)), ValueError, "Buffer of 3 bytes on device . is not registered"),
    ],
)  # fmt: skip
def test_what_cannot_be_registered(
    group_of: GroupOf, call: Callable[[aivops.Communicator], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        group_of(2).run(call)


def test_empty_arrays_need_no_memory(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> Any:
        x = comm.empty((0, 4), "float32")
        return comm.all_gather(x, algorithm="direct").shape, comm.all_reduce(x, out=x).shape

    assert group_of(2).run(call) == [((2, 0, 4), (0, 4))] * 2


def test_in_place_on_registered_memory(group_of: GroupOf) -> None:
    inputs = [numbers((COUNT + 1,), np.float32, rank) for rank in range(5)]

    def call(comm: aivops.Communicator) -> bool:
        x = comm.empty(COUNT + 4)[3:]
        x.copy_from(inputs[comm.rank])
        comm.all_reduce(x, out=x)
        whole = comm.empty((comm.size, COUNT + 1))
        whole[comm.rank].copy_from(inputs[comm.rank])
        comm.all_gather(whole[comm.rank], out=whole)
        assert comm.last_plan is not None
        return (
            comm.last_plan.algorithm == "direct"
            and same(x.to_numpy(), fold(inputs, "sum"))
            and same(whole.to_numpy(), np.stack(inputs))
        )

    assert all(group_of(5).run(call))
