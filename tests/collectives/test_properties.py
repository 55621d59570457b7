"""Drawn calls of every operator, type, op and algorithm against numpy, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "properties.py"


def run_properties(examples: int, seed: int) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, str(examples), str(seed)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"AIVOPS_EMU_DEVICES": "16"},
    )
    assert done.stdout == "right\n", done.stderr


def test_some_calls() -> None:
    run_properties(80, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 10))
def test_many_calls(seed: int) -> None:
    run_properties(1500, seed)
