"""Program of test_strict: every algorithm, or all_gather of the named kernels, with the emulator's strict checks."""

import sys
from pathlib import Path

import aivops
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.cases import every_algorithm


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
    with aivops.LocalGroup(3, window_bytes=400_000, blocks=2, kernels=kernels) as group:
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
