"""Runs a script against the emulated runtime in a process of its own: settings are read once per process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
HANGS_S = 600  # what takes longer; a long test on a busy machine does not


def run_in_process(script: str, toolkit: Path, *arguments: object, **environment: str) -> str:
    """What the script prints; it gets the folder of the tests, the toolkit and the arguments."""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(TESTS), str(toolkit), *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
