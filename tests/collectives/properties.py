"""Program of test_properties: drawn calls against numpy, on up to 16 ranks, with tags that wrap around on the way.

Arguments: the number of examples, and a seed.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

import aivops
import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.cases import OPERATORS, REGISTERED, Case, inputs_of, is_right, place
from collectives.reference import REDUCIBLE
from collectives.tags import set_tags
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

MOVED = (
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_),
    *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu),
)
WHOLE_OUT = ("all_gather", "gather")  # in place: x is the rank's own part of out
WHOLE_X = ("reduce_scatter", "reduce_scatter_v", "scatter")  # out is the rank's own part of x
SAME = ("all_reduce", "all_to_all", "broadcast", "reduce")  # out is x
APART = {("all_reduce", "one_shot_direct"), ("reduce_scatter", "direct"), ("all_to_all", "direct")}
WINDOW = 1 << 20  # 13 KiB for a lane of a stage: messages of some ten thousand elements are longer
GROUPS: dict[tuple[int, int], aivops.LocalGroup] = {}
BEFORE_THE_WRAP = 40

counts = st.one_of(st.sampled_from([0, 1, 2, 7, 255, 257, 1000, 4096, 20_011, 60_007]), st.integers(0, 3000))


def group_of(ranks: int, number: int = 0) -> aivops.LocalGroup:
    if (ranks, number) not in GROUPS:
        group = GROUPS[ranks, number] = aivops.LocalGroup(ranks, window_bytes=WINDOW)
        set_tags(group, 2**32 - BEFORE_THE_WRAP)
    return GROUPS[ranks, number]


@st.composite
def cases(draw: st.DrawFn, ranks: st.SearchStrategy[int]) -> Case:
    name = draw(st.sampled_from(list(OPERATORS)))
    size = draw(ranks)
    return Case(
        name,
        size,
        draw(counts),
        draw(st.sampled_from(REDUCIBLE if OPERATORS[name].folds else MOVED)),
        draw(st.sampled_from(["sum", "prod", "max", "min"])),
        draw(st.integers(0, size - 1)),
        draw(st.integers(0, 1000)),
    )


@st.composite
def ways(draw: st.DrawFn, case: Case) -> dict[str, Any]:
    how: dict[str, Any] = {
        "algorithm": draw(st.sampled_from([None, *OPERATORS[case.operator].algorithms])),
        "blocks": draw(st.sampled_from([None, 1, 2, 5, 40])),
    }
    return how


def call(comm: aivops.Communicator, case: Case, x: Any, how: dict[str, Any], **more: Any) -> Any:
    time.sleep(random.Random(case.seed * 64 + comm.rank).choice([0, 0, 0.002]))
    return OPERATORS[case.operator].call(comm, x, case, how | more)


def put(comm: aivops.Communicator, x: np.ndarray, offset: int, where: str) -> Any:
    return x.copy() if where == "host" else place(comm, x, offset, registered=where == "registered")


def in_place(comm: aivops.Communicator, case: Case, x: Any, offset: int, where: str) -> tuple[Any, Any]:
    """`x` and `out` that share memory; None where a rank passes or gets nothing."""
    rank = comm.rank
    gets = case.operator not in ("gather", "reduce") or rank == case.root
    if x is None:
        return None, None
    if case.operator in WHOLE_OUT and gets:
        out = put(comm, np.stack([x] * case.ranks), offset, where)
        return out[rank], out
    own = put(comm, x, offset, where)
    if case.operator == "scatter":
        return own, own[rank]
    if case.operator in WHOLE_X:
        lengths = case.lengths if case.operator == "reduce_scatter_v" else [case.count] * case.ranks
        begin = sum(lengths[:rank])
        return own, own[begin : begin + lengths[rank]]
    return own, own if gets else None


def check_one(data: st.DataObject) -> None:
    """Host arrays, buffers and registered buffers, at any offset, in place where shapes allow it."""
    case = data.draw(cases(st.integers(1, 16)))
    how = data.draw(ways(case))
    way = (case.operator, how["algorithm"])
    places = ["registered"] if way in REGISTERED else ["host", "device", "registered"]
    if case.operator == "scatter":
        places.remove("registered")  # only root has an array, and all ranks register together
    where = data.draw(st.sampled_from(places))
    offset = data.draw(st.sampled_from([0, 1, 3, 17]))
    can_be = case.operator in (*WHOLE_OUT, *WHOLE_X, *SAME) and way not in APART
    shares = can_be and data.draw(st.booleans())
    inputs = inputs_of(case)

    def run(comm: aivops.Communicator) -> Any:
        x, out = inputs[comm.rank], None
        if shares:
            x, out = in_place(comm, case, x, offset, where)
        elif where != "host":
            x = place(comm, x, offset, registered=where == "registered")
            if where == "registered" and case.operator == "all_reduce":
                out = place(comm, np.empty(case.count, case.dtype), offset, registered=True)
        result = call(comm, case, x, how, **({} if out is None else {"out": out}))
        assert how["algorithm"] in (None, comm.last_plan.algorithm)
        return result

    results = group_of(case.ranks).run(run)
    expected = OPERATORS[case.operator].expected(case, inputs)
    wrong = [rank for rank in range(case.ranks) if not is_right(results[rank], expected[rank])]
    assert wrong == [], (case, how, where, offset, shares)


def check_in_flight(data: st.DataObject) -> None:
    """Calls of two groups on one stream, none waited for before all are queued."""
    ranks = data.draw(st.sampled_from([2, 3, 8]))
    calls = data.draw(st.lists(cases(st.just(ranks)), min_size=2, max_size=8))
    hows: list[dict[str, Any]] = [{"blocks": data.draw(st.sampled_from([None, 1, 5]))} for _ in calls]
    inputs = [inputs_of(case) for case in calls]
    first, second = group_of(ranks), group_of(ranks, 1)

    def run(comm: aivops.Communicator) -> list[Any]:
        stream = aivops.Stream(comm.device)
        turns = [comm, second.communicators[comm.rank]]
        works = [
            call(turns[i % 2], case, inputs[i][comm.rank], hows[i], stream=stream, async_op=True)
            for i, case in enumerate(calls)
        ]
        return [work.wait() for work in works]

    results = first.run(run)
    for i, case in enumerate(calls):
        expected = OPERATORS[case.operator].expected(case, inputs[i])
        assert all(is_right(results[rank][i], expected[rank]) for rank in range(ranks)), (i, calls, hows)


def main(examples: int, start: int) -> None:
    how = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for check, share in ((check_one, 1), (check_in_flight, 4)):
        seed(start)(settings(how, max_examples=max(examples // share, 1))(given(st.data())(check)))()
    for group in GROUPS.values():
        group.close()
    print("right")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
