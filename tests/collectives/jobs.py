"""Jobs for tests: processes that each run a function of a test module on a rank of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SECONDS = 120.0


def command(function: str) -> list[str]:
    return [sys.executable, "-m", "collectives.job_process", function]


def base_environment() -> dict[str, str]:
    """This process's without what a launcher may have left, and with small device memory."""
    prefixes = ("OMPI_", "PMIX_", "SLURM_", "TORCHELASTIC_")
    names = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(prefixes) and k not in names}
    if "SLURM_CONF" in os.environ:  # where srun finds its controller
        kept["SLURM_CONF"] = os.environ["SLURM_CONF"]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**kept, "AIVOPS_EMU_MEMORY": "256M", "PYTHONPATH": path}


def rank_environment(rank: object, size: object, job: str) -> dict[str, str]:
    """What torchrun tells a rank."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
        "TORCHELASTIC_RUN_ID": job,
    }


def slurm_environment(rank: int, size: int) -> dict[str, str]:
    """What srun of Slurm 22.05 tells a rank of a step on one node, as far as ranks are concerned."""
    return {
        "SLURM_JOB_ID": "1",
        "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(rank),
        "SLURM_LOCALID": str(rank),
        "SLURM_NODEID": "0",
        "SLURM_NTASKS": str(size),
        "SLURM_STEP_NUM_TASKS": str(size),
        "SLURM_STEP_NUM_NODES": "1",
        "SLURM_STEP_TASKS_PER_NODE": str(size),
    }


def start(function: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(function),
        env={**base_environment(), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def started(function: str, environments: Sequence[dict[str, str]]) -> Iterator[list[subprocess.Popen[str]]]:
    """One process for each environment, killed at the end of the block if they still run."""
    processes = [start(function, environment) for environment in environments]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@contextmanager
def started_job(
    function: str, size: int, *, job: str | None = None, **environment: str
) -> Iterator[list[subprocess.Popen[str]]]:
    """All ranks of a job as torchrun would start them."""
    name = uuid.uuid4().hex if job is None else job
    with started(
        function, [{**rank_environment(r, size, name), **environment} for r in range(size)]
    ) as ranks:
        yield ranks


def outputs(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """What they print; fails when one of them does."""
    deadline = time.monotonic() + SECONDS
    printed = []
    for rank, process in enumerate(processes):
        output, errors = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
        assert process.returncode == 0, f"process {rank} returned {process.returncode}: {errors}"
        printed.append(output)
    return printed


def failures(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """The last line that each writes to standard error; all of them fail."""
    deadline = time.monotonic() + SECONDS
    told = []
    for process in processes:
        output, errors = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
        assert process.returncode == 1, (process.returncode, output, errors)
        told.append(errors.strip().splitlines()[-1])
    return told


def run_job(function: str, size: int, **environment: str) -> list[str]:
    with started_job(function, size, **environment) as processes:
        return outputs(processes)


def run_under(launcher: Sequence[str], function: str) -> str:
    """What all ranks print under a launcher."""
    if shutil.which(launcher[0]) is None:
        pytest.skip(f"{launcher[0]} is not installed")
    ran = subprocess.run(
        [*launcher, *command(function)],
        env=base_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
