"""Ranks that are processes: started by each launcher, every operator against numpy, and what they leave behind."""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path

import aivops
import numpy as np
import pytest
from collectives.cases import every_algorithm
from collectives.jobs import outputs, run_job, run_under, started_job
from collectives.many_ranks import every_operator

MODULE = "collectives.test_processes"
WINDOW_BYTES = 6 << 20


def operators() -> None:
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        right = all(every_operator(comm, count, turn) for turn, count in enumerate((0, 1, 7, 1000, 20_011)))
        comm.send(np.arange(3), (comm.rank + 1) % comm.size) if comm.rank == 0 else None
        if comm.rank == 1:
            right &= np.array_equal(comm.recv(0, np.zeros(3, int)), np.arange(3))
        print(f"{comm.rank} of {comm.size} on {comm.device.id}: {'equal' if right else 'WRONG'}")


def expected(size: int) -> list[str]:
    return [f"{rank} of {size} on {rank}: equal" for rank in range(size)]


def what_ranks_said(printed: str) -> list[str]:
    """By rank; launchers may put two texts into one line, and their ends into the next."""
    return sorted(re.findall(r"\d+ of \d+ on \d+: [a-zA-Z]+", printed))


@pytest.mark.parametrize("size", [2, 4, 8])
def test_every_operator_under_mpirun(size: int) -> None:
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(size)]
    assert what_ranks_said(run_under(launcher, f"{MODULE}:operators")) == expected(size)


def test_every_operator_with_the_variables_of_torchrun() -> None:
    assert [text.strip() for text in run_job(f"{MODULE}:operators", 3)] == expected(3)


def test_every_operator_under_aivops_run() -> None:
    printed = run_under(["aivops", "run", "-n", "4", "--no-prefix"], f"{MODULE}:operators")
    assert what_ranks_said(printed) == expected(4)


def test_every_algorithm_reads_the_memory_of_other_processes() -> None:
    assert run_job(f"{MODULE}:algorithms", 3) == ["right\n"] * 3


def algorithms() -> None:
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        right = all(every_algorithm(comm, count, turn) for turn, count in enumerate((0, 7, 3001, 40_000)))
        kept = comm.empty(1 << 20)
        for _ in range(100):  # more than there is room for, if dropped ones stayed
            comm.register(aivops.Buffer(comm.device, 1000))
        comm.unregister(kept)
        print("right" if right else "WRONG")


def test_one_rank() -> None:
    assert run_job(f"{MODULE}:one_rank", 1) == ["[[5.0]]\n"]


def one_rank() -> None:
    with aivops.Communicator.from_env() as comm:
        print(comm.all_gather(np.array([5.0])).tolist())


def test_master_port_stays_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        assert run_job(f"{MODULE}:rank_sum", 2, MASTER_PORT=port) == ["1\n", "1\n"]


def rank_sum() -> None:
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        print(int(comm.all_reduce(np.int64(comm.rank))))


def test_two_jobs_at_once_do_not_meet() -> None:
    with (
        started_job(f"{MODULE}:rank_sum", 2, job="first") as first,
        started_job(f"{MODULE}:rank_sum", 3, job="second") as second,
    ):
        assert outputs(first) == ["1\n"] * 2
        assert outputs(second) == ["3\n"] * 3


def test_a_job_may_run_again_at_once() -> None:
    for _ in range(2):
        assert run_job(f"{MODULE}:rank_sum", 2, job="again") == ["1\n", "1\n"]


def test_several_communicators_of_one_job() -> None:
    assert run_job(f"{MODULE}:several", 2) == ["[[0, 10], [1, 11]] [[0, 10], [1, 11]]\n"] * 2


def several() -> None:
    with (
        aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as first,
        aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as second,
    ):
        x = np.array([first.rank, first.rank + 10])
        print(first.all_gather(x).tolist(), second.all_gather(x).tolist())


def test_the_device_can_be_chosen() -> None:
    assert run_job(f"{MODULE}:on_other_devices", 2) == ["7 [0, 1]\n", "6 [0, 1]\n"]


def on_other_devices() -> None:
    device = 7 - int(os.environ["RANK"])
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES, device=device) as comm:
        print(comm.device.id, comm.all_gather(comm.rank).tolist())


def test_nothing_is_left_behind() -> None:
    before = set(Path("/dev/shm").iterdir())
    with started_job(f"{MODULE}:rank_sum", 2) as processes:
        outputs(processes)
    left = [path for path in set(Path("/dev/shm").iterdir()) - before if "aivops" in path.name]
    assert not left


def test_results_are_right_without_close() -> None:
    # The first rank is gone while the others still read what it brought.
    assert run_job(f"{MODULE}:end_at_once", 4) == ["equal\n"] * 4


def end_at_once() -> None:
    comm = aivops.Communicator.from_env(window_bytes=WINDOW_BYTES)
    count = 3_000_000
    gathered = comm.all_gather(np.full(count, comm.rank, np.int8))
    print("equal" if (gathered == np.arange(comm.size)[:, None]).all() else "WRONG", flush=True)


def test_buffers_and_handles() -> None:
    assert run_job(f"{MODULE}:queue_many", 3) == ["equal\n"] * 3


def queue_many() -> None:
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        inputs = [np.arange(1000, dtype=np.float32) * turn + comm.rank for turn in range(20)]
        buffers = [aivops.Buffer.from_host(comm.device, x) for x in inputs]
        works = [comm.all_reduce(buffer, async_op=True) for buffer in buffers]
        sums = [work.wait().to_numpy() for work in works]
        ranks = range(comm.size)
        wanted = [
            sum(np.arange(1000, dtype=np.float32) * turn + rank for rank in ranks) for turn in range(20)
        ]
        print("equal" if all(map(np.array_equal, sums, wanted)) else "WRONG")


def test_any_transport_will_do(tmp_path: Path) -> None:
    assert run_job(f"{MODULE}:over_files", 3, FOLDER=str(tmp_path)) == ["[0, 1, 2]\n"] * 3


class Files:
    """A bootstrap over files of one folder."""

    def __init__(self, folder: Path, rank: int, size: int) -> None:
        self.folder, self.rank, self.size, self.turn = folder, rank, size, 0

    def all_gather(self, data: bytes) -> list[bytes]:
        self.turn += 1
        own = self.folder / f"{self.turn}.{self.rank}"
        own.with_suffix(f".{self.rank}.part").write_bytes(data)
        own.with_suffix(f".{self.rank}.part").rename(own)
        paths = [self.folder / f"{self.turn}.{rank}" for rank in range(self.size)]
        while not all(path.exists() for path in paths):
            time.sleep(0.01)
        return [path.read_bytes() for path in paths]

    def barrier(self) -> None:
        self.all_gather(b"")


def over_files() -> None:
    bootstrap = Files(Path(os.environ["FOLDER"]), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    assert isinstance(bootstrap, aivops.Bootstrap)
    with aivops.Communicator(bootstrap, window_bytes=WINDOW_BYTES) as comm:
        print(comm.all_gather(comm.rank).tolist())


def test_a_communicator_of_mpi4py(tmp_path: Path) -> None:
    assert run_job(f"{MODULE}:over_mpi", 3, FOLDER=str(tmp_path)) == [
        "0 [0, 1, 2]\n",
        "1 [0, 1, 2]\n",
        "2 [0, 1, 2]\n",
    ]


class MpiOverFiles:
    """What is used of mpi4py's communicators, so that it need not be installed."""

    def __init__(self, files: Files) -> None:
        self.allgather, self.Barrier = files.all_gather, files.barrier
        self.Get_rank, self.Get_size = lambda: files.rank, lambda: files.size


def over_mpi() -> None:
    files = Files(Path(os.environ["FOLDER"]), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    with aivops.Communicator.from_mpi(MpiOverFiles(files), window_bytes=WINDOW_BYTES) as comm:
        print(comm.device.id, comm.all_gather(comm.rank).tolist())
