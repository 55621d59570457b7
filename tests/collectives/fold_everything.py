"""Program of test_architectures: every operator, algorithm, type and op that folds, on the SoC that the environment names.
Prints a line of JSON for each: whether numpy has the same, and what instructions ran.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import aivops
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.cases import OPERATORS, REGISTERED, Case, inputs_of, is_right, place
from collectives.instructions import instructions_of
from collectives.reference import FOLD, REDUCIBLE

RANKS = 3
COUNT = 3001


def folded_by(case: Case, algorithm: str) -> int:
    """Elements of results that all ranks together fold."""
    if case.operator == "reduce_scatter_v":
        return sum(case.lengths)
    everybody = case.operator == "reduce_scatter" or algorithm.startswith("one_shot")
    return case.count * (case.ranks if everybody else 1)


def fold(group: aivops.LocalGroup, case: Case, algorithm: str) -> dict[str, Any]:
    operator, inputs = OPERATORS[case.operator], inputs_of(case)
    how: list[dict[str, Any]] = [{"algorithm": algorithm} for _ in range(case.ranks)]
    if (case.operator, algorithm) in REGISTERED:
        inputs = group.run(lambda comm: place(comm, inputs[comm.rank], 1, registered=True))
        if case.operator == "all_reduce":
            for more, out in zip(
                how, group.run(lambda comm: comm.empty(case.count, case.dtype)), strict=True
            ):
                more["out"] = out
    results: list[Any] = [None] * case.ranks

    def call(comm: aivops.Communicator) -> None:
        results[comm.rank] = operator.call(comm, inputs[comm.rank], case, how[comm.rank])

    instructions = instructions_of(group, call)
    expected = operator.expected(case, inputs_of(case))
    return {
        "call": [case.operator, algorithm, np.dtype(case.dtype).name, case.op],
        "equal": all(map(is_right, results, expected)),
        "elements": folded_by(case, algorithm),
        "instructions": instructions,
    }


def main() -> None:
    print(aivops.Device(0).architecture)
    with aivops.LocalGroup(RANKS) as group:
        for name, operator in OPERATORS.items():
            for algorithm in operator.algorithms if operator.folds else ():
                for dtype in REDUCIBLE:
                    for op in FOLD:
                        print(json.dumps(fold(group, Case(name, RANKS, COUNT, dtype, op, seed=1), algorithm)))


if __name__ == "__main__":
    main()
