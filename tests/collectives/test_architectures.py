"""One source, two architectures: reductions come out alike, by whatever instructions the vector unit has."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import aivops
import numpy as np
import pytest
from aivops._arrays import ELEMENT_TYPES
from aivops._dtypes import numpy_dtype
from collectives.reference import REDUCIBLE

PROGRAM = Path(__file__).parent / "fold_everything.py"


@pytest.mark.parametrize(
    ("soc", "architecture"), [("Ascend910B1", "dav-c220-vec"), ("Ascend950PR_9599", "dav-c310-vec")]
)
def test_every_type_and_op(soc: str, architecture: str) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"AIVOPS_EMU_SOC": soc},
    )
    assert done.returncode == 0, done.stderr
    *lines, found = done.stdout.splitlines()
    assert found == architecture
    assert len(lines) == 7 * 4
    assert [line for line in lines if not line.endswith("equal")] == []


def test_the_published_table_is_that_of_the_kernels(repository: Path) -> None:
    """docs/collectives.md names each type that reductions take, once, and calls refuse all others."""
    lines = (repository / "docs" / "collectives.md").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| type | folded in"))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[begin + 2 :])
    published = [name.strip() for row in rows for name in row.split("|")[1].split(",")]
    assert sorted(published) == sorted(np.dtype(dtype).name for dtype in REDUCIBLE)

    with aivops.LocalGroup(1) as group:
        for name in {*ELEMENT_TYPES, "bool"} - set(published):
            special = "hifloat8" if name == "hifloat8" else None
            x = np.zeros(3, np.uint8 if special else numpy_dtype(name))
            with pytest.raises(ValueError, match=f"no kernel folds {name}, expected one of") as caught:
                group.run(lambda comm, x=x, special=special: comm.reduce(x, dtype=special))
            assert all(known in str(caught.value) for known in published)
