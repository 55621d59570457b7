"""Program of test_many_ranks: every operator on as many ranks as the command line says, with odd counts and small windows."""

import sys
import time
from pathlib import Path

import aivops
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.reference import bits, fold, numbers, same


def every_operator(comm: aivops.Communicator, count: int, turn: int) -> bool:
    n, rank, root = comm.size, comm.rank, (3 * turn + 1) % comm.size
    time.sleep(np.random.default_rng(1000 * turn + rank).choice([0, 0, 0.003]))
    x = [numbers((count,), np.float32, 100 * turn + r) for r in range(n)]
    rows = [bits((n, count), np.uint16, 100 * turn + r) for r in range(n)]
    total = fold(x, "sum")
    wide = [numbers((n, 5), np.int32, r) for r in range(n)]
    lengths = [(rank + turn) % 3 for rank in range(n)]
    folded = np.split(fold(x, "max")[: sum(lengths)], np.cumsum(lengths)[:-1])
    sent = [[x[i][: (i + j) % 4] for j in range(n)] for i in range(n)]
    gathered = comm.gather(x[rank], root)
    reduced = comm.reduce(x[rank], "min", root)
    given = rows[root] if rank == root else None
    return (
        same(comm.all_gather(x[rank]), np.stack(x))
        and same(comm.all_reduce(x[rank]), total)
        and same(comm.reduce_scatter(wide[rank].ravel()), fold(wide, "sum")[rank])
        and same(comm.all_to_all(rows[rank]), np.stack([r[rank] for r in rows]))
        and same(comm.broadcast(x[rank], root), x[root])
        and same(comm.scatter(given, root, shape=(count,), dtype=np.uint16), rows[root][rank])
        and (rank != root or (same(gathered, np.stack(x)) and same(reduced, fold(x, "min"))))
        and all(
            same(part, x[r][: r + turn]) for r, part in enumerate(comm.all_gather_v(x[rank][: rank + turn]))
        )
        and all(same(part, sent[r][rank]) for r, part in enumerate(comm.all_to_all_v(sent[rank])))
        and (
            count < sum(lengths)
            or same(comm.reduce_scatter_v(x[rank][: sum(lengths)], lengths, "max"), folded[rank])
        )
        and comm.barrier() is None
    )


def main(ranks: int) -> None:
    with aivops.LocalGroup(ranks, window_bytes=6 << 20) as group:
        for count in (0, 1, 7, 1000, 20_011):
            right = all(
                all(group.run(lambda comm, c=count, t=turn: every_operator(comm, c, t))) for turn in range(3)
            )
            print(ranks, count, "equal" if right else "WRONG", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
