"""What a whole `comm.all_reduce` costs on the host, on a runtime that does nothing, and where it goes.

Prints nanoseconds per call as JSON: whole calls, and the steps of the one with buffers, each called by itself.
"""

import json
import time
from collections.abc import Callable
from itertools import repeat

import aivops
import numpy as np
from aivops import _arrays
from aivops._call import Call

CALLS = 200
ROUNDS = 300
ELEMENTS = 256
AROUND = "around the launch: addresses, stream"


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

    core, device = comm._core, comm.device
    stream = core.stream
    call = Call(comm, "all_reduce", {})
    operand, into = call.operand(source), _arrays.Result(target)
    described = call.describe(operand, ELEMENTS)
    inside, outside = _arrays.memory(source, device), _arrays.memory(target, device)

    def launch_and_wait() -> None:
        core.launch(described, inside, outside, stream)
        core.wait(stream, None)

    wholes: dict[str, Callable[[], object]] = {
        "with buffers": lambda: comm.all_reduce(source, out=target),
        "with numpy arrays": lambda: comm.all_reduce(array, out=result),
    }
    steps: dict[str, Callable[[], object]] = {
        "read the options": lambda: Call(comm, "all_reduce", {}),
        "check the input": lambda: call.operand(source),
        "check the output": lambda: call.result(operand.shape, operand, target),
        "describe the call": lambda: call.describe(operand, operand.count),
        "launch and wait": launch_and_wait,
        AROUND: lambda: call.perform(described, operand, into),
    }
    # Interleaved, and each round short enough to run undisturbed on a busy machine: the least of them is the cost.
    best = dict.fromkeys([*wholes, *steps], float("inf"))
    for _ in range(ROUNDS):
        for name, way in (*wholes.items(), *steps.items()):
            best[name] = min(best[name], time_calls(way))
    nanoseconds = {name: seconds / CALLS * 1e9 for name, seconds in best.items()}
    nanoseconds[AROUND] -= nanoseconds["launch and wait"]
    print(json.dumps([{name: nanoseconds[name] for name in group} for group in (wholes, steps)]))


main()
