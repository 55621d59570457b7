"""Jobs of several ranks for tests: each rank runs a function of a test module with its own `Rank`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[2]
# Small memory, so that many ranks fit into any machine.
ENVIRONMENT = {
    "AIVOPS_EMU_MEMORY": "64M",
    "HCCL_BUFFSIZE": "1",
    "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]),
}


def _command(function: str, size: int, folder: Path, rank: object) -> list[str]:
    return [
        sys.executable,
        "-m",
        "emulator.hccl.rank_process",
        function,
        str(size),
        str(folder / "root"),
        str(rank),
    ]


def _environment(extra: dict[str, str], rank: int | None) -> dict[str, str]:
    told = {} if rank is None else {"RANK": str(rank)}
    return {**os.environ, **ENVIRONMENT, **told, **extra}


@contextmanager
def started_ranks(
    function: str, size: int, folder: Path, **environment: str
) -> Iterator[list[subprocess.Popen[str]]]:
    """The processes of a job, killed at the end of the block if they still run."""
    processes = [
        subprocess.Popen(
            _command(function, size, folder, rank),
            env=_environment(environment, rank),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def run_ranks(function: str, size: int, folder: Path, threads: bool = False, **environment: str) -> None:
    """Run `module:function` on every rank; fails when one of them does."""
    if threads:
        done = subprocess.run(
            _command(function, size, folder, "threads"),
            env=_environment(environment, None),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return
    with started_ranks(function, size, folder, **environment) as processes:
        deadline = time.monotonic() + 120
        for rank, process in enumerate(processes):
            _, errors = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
            assert process.returncode == 0, f"rank {rank} returned {process.returncode}: {errors}"
