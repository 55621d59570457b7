"""Program of test_architectures: every reducible type and op against numpy on the SoC that the environment names."""

import sys
from pathlib import Path

import aivops
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from collectives.reference import FOLD, REDUCIBLE, fold, numbers, same


def main() -> None:
    with aivops.LocalGroup(3) as group:
        for dtype in REDUCIBLE:
            for op in FOLD:
                inputs = [numbers((3 * 3001,), dtype, rank) for rank in range(3)]
                expected = fold(inputs, op)

                def call(comm: aivops.Communicator, op: str = op, x: list[np.ndarray] = inputs) -> list[bool]:
                    rows = np.split(expected, comm.size)  # noqa: B023
                    return [
                        same(comm.all_reduce(x[comm.rank], op), expected),  # noqa: B023
                        same(comm.reduce_scatter(x[comm.rank], op), rows[comm.rank]),
                    ]

                right = all(all(results) for results in group.run(call))
                print(np.dtype(dtype).name, op, "equal" if right else "WRONG")
    print(aivops.Device(0).architecture)


if __name__ == "__main__":
    main()
