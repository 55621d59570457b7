"""What a whole `comm.all_reduce` costs on the host, on a runtime that does nothing, and where it goes.

Prints nanoseconds per call as JSON: whole calls, and the steps of the one with buffers, each called by itself.
"""

import json
import time
from collections.abc import Callable
from itertools import repeat

import aivops
import numpy as np

CALLS = 200
ROUNDS = 300
ELEMENTS = 256


def time_calls(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    for _ in repeat(None, CALLS):
        call()
    return time.perf_counter() - started


def main() -> None:
    comm = aivops.LocalGroup(2).communicators[0]
    source = aivops.Buffer(comm.device, ELEMENTS, "float32")
    target = aivops.Buffer(comm.device, ELEMENTS, "float32")
    array, result = np.zeros(ELEMENTS, np.float32), np.zeros(ELEMENTS, np.float32)

    def find() -> bool:
        key = ("all_reduce", source.shape, source.dtype, target.shape, target.dtype, "sum", 0)
        return comm._repeatable[key] is repeated

    comm.all_reduce(source, out=target)
    (repeated,) = comm._repeatable.values()
    wholes: dict[str, Callable[[], object]] = {
        "with buffers": lambda: comm.all_reduce(source, out=target),
        "with buffers and an option": lambda: comm.all_reduce(source, out=target, blocks=1),
        "with numpy arrays": lambda: comm.all_reduce(array, out=result),
    }
    steps: dict[str, Callable[[], object]] = {
        "find what is known of such a call": find,
        "launch and wait": lambda: comm._core.repeat(repeated, source, target),
    }
    # Interleaved, and each round short enough to run undisturbed on a busy machine: the least of them is the cost.
    best = dict.fromkeys([*wholes, *steps], float("inf"))
    for _ in range(ROUNDS):
        for name, way in (*wholes.items(), *steps.items()):
            best[name] = min(best[name], time_calls(way))
    nanoseconds = {name: seconds / CALLS * 1e9 for name, seconds in best.items()}
    print(json.dumps([{name: nanoseconds[name] for name in group} for group in (wholes, steps)]))


main()
