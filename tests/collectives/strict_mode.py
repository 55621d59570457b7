"""Program of test_strict: every algorithm, or all_gather of the named kernels, with the emulator's strict checks."""

import sys
from pathlib import Path

import aivops
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.cases import OPERATORS, REGISTERED, Case, inputs_of, is_right, place

RANKS = 3


def every_algorithm(comm: aivops.Communicator, count: int, turn: int) -> bool:
    """One after the other without a pause, so that each meets the others' stages and flags."""
    right = True
    for number, (name, operator) in enumerate(OPERATORS.items()):
        for algorithm in operator.algorithms:
            case = Case(name, RANKS, count, np.int32, root=(turn + number) % RANKS, seed=turn)
            inputs = inputs_of(case)
            x, how = inputs[comm.rank], {"algorithm": algorithm}
            if (name, algorithm) in REGISTERED or (name, algorithm, turn) == ("broadcast", "direct", 1):
                x = place(comm, x, 1, registered=True)
                if name == "all_reduce":
                    how["out"] = x if "two" in algorithm else comm.empty(count, case.dtype)
            right &= is_right(operator.call(comm, x, case, how), operator.expected(case, inputs)[comm.rank])
    return right and comm.barrier() is None


def around_the_ring(comm: aivops.Communicator) -> bool:
    after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    out = np.empty(9000, np.int32)
    if comm.rank == 0:
        comm.send(np.full(9000, 0, np.int32), after)
    comm.recv(before, out)
    if comm.rank != 0:
        comm.send(np.full(9000, comm.rank, np.int32), after)
    return bool((out == before).all())


def main(kernels: str = "aivops", folder: str = "") -> None:
    sys.path.insert(0, folder)
    with aivops.LocalGroup(RANKS, window_bytes=400_000, blocks=2, kernels=kernels) as group:
        if kernels == "aivops":
            for turn, count in enumerate((0, 7, 3000)):
                assert all(group.run(lambda comm, c=count, t=turn: every_algorithm(comm, c, t)))
            assert all(group.run(around_the_ring))
        else:
            for call in range(4):
                group.run(lambda comm, call=call: comm.all_gather(np.full(3000, call * 8 + comm.rank)))
    print("clean")


if __name__ == "__main__":
    main(*sys.argv[1:])
