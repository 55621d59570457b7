"""What crosses between ranks, counted by owner of the address, and what the counting would notice."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aivops
import numpy as np
import pytest
from aivops._traffic import Traffic, remote_traffic
from collectives.cases import OPERATORS, REGISTERED, Case, inputs_of, is_right, place
from collectives.mutants import Mutants
from collectives.tags import tag_of

GroupOf = Callable[[int], aivops.LocalGroup]
WINDOW = 400_000  # the least for eight ranks; 5 000 bytes for a lane of a stage
FLAG_BYTES = 32
GRAIN_BYTES = 512
VECTOR_CORES = 48
LANE_BYTES = WINDOW // 2 // VECTOR_CORES // GRAIN_BYTES * GRAIN_BYTES


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


@pytest.fixture(scope="module")
def small_windows() -> Iterator[GroupOf]:
    """Groups whose windows hold a fraction of the longer messages here."""
    groups: dict[int, aivops.LocalGroup] = {}

    def get(size: int) -> aivops.LocalGroup:
        if size not in groups:
            groups[size] = aivops.LocalGroup(size, window_bytes=WINDOW)
        return groups[size]

    yield get
    for group in groups.values():
        group.close()


def measure(group: aivops.LocalGroup, case: Case, how: dict[str, Any]) -> list[Traffic]:
    """The traffic of one call, whose results are right."""
    operator = OPERATORS[case.operator]
    inputs = inputs_of(case)
    registered = (case.operator, how.get("algorithm")) in REGISTERED
    arrays = group.run(lambda comm: place_on(comm, inputs[comm.rank], case, registered=registered))
    results: list[Any] = [None] * case.ranks

    def call(comm: aivops.Communicator) -> None:
        x, more = arrays[comm.rank]
        results[comm.rank] = operator.call(comm, x, case, how | more)

    traffic = traffic_of(group, call)
    expected = operator.expected(case, inputs)
    assert [is_right(result, wanted) for result, wanted in zip(results, expected, strict=True)] == [
        True
    ] * case.ranks
    return traffic


def place_on(
    comm: aivops.Communicator, x: Any, case: Case, *, registered: bool
) -> tuple[Any, dict[str, Any]]:
    if not registered:
        return x, {}
    x = place(comm, x, 3, registered=True)
    return x, {"out": comm.empty(case.count, case.dtype)} if case.operator == "all_reduce" else {}


# ---- Bytes. What a message needs at least, in all and by rank where ranks share it evenly. ----


def all_but_own(case: Case) -> list[int]:
    """Every rank reads what each other has for it: `count` elements."""
    return [(case.ranks - 1) * case.count] * case.ranks


def all_but_root(case: Case) -> list[int]:
    return [0 if rank == case.root else case.count for rank in range(case.ranks)]


def root_all(case: Case) -> list[int]:
    return [(case.ranks - 1) * case.count if rank == case.root else 0 for rank in range(case.ranks)]


class Bound(NamedTuple):
    """Elements that have to cross into each rank."""

    elements: Callable[[Case], list[Any]]
    shared: bool = False  # into all ranks together; by rank only where they divide the message


BOUNDS = {
    "all_gather": Bound(all_but_own),
    "all_reduce": Bound(
        lambda case: [2 * (case.ranks - 1) * case.count / case.ranks] * case.ranks, shared=True
    ),
    "reduce_scatter": Bound(all_but_own),
    "all_to_all": Bound(all_but_own),
    "broadcast": Bound(all_but_root),
    "scatter": Bound(all_but_root),
    "gather": Bound(root_all),
    "reduce": Bound(root_all),
    "all_gather_v": Bound(lambda case: [2 * (sum(case.lengths) - own) for own in case.lengths]),
    "reduce_scatter_v": Bound(lambda case: [(case.ranks - 1) * own for own in case.lengths]),
    "all_to_all_v": Bound(
        lambda case: [int(case.matrix[:, rank].sum() - case.matrix[rank, rank]) for rank in range(case.ranks)]
    ),
}
LEAST = [
    (name, algorithm)
    for name in BOUNDS
    for algorithm in OPERATORS[name].algorithms
    if not algorithm.startswith("one_shot")
]


@pytest.mark.parametrize(("operator", "algorithm"), LEAST)
def test_traffic_is_the_least_there_can_be(small_windows: GroupOf, operator: str, algorithm: str) -> None:
    """Always: whether ranks divide the message or not, for one element, and beyond the window."""
    for ranks in (1, 2, 3, 8):
        for count in (0, 1, 7, 8 * 1000, 20_011, 300_001):
            case = Case(operator, ranks, count, np.int16, root=ranks // 2, seed=count + 1)
            bound = BOUNDS[operator]
            least = [elements * 2 for elements in bound.elements(case)]
            traffic = measure(small_windows(ranks), case, {"algorithm": algorithm})
            read = [t.read_bytes for t in traffic]
            assert sum(read) == round(sum(least)), case
            if not bound.shared or count % ranks == 0:
                assert read == least, case
            assert [t.poll_bytes for t in traffic] == [0] * ranks


@pytest.mark.parametrize("algorithm", ["one_shot", "one_shot_direct"])
def test_one_shot_takes_everything_from_everybody(small_windows: GroupOf, algorithm: str) -> None:
    for count in (1, 1000, 20_011):
        case = Case("all_reduce", 4, count, np.float32)
        traffic = measure(small_windows(4), case, {"algorithm": algorithm})
        assert [t.read_bytes for t in traffic] == [3 * 4 * count] * 4


def test_send_and_receive_cross_once(group_of: GroupOf) -> None:
    x = np.ones(12_345, np.int16)

    def call(comm: aivops.Communicator) -> None:
        if comm.rank == 0:
            comm.send(x, 1)
        else:
            comm.recv(0, np.empty_like(x))

    assert [t.read_bytes for t in traffic_of(group_of(2), call)] == [0, x.nbytes]


# ---- Signals: flags written to peers, per lane in use and per step (slice) of it. ----


class Signals(NamedTuple):
    """How many each rank sends."""

    per_step: Callable[[int, int], list[int]]  # by rank, of ranks and root
    staged_parts: Callable[[int], int] = lambda n: 1  # parts that share a stage
    cut: bool = False  # into one part per rank, which lanes then share
    sliced: bool = True  # a step for each slice that fits the stage; else one for everything


def to_all(phases: int) -> Callable[[int, int], list[int]]:
    return lambda n, root: [phases * (n - 1)] * n


def by_root(
    of_root: Callable[[int], int], of_others: Callable[[int], int]
) -> Callable[[int, int], list[int]]:
    return lambda n, root: [of_root(n) if rank == root else of_others(n) for rank in range(n)]


rooted = by_root(lambda n: n - 1, lambda n: 1)
SIGNALS = {
    ("all_gather", "mesh"): Signals(to_all(1)),
    ("all_gather", "direct"): Signals(to_all(2), sliced=False),
    ("all_reduce", "one_shot"): Signals(to_all(1)),
    ("all_reduce", "two_shots"): Signals(to_all(2), lambda n: n, cut=True),
    ("all_reduce", "one_shot_direct"): Signals(to_all(2), sliced=False),
    ("all_reduce", "two_shots_direct"): Signals(to_all(3), cut=True, sliced=False),
    ("reduce_scatter", "mesh"): Signals(to_all(1), lambda n: n),
    ("reduce_scatter", "direct"): Signals(to_all(2), sliced=False),
    ("all_to_all", "mesh"): Signals(to_all(1), lambda n: n),
    ("all_to_all", "direct"): Signals(to_all(2), sliced=False),
    ("broadcast", "direct"): Signals(rooted),
    ("broadcast", "scatter_gather"): Signals(by_root(lambda n: n - 1, lambda n: n), lambda n: n, cut=True),
    ("scatter", "direct"): Signals(rooted, lambda n: n),
    ("gather", "direct"): Signals(rooted),
    ("reduce", "direct"): Signals(rooted),
    ("all_gather_v", "mesh"): Signals(to_all(1)),
    ("reduce_scatter_v", "mesh"): Signals(to_all(1), lambda n: n),
    ("all_to_all_v", "mesh"): Signals(to_all(1), lambda n: n),
}


def over(count: int, size: int) -> int:
    """How many of `size` it takes to hold `count`."""
    return -(-count // size)


def longest(case: Case) -> int:
    """What lanes share: of operators with counts by rank, the longest part."""
    if case.operator == "all_to_all_v":
        return int(case.matrix.max())
    if case.operator.endswith("_v"):
        return max(case.lengths) * (2 if case.operator == "all_gather_v" else 1)
    return case.count


def steps_of(case: Case, signals: Signals, blocks: int) -> int:
    """Steps of all lanes together: whole grains are dealt to lanes, and a lane's share is cut to fit its stage."""
    grain = GRAIN_BYTES // np.dtype(case.dtype).itemsize
    count = over(case.count, case.ranks) if signals.cut else longest(case)
    per_lane = over(over(count, grain), blocks) * grain
    slice_elements = LANE_BYTES // GRAIN_BYTES // signals.staged_parts(case.ranks) * grain
    steps = 0
    for lane in range(blocks):
        share = min(max(count - lane * per_lane, 0), per_lane)
        steps += over(share, slice_elements) if signals.sliced else share > 0
    return max(steps, 1)


@pytest.mark.parametrize(("operator", "algorithm"), SIGNALS)
def test_signals_are_those_of_the_formula(small_windows: GroupOf, operator: str, algorithm: str) -> None:
    """Nothing else is written to peers, and nothing is polled over a link."""
    signals = SIGNALS[operator, algorithm]
    for ranks in (1, 2, 3, 8):
        for blocks in (1, 4, 40):
            for count in (0, 1, 1000, 20_011):
                case = Case(operator, ranks, count, np.int32, root=ranks - 1)
                traffic = measure(small_windows(ranks), case, {"algorithm": algorithm, "blocks": blocks})
                steps = steps_of(case, signals, blocks)
                if not signals.sliced and count == 0:
                    expected = [ranks - 1] * ranks  # nothing to read: ranks only meet
                else:
                    expected = [steps * n for n in signals.per_step(ranks, case.root)]
                assert [t.small_writes for t in traffic] == expected, (case, blocks)
                assert [t.written_bytes for t in traffic] == [n * FLAG_BYTES for n in expected]
                assert [t.poll_bytes for t in traffic] == [0] * ranks


def test_signals_of_a_registered_broadcast(small_windows: GroupOf) -> None:
    """One rooted step to tell, one to give back."""
    group = small_windows(3)
    arrays = group.run(lambda comm: comm.empty(50_000, "float32"))
    traffic = traffic_of(group, lambda comm: comm.broadcast(arrays[comm.rank], algorithm="direct", blocks=2))
    assert [t.small_writes for t in traffic] == [2 * 2 * 2, 2 * 2, 2 * 2]
    short = [array[:100] for array in arrays]
    traffic = traffic_of(group, lambda comm: comm.broadcast(short[comm.rank], algorithm="direct", blocks=1))
    assert [t.small_writes for t in traffic] == [2, 1, 1]


def test_signals_of_channels(small_windows: GroupOf) -> None:
    """One for each piece from the sender, and one for each from the receiver. Two pieces share a stage."""
    group, blocks, count = small_windows(2), 3, 20_011
    steps = steps_of(Case("gather", 2, count, np.int32), Signals(rooted, lambda n: 2), blocks)
    assert steps > blocks

    def call(comm: aivops.Communicator) -> None:
        x = np.zeros(count, np.int32)
        comm.send(x, 1, blocks=blocks) if comm.rank == 0 else comm.recv(0, x, blocks=blocks)

    assert [t.small_writes for t in traffic_of(group, call)] == [steps, steps]


def test_signals_of_a_barrier(small_windows: GroupOf) -> None:
    for ranks in (1, 3, 8):
        traffic = traffic_of(small_windows(ranks), lambda comm: comm.barrier())
        assert traffic == [Traffic(0, FLAG_BYTES * (ranks - 1), ranks - 1, 0)] * ranks


# ---- The table of docs/collectives.md. ----


class Published(NamedTuple):
    total: str
    phases: int
    signals: str  # of every rank, or "root …, others …"

    def signals_of(self, rank: int, root: int, n: int) -> int:
        text = self.signals
        if text.startswith("root "):
            of_root, of_others = text.removeprefix("root ").split(", others ")
            text = of_root if rank == root else of_others
        return round(evaluate(text, n=n, P=1, K=1))


def evaluate(formula: str, **values: int) -> float:
    """A formula without signs of multiplication."""
    explicit = re.sub(r"(?<=[0-9nSPK)])(?=[nSPK(])", "*", formula.replace("·", "*"))
    return float(eval(explicit, {}, dict(values)))


@pytest.fixture(scope="module")
def published(repository: Path) -> dict[tuple[str, str], Published]:
    text = (repository / "docs" / "collectives.md").read_text()
    lines = text[text.index("| operator | algorithm | remote bytes") :].splitlines()[2:]
    found = {}
    for line in lines[: lines.index("")]:
        operators, algorithm, total, phases, signals = (cell.strip() for cell in line.strip("|").split("|"))
        for name in operators.split(", "):
            plain = name.removesuffix("(_v)")
            for operator in {plain, plain + "_v"} if "(_v)" in name else {plain}:
                found[operator, algorithm] = Published(total, int(phases), signals)
    return found


def test_the_published_table_has_every_algorithm(published: dict[tuple[str, str], Published]) -> None:
    others = {("send", "channel"), ("recv", "channel"), ("barrier", "mesh")}
    assert set(published) == {(name, a) for name, op in OPERATORS.items() for a in op.algorithms} | others
    for (operator, algorithm), signals in SIGNALS.items():
        row = published[operator, algorithm]
        assert ("K" in row.signals) == signals.sliced
        for n in (1, 2, 3, 8):
            assert signals.per_step(n, 0) == [row.signals_of(rank, 0, n) for rank in range(n)]


@pytest.mark.parametrize(("operator", "algorithm"), SIGNALS)
def test_phases_and_bytes_are_the_published_ones(
    small_windows: GroupOf, published: dict[tuple[str, str], Published], operator: str, algorithm: str
) -> None:
    """A phase is a step of a lane's tag, which each rank takes as often as a pass has them."""
    row, signals = published[operator, algorithm], SIGNALS[operator, algorithm]
    for ranks in (2, 3, 8):
        for count in (1, 1000, 20_011):
            case = Case(operator, ranks, count, np.int32, root=ranks - 1)
            group = small_windows(ranks)
            before = [tag_of(comm, 0) for comm in group.communicators]
            traffic = measure(group, case, {"algorithm": algorithm, "blocks": 1})
            after = [tag_of(comm, 0) for comm in group.communicators]
            steps = row.phases * steps_of(case, signals, 1)
            assert [new - old for old, new in zip(before, after, strict=True)] == [steps] * ranks
            if not operator.endswith("_v"):  # whose ranks have messages of different lengths
                rows = ranks if operator in ("reduce_scatter", "all_to_all", "scatter") else 1
                total = evaluate(row.total, n=ranks, S=4 * count * rows)
                assert sum(t.read_bytes for t in traffic) == round(total)


def test_nobody_polls_over_a_link(group_of: GroupOf) -> None:
    def late(comm: aivops.Communicator) -> None:
        time.sleep(0.05 * (comm.rank == 1))
        comm.all_gather(np.ones(10))

    assert [t.poll_bytes for t in traffic_of(group_of(3), late)] == [0, 0, 0]


# ---- What the counting would notice. ----


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
