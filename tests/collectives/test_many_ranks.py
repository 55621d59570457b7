"""Every operator on more ranks than a server has devices, late ones among them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "many_ranks.py"


@pytest.mark.long
@pytest.mark.parametrize("ranks", [5, 16, 33, 64])
def test_every_operator(ranks: int) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, str(ranks)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"AIVOPS_EMU_DEVICES": str(ranks)},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert [line for line in lines if not line.endswith("equal")] == []
