"""Launches that are made once and queued again, as a captured graph does: nothing of the host is frozen in them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aivops
import numpy as np
import pytest
from collectives.cases import OPERATORS, REGISTERED, Case
from collectives.reference import numbers
from collectives.tags import set_tags, tag_of

GroupOf = Callable[[int], aivops.LocalGroup]
RANKS, COUNT, BLOCKS, TURNS = 3, 5003, 2, 4
# aivops/fingerprint.h
NUMBERED = (
    *("all_gather", "all_reduce", "reduce_scatter", "all_to_all", "broadcast", "scatter", "gather", "reduce"),
    *("barrier", "all_gather_v", "reduce_scatter_v", "all_to_all_v"),
)
INT32 = 6


@pytest.fixture(scope="module")
def arguments(repository: Path) -> dict[str, list[str]]:
    """The parameters that docs/collectives.md gives the kernels of each operator."""
    text = (repository / "docs" / "collectives.md").read_text()
    lines = text[text.index("| operator | arguments |") :].splitlines()[2:]
    published = {}
    for line in lines[: lines.index("")]:
        operators, code = line.strip("|").split("|")
        declared = re.findall(r"`(.*)`", code)[0].replace(
            "…", "GM_ADDR window, GM_ADDR input, GM_ADDR output"
        )
        names = [parameter.split()[-1] for parameter in declared.split(", ")]
        published.update({name.strip(): names for name in operators.split(",")})
    return published


def kernel_of(operator: str, algorithm: str) -> str:
    plain = algorithm == "mesh" or operator in ("scatter", "gather", "reduce")
    return f"aiv_{operator}" + ("" if plain else f"_{algorithm}")


def test_kernels_take_the_documented_arguments(arguments: dict[str, list[str]]) -> None:
    assert set(arguments) == set(OPERATORS) | {"barrier"}
    kernels = aivops.load_kernels("aivops")
    for name, operator in OPERATORS.items():
        for algorithm in operator.algorithms:
            kernel = kernels.get_kernel(kernel_of(name, algorithm) + "_int32_t")
            assert [parameter.name for parameter in kernel.parameters] == arguments[name]
    barrier = kernels.get_kernel("aiv_barrier")
    assert [parameter.name for parameter in barrier.parameters] == arguments["barrier"]


def flat(arrays: Any) -> np.ndarray:
    """One array of what a rank passes or gets, however many there are."""
    if arrays is None:
        return np.zeros(0, np.int32)
    return np.concatenate([part.ravel() for part in arrays]) if isinstance(arrays, list) else arrays.ravel()


def counts_of(case: Case, rank: int) -> bytes:
    """aivops::RankCounts, or ExchangeCounts of all_to_all_v."""
    words = np.zeros(64 * 2 + 1, np.uint64)
    if case.operator == "all_to_all_v":
        words[: case.ranks] = case.matrix[rank]
        words[64 : 64 + case.ranks] = case.matrix[:, rank]
        words[128] = case.matrix.max()
        return words.tobytes()
    words[: case.ranks] = case.lengths
    if case.operator == "all_gather_v":
        words *= 2  # rows of two
    return words[:64].tobytes()


def fingerprint_of(case: Case) -> int:
    return NUMBERED.index(case.operator) + 1 << 59 | INT32 << 55 | case.root << 43 | BLOCKS << 36 | case.count


def prepare(
    comm: aivops.Communicator,
    case: Case,
    algorithm: str,
    names: list[str],
    stream: aivops.Stream,
    registered: bool = True,
) -> tuple[aivops.PreparedLaunch, aivops.Buffer, aivops.Buffer]:
    """The launch of one rank, with its input and output; they are registered, or the input is not."""
    xs = turn_inputs(case, 0)
    x = comm.empty(max(flat(xs[comm.rank]).size, 1), case.dtype)
    if not registered:
        x = aivops.Buffer(comm.device, x.shape, case.dtype)
    out = comm.empty(max(flat(OPERATORS[case.operator].expected(case, xs)[comm.rank]).size, 1), case.dtype)
    values = {
        "window": comm.windows[comm.rank],
        "input": x,
        "output": out,
        "count": case.count,
        "counts": counts_of(case, comm.rank),
        "reduction": 0,
        "root": case.root,
        "fingerprint": fingerprint_of(case),
    }
    kernel = aivops.load_kernels("aivops").get_kernel(kernel_of(case.operator, algorithm) + "_int32_t")
    config = aivops.LaunchConfig(blocks=BLOCKS)
    return kernel.prepare(stream, *[values[name] for name in names], config=config), x, out


def turn_inputs(case: Case, turn: int) -> list[Any]:
    """Of the same shapes in every turn."""
    return OPERATORS[case.operator].inputs(
        case, lambda shape, dtype, seed: numbers(shape, dtype, seed + 1000 * turn)
    )


@pytest.mark.parametrize(
    ("operator", "algorithm"), [(name, a) for name, op in OPERATORS.items() for a in op.algorithms]
)
def test_a_launch_can_be_queued_again(
    group_of: GroupOf, arguments: dict[str, list[str]], operator: str, algorithm: str
) -> None:
    """With other data, with other calls and registrations in between, and while tags wrap around."""
    case = Case(operator, RANKS, COUNT, np.int32, root=1, seed=3)
    turns = [turn_inputs(case, turn) for turn in range(TURNS)]
    group = group_of(RANKS)
    set_tags(group, 2**32 - 3)

    def call(comm: aivops.Communicator) -> bool:
        stream = aivops.Stream(comm.device)
        launch, x, out = prepare(comm, case, algorithm, arguments[operator], stream)
        mine = [aivops.Buffer.from_host(comm.device, flat(inputs[comm.rank])) for inputs in turns]
        seen = [aivops.Buffer(comm.device, out.shape, case.dtype) for _ in turns]
        for turn in range(TURNS):
            x[: len(mine[turn])].copy_from(mine[turn], stream=stream)
            launch()
            seen[turn].copy_from(out, stream=stream)
            if turn == 1:
                comm.all_reduce(np.ones(7, np.int32), stream=stream, async_op=True)
                comm.empty(64)
        stream.synchronize()
        right = True
        for turn, buffer in enumerate(seen):
            wanted = flat(OPERATORS[operator].expected(case, turns[turn])[comm.rank])
            right &= np.array_equal(buffer.to_numpy()[: wanted.size], wanted)
        return right

    assert all(group.run(call))
    assert 0 < tag_of(group.communicators[0], 0) < 1000


@pytest.mark.parametrize(("operator", "algorithm"), sorted(REGISTERED))
def test_a_launch_outlives_the_registration_of_its_array(
    group_of: GroupOf, arguments: dict[str, list[str]], operator: str, algorithm: str
) -> None:
    """Then its kernel finds no region, and says whose array it was to read."""
    case = Case(operator, 2, COUNT, np.int32)

    def call(comm: aivops.Communicator) -> None:
        stream = aivops.Stream(comm.device)
        launch, x, _ = prepare(comm, case, algorithm, arguments[operator], stream)
        launch()
        stream.synchronize()
        assert comm.barrier() is None
        comm.unregister(x)
        launch()
        stream.synchronize()
        comm.barrier()

    with pytest.raises(
        aivops.InvalidValueError,
        match=rf"{operator}\(\): rank (0|1) was to read an array of rank (0|1) where it lies, but rank \2 has not "
        "registered it; register it there, or choose another algorithm",
    ):
        group_of(2).run(call)
    assert group_of(2).run(lambda comm: comm.barrier()) == [None] * 2


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_the_cause_is_told_when_those_that_followed_it_are_first(
    group_of: GroupOf, arguments: dict[str, list[str]], seconds: float
) -> None:
    """Rank 1 alone can tell it, and calls again at once or when the group has long been stopped."""
    case = Case("all_gather", 2, COUNT, np.int32)
    followed = threading.Event()

    def call(comm: aivops.Communicator) -> None:
        stream = aivops.Stream(comm.device)
        registered = comm.rank == 1
        launch, _, _ = prepare(comm, case, "direct", arguments["all_gather"], stream, registered)
        launch()
        stream.synchronize()
        if comm.rank == 1:
            assert followed.wait(60)
            time.sleep(seconds)
        try:
            comm.barrier()
        finally:
            followed.set()

    with pytest.raises(aivops.InvalidValueError, match="rank 1 was to read an array of rank 0") as raised:
        group_of(2).run(call)
    assert raised.value.rank == 1  # type: ignore[attr-defined]
