"""Program of test_strict: FIRST SEEDS [KERNELS FOLDER]. So many seeds, one after the other in a group of their own, of
every algorithm or of all_gather of the named kernels, with the emulator's strict checks.
"""

import sys
import threading
from pathlib import Path

import aivops
import numpy as np
from aivops._schedule import begin_schedule

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


def all_operators() -> None:
    with aivops.LocalGroup(3, window_bytes=400_000, blocks=2) as group:
        for turn, count in enumerate((0, 7, 3000)):
            assert all(group.run(lambda comm, c=count, t=turn: every_algorithm(comm, c, t)))
        assert all(group.run(around_the_ring))


def repeated_all_gather(kernels: str) -> None:
    """Four calls in flight. No rank waits before every rank has launched: a launch that follows a wait comes after
    what was waited for, and then no flag is needed.
    """
    launched = threading.Barrier(3)

    def rank(comm: aivops.Communicator) -> None:
        works = [comm.all_gather(np.full(3000, call * 8 + comm.rank), async_op=True) for call in range(4)]
        launched.wait()
        for work in works:
            work.wait()

    with aivops.LocalGroup(3, window_bytes=400_000, blocks=2, kernels=kernels) as group:
        group.run(rank)


def main(first: int, seeds: int, kernels: str = "", folder: str = "") -> None:
    sys.path.insert(0, folder)
    for seed in range(first, first + seeds):
        begin_schedule(seed)
        try:
            if kernels:
                repeated_all_gather(kernels)
            else:
                all_operators()
        except Exception:
            print(f"seed {seed}:", file=sys.stderr)
            raise
    print(f"{seeds} clean")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
