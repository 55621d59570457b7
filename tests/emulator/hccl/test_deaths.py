"""A rank that is killed ends its peers' waits within two seconds, with an error that names it, and leaves nothing."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_uint64
from pathlib import Path

import numpy as np
import pytest
from emulator.hccl.conftest import MeshGather
from emulator.hccl.ranks import ENVIRONMENT, started_ranks
from emulator.hccl.toolkit import CallError, Rank

LIMIT_SECONDS = 2.0
MODULE = "emulator.hccl.test_deaths"


def await_line(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert "under way" in line, line + process.communicate()[1]


def kill_one(processes: list[subprocess.Popen[str]], delay: float, victim: int) -> float:
    """Kill a rank under way; returns how long the slowest peer took to end with an error that names it."""
    for process in processes:
        await_line(process)
    time.sleep(delay)
    killed_at = time.monotonic()
    processes[victim].send_signal(signal.SIGKILL)
    slowest = 0.0
    for rank, process in enumerate(processes):
        if rank == victim:
            process.wait()
            continue
        try:
            _, errors = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            pytest.fail(f"rank {rank} still waits 10 s after rank {victim} was killed")
        slowest = max(slowest, time.monotonic() - killed_at)
        assert process.returncode == 3, (process.returncode, errors)
        assert f"rank {victim} (process {processes[victim].pid}) has ended" in errors
    return slowest


@contextmanager
def started_gathers(
    mesh_gather: MeshGather, folder: Path, size: int, temporary: Path
) -> Iterator[list[subprocess.Popen[str]]]:
    command = [str(mesh_gather.host), str(mesh_gather.kernel), "5000", "forever", str(folder / "root")]
    processes = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                **ENVIRONMENT,
                "RANK": str(rank),
                "WORLD_SIZE": str(size),
                "TMPDIR": str(temporary),
            },
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


def left_behind(temporary: Path) -> set[str]:
    """Files of ours in shared memory, and any in the folder that was the ranks' TMPDIR."""
    shared = Path("/dev/shm")
    named = {path.name for path in shared.iterdir() if "aivops" in path.name} if shared.is_dir() else set()
    return named | {path.name for path in temporary.iterdir()}


def shared_memory_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) << 10
    return 0


def all_reduces_forever(rank: Rank) -> None:
    buffer = rank.upload(np.zeros(30000, "float32"))
    for call in range(1 << 30):
        try:
            rank.run("HcclAllReduce", buffer, buffer, c_uint64(30000), 4, 0)
        except CallError as error:
            print(error, flush=True)
            os.write(2, error.message.encode())
            os._exit(3)
        if call == 3:
            print("under way", flush=True)


def test_killed_in_a_kernel(mesh_gather: MeshGather, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for victim in (0, 2):
        folder = tmp_path / str(victim)
        folder.mkdir()
        with started_gathers(mesh_gather, folder, 3, temporary) as processes:
            assert kill_one(processes, 0.05, victim) < LIMIT_SECONDS
    assert left_behind(temporary) == set()


def test_killed_in_a_collective(tmp_path: Path) -> None:
    with started_ranks(f"{MODULE}:all_reduces_forever", 3, tmp_path) as processes:
        assert kill_one(processes, 0.05, 1) < LIMIT_SECONDS


def await_place(process: subprocess.Popen[str]) -> None:
    """Until the process holds the lock that tells others that it lives."""
    deadline = time.monotonic() + 30
    while not re.search(rf"POSIX +ADVISORY +WRITE {process.pid} ", Path("/proc/locks").read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.1)


def waits_for_ever(rank: Rank) -> None:
    print("under way", flush=True)
    time.sleep(600)


def test_killed_before_the_others_have_come(tmp_path: Path) -> None:
    """Two of three ranks wait in HcclCommInitRootInfo; one of them dies."""
    with started_ranks(f"{MODULE}:waits_for_ever", 3, tmp_path) as processes:
        processes[2].kill()
        await_place(processes[1])
        processes[1].kill()
        _, errors = processes[0].communicate(timeout=10)
        assert processes[0].returncode == 1
        assert f"rank 1 (process {processes[1].pid}) has ended" in errors


@pytest.mark.long
def test_killed_at_any_moment(mesh_gather: MeshGather, tmp_path: Path) -> None:
    """200 deaths, in kernels and in collectives; the memory of the machine does not grow."""
    random_ = random.Random(20)
    memory = shared_memory_bytes()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    slowest = 0.0
    for attempt in range(200):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        size = random_.choice([2, 3, 4])
        delay, victim = random_.uniform(0, 0.05), random_.randrange(size)
        if attempt % 4 == 3:
            with started_ranks(
                f"{MODULE}:all_reduces_forever", size, folder, TMPDIR=str(temporary)
            ) as processes:
                slowest = max(slowest, kill_one(processes, delay, victim))
        else:
            with started_gathers(mesh_gather, folder, size, temporary) as processes:
                slowest = max(slowest, kill_one(processes, delay, victim))
    print(f"200 deaths: the slowest peer took {slowest:.3f} s")
    assert slowest < LIMIT_SECONDS
    assert left_behind(temporary) == set()
    # Other programs share it too; 200 jobs that leave theirs would be far more.
    assert shared_memory_bytes() - memory < 256 << 20
