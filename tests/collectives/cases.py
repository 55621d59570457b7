"""Every operator as a case: what the ranks pass, how they call it, and what numpy says each must get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import aivops
import numpy as np
from collectives.reference import bits, fold, numbers

Arrays = list[Any]


class Case(NamedTuple):
    """A call on `ranks` ranks; `count` elements in the row that the operator counts in."""

    operator: str
    ranks: int
    count: int
    dtype: Any
    op: str = "sum"
    root: int = 0
    seed: int = 0

    @property
    def lengths(self) -> list[int]:
        """Of operators with counts by rank: some are zero."""
        rng = np.random.default_rng(self.seed)
        return [int(n) for n in rng.integers(0, self.count, self.ranks, endpoint=True)]

    @property
    def matrix(self) -> np.ndarray:
        """Of all_to_all_v: what rank i sends to rank j."""
        return np.random.default_rng(self.seed).integers(0, self.count, (self.ranks,) * 2, endpoint=True)


class Operator(NamedTuple):
    """How one is tested."""

    algorithms: tuple[str, ...]
    inputs: Callable[[Case, Callable[..., np.ndarray]], Arrays]  # by rank; None where a rank passes nothing
    call: Callable[[aivops.Communicator, Any, Case, dict[str, Any]], Any]
    expected: Callable[[Case, Arrays], Arrays]  # by rank; None where a rank gets nothing
    folds: bool = False


def on_root(case: Case, value: Any) -> Arrays:
    return [value if rank == case.root else None for rank in range(case.ranks)]


def each(shape: Callable[[Case], tuple[int, ...]]) -> Callable[[Case, Callable[..., np.ndarray]], Arrays]:
    """An array of this shape on every rank."""
    return lambda case, make: [
        make(shape(case), case.dtype, 100 * case.seed + rank) for rank in range(case.ranks)
    ]


def scatter(comm: aivops.Communicator, x: Any, case: Case, how: dict[str, Any]) -> Any:
    if comm.rank == case.root:
        return comm.scatter(x, case.root, **how)
    return comm.scatter(None, case.root, shape=(case.count,), dtype=case.dtype, **how)


def split(array: np.ndarray, lengths: Any) -> Arrays:
    return np.split(array, np.cumsum(lengths)[:-1])


def row(case: Case) -> tuple[int, ...]:
    return (case.count,)


def rows(case: Case) -> tuple[int, ...]:
    return (case.ranks, case.count)


OPERATORS = {
    "all_gather": Operator(
        ("mesh", "direct"),
        each(row),
        lambda c, x, case, how: c.all_gather(x, **how),
        lambda case, xs: [np.stack(xs)] * case.ranks,
    ),
    "all_reduce": Operator(
        ("one_shot", "two_shots", "one_shot_direct", "two_shots_direct"),
        each(row),
        lambda c, x, case, how: c.all_reduce(x, case.op, **how),
        lambda case, xs: [fold(xs, case.op)] * case.ranks,
        folds=True,
    ),
    "reduce_scatter": Operator(
        ("mesh", "direct"),
        each(lambda case: (case.ranks * case.count,)),
        lambda c, x, case, how: c.reduce_scatter(x, case.op, **how),
        lambda case, xs: list(fold(xs, case.op).reshape(case.ranks, case.count)),
        folds=True,
    ),
    "all_to_all": Operator(
        ("mesh", "direct"),
        each(rows),
        lambda c, x, case, how: c.all_to_all(x, **how),
        lambda case, xs: [np.stack([x[rank] for x in xs]) for rank in range(case.ranks)],
    ),
    "broadcast": Operator(
        ("direct", "scatter_gather"),
        each(row),
        lambda c, x, case, how: c.broadcast(x, case.root, **how),
        lambda case, xs: [xs[case.root]] * case.ranks,
    ),
    "scatter": Operator(
        ("direct",),
        lambda case, make: on_root(case, make(rows(case), case.dtype, case.seed)),
        scatter,
        lambda case, xs: list(xs[case.root]),
    ),
    "gather": Operator(
        ("direct",),
        each(row),
        lambda c, x, case, how: c.gather(x, case.root, **how),
        lambda case, xs: on_root(case, np.stack(xs)),
    ),
    "reduce": Operator(
        ("direct",),
        each(row),
        lambda c, x, case, how: c.reduce(x, case.op, case.root, **how),
        lambda case, xs: on_root(case, fold(xs, case.op)),
        folds=True,
    ),
    "all_gather_v": Operator(
        ("mesh",),
        lambda case, make: [
            make((length, 2), case.dtype, case.seed + rank) for rank, length in enumerate(case.lengths)
        ],
        lambda c, x, case, how: c.all_gather_v(x, case.lengths, **how),
        lambda case, xs: [xs] * case.ranks,
    ),
    "reduce_scatter_v": Operator(
        ("mesh",),
        each(lambda case: (sum(case.lengths),)),
        lambda c, x, case, how: c.reduce_scatter_v(x, case.lengths, case.op, **how),
        lambda case, xs: split(fold(xs, case.op), case.lengths),
        folds=True,
    ),
    "all_to_all_v": Operator(
        ("mesh",),
        lambda case, make: [
            [make((n,), case.dtype, 1000 * rank + peer) for peer, n in enumerate(row)]
            for rank, row in enumerate(case.matrix)
        ],
        lambda c, x, case, how: c.all_to_all_v(x, case.matrix, **how),
        lambda case, xs: [[x[rank] for x in xs] for rank in range(case.ranks)],
    ),
}
REGISTERED = {
    (name, algorithm)
    for name, operator in OPERATORS.items()
    for algorithm in operator.algorithms
    if "direct" in algorithm and (name.startswith("all_") or name == "reduce_scatter")
}
"""What reads other ranks' arrays where they lie."""


def inputs_of(case: Case) -> Arrays:
    operator = OPERATORS[case.operator]
    return operator.inputs(case, numbers if operator.folds else bits)


def is_right(result: Any, expected: Any) -> bool:
    """Type, shape and every bit, of arrays, buffers and lists of them; nothing where nothing is expected."""
    if expected is None or result is None:
        return result is None and expected is None
    if isinstance(expected, list):
        return len(result) == len(expected) and all(map(is_right, result, expected))
    found = result.to_numpy() if isinstance(result, aivops.Buffer) else result
    return (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


def place(comm: aivops.Communicator, x: Any, offset: int, *, registered: bool) -> Any:
    """The same arrays in device memory, `offset` elements into larger ones."""
    if x is None:
        return None
    if isinstance(x, list):
        return [place(comm, part, offset, registered=registered) for part in x]
    make = comm.empty if registered else lambda *args: aivops.Buffer(comm.device, *args)
    whole = make((offset + x.size,), x.dtype)
    buffer = whole[offset:].reshape(*x.shape)
    buffer.copy_from(x)
    return buffer


def every_algorithm(comm: aivops.Communicator, count: int, turn: int) -> bool:
    """One after the other without a pause, so that each meets the others' stages and flags."""
    right = True
    for number, (name, operator) in enumerate(OPERATORS.items()):
        for algorithm in operator.algorithms:
            case = Case(name, comm.size, count, np.int32, root=(turn + number) % comm.size, seed=turn)
            inputs = inputs_of(case)
            x, how = inputs[comm.rank], {"algorithm": algorithm}
            if (name, algorithm) in REGISTERED or (name, algorithm, turn % 2) == ("broadcast", "direct", 1):
                x = place(comm, x, 1, registered=True)
                if name == "all_reduce":
                    how["out"] = x if "two" in algorithm else comm.empty(count, case.dtype)
            right &= is_right(operator.call(comm, x, case, how), operator.expected(case, inputs)[comm.rank])
    return right and comm.barrier() is None
