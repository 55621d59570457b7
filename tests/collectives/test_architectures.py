"""One source, two architectures: reductions come out alike, by whatever instructions the vector unit has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
