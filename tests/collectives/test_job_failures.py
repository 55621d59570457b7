"""Jobs that go wrong: a rank dies or raises in the middle, calls differ, ranks are missing, doubled or confused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import aivops
import numpy as np
import pytest
from collectives.jobs import failures, outputs, rank_environment, slurm_environment, started, started_job

MODULE = "collectives.test_job_failures"
WINDOW_BYTES = 6 << 20


def join(**settings: float) -> aivops.Communicator:
    return aivops.Communicator.from_env(window_bytes=WINDOW_BYTES, **settings)  # type: ignore[arg-type]


def await_line(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "under way\n", process.communicate()[1]


# ---- Death in the middle of a collective ----


@pytest.mark.parametrize("function", ["reduce_forever", "wait_forever"])
def test_a_killed_rank_is_named_to_the_others(function: str) -> None:
    victim = 2
    before = set(Path("/dev/shm").iterdir())
    with started_job(f"{MODULE}:{function}", 4) as processes:
        for process in processes:
            await_line(process)
        time.sleep(0.2)
        killed_at = time.monotonic()
        processes[victim].send_signal(signal.SIGKILL)
        survivors = [process for rank, process in enumerate(processes) if rank != victim]
        for line in failures(survivors):
            assert "PeerDiedError" in line
            assert f"because rank {victim} (process {processes[victim].pid}) has ended" in line
        # About a second, on a machine that does other things as well.
        assert time.monotonic() - killed_at < 5
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "aivops" in path.name]


def reduce_forever() -> None:
    comm = join()
    x = np.ones(100_000, np.float32)
    comm.all_reduce(x)
    print("under way", flush=True)
    while True:
        comm.all_reduce(x)


def wait_forever() -> None:
    comm = join()
    comm.barrier()
    print("under way", flush=True)
    if comm.rank == 2:
        time.sleep(1000)
    comm.all_reduce(np.ones(10, np.float32))


def test_a_rank_that_ended_does_not_disturb_those_that_need_it_no_more() -> None:
    with started_job(f"{MODULE}:leave_early", 3) as processes:
        assert outputs(processes) == ["gone\n", "[4, 4, 4]\n", "[5, 5, 5]\n"]


def leave_early() -> None:
    comm = join()
    comm.barrier()
    if comm.rank == 0:
        print("gone")
        return
    time.sleep(1)
    peer = 3 - comm.rank
    received = np.zeros(3, int)
    if comm.rank == 1:
        comm.recv(peer, received)
        comm.send(np.full(3, 5), peer)
    else:
        comm.send(np.full(3, 4), peer)
        comm.recv(peer, received)
    print(received.tolist())


# ---- Failures that are told ----


def test_a_rank_that_raises_stops_the_others() -> None:
    with started_job(f"{MODULE}:raise_on_one", 3) as processes:
        told = failures(processes)
    assert told[1] == "KeyError: 'lost'"
    for line in (told[0], told[2]):
        assert "PeerFailedError" in line
        assert "stopped because rank 1 raised KeyError: 'lost'" in line


def raise_on_one() -> None:
    with join() as comm:
        comm.barrier()
        if comm.rank == 1:
            raise KeyError("lost")
        comm.all_reduce(np.ones(10, np.float32))


def test_a_rank_that_raises_stops_those_that_close() -> None:
    """They have done their part, but not all is well."""
    with started_job(f"{MODULE}:raise_while_others_close", 3) as processes:
        told = failures(processes)
    assert told[1] == "KeyError: 'lost'"
    for rank in (0, 2):
        assert "PeerFailedError: Communicator: " in told[rank]
        assert "rank 1 raised KeyError: 'lost'" in told[rank]


def raise_while_others_close() -> None:
    with join() as comm:
        comm.barrier()
        if comm.rank == 1:
            time.sleep(0.5)
            raise KeyError("lost")


def test_windows_that_are_held_after_close() -> None:
    with started_job(f"{MODULE}:hold_windows", 2) as processes:
        for line in outputs(processes):
            assert line.endswith("it can be used no more, because the communicator is closed\n"), line


def hold_windows() -> None:
    comm = join()
    other = comm.windows[1 - comm.rank]
    assert other[:4].to_numpy().size == 4
    comm.close()
    with pytest.raises(aivops.InvalidValueError) as raised:
        other[:4].to_numpy()
    print(raised.value)


def test_different_calls_are_told_with_both() -> None:
    with started_job(f"{MODULE}:differ", 2) as processes:
        told = failures(processes)
    assert "CallMismatchError" in told[0]
    assert "rank 0 called all_gather of 10 float32" in told[0]
    assert "rank 1 called all_gather of 11 float32" in told[0]


def differ() -> None:
    comm = join()
    comm.all_gather(np.zeros(10 + comm.rank, np.float32))


def test_a_rank_that_never_comes_to_a_call() -> None:
    with started_job(f"{MODULE}:miss_a_call", 2) as processes:
        assert outputs(processes[:1]) == ["0 1\n"]


def miss_a_call() -> None:
    comm = join()
    comm.barrier()
    if comm.rank == 1:
        time.sleep(1000)
    try:
        comm.all_gather(np.zeros(4), timeout=0.3)
    except aivops.PeerTimeoutError as error:
        print(error.rank, error.peer)


def test_a_closed_communicator_refuses_calls() -> None:
    with started_job(f"{MODULE}:call_after_close", 2) as processes:
        for line in failures(processes):
            assert "PeerFailedError" in line
            assert "the communicator was closed" in line


def call_after_close() -> None:
    comm = join()
    comm.close()
    comm.close()
    with pytest.raises(aivops.PeerFailedError, match="the communicator was closed"):
        comm.empty(4)
    comm.barrier()


def test_a_forked_child_cannot_use_it() -> None:
    with started_job(f"{MODULE}:fork", 2) as processes:
        for output in outputs(processes):
            assert output.startswith("ForkError: Device: this process was forked")


def fork() -> None:
    with join() as comm:
        comm.barrier()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                comm.barrier()
            except aivops.ForkError as error:
                print(f"ForkError: {error}", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        comm.barrier()


def test_memory_that_another_process_kept_to_itself_is_not_read() -> None:
    """Neither the window's nor registered: the address means nothing to a kernel of another rank."""
    with started_job(f"{MODULE}:read_what_is_not_shared", 2) as processes:
        told, address = outputs(processes)
    assert "507035" in told
    assert "kernel aiv_all_gather_uint8_t on device 0: block 0 of 1: memcheck: DataCopyPad: reads" in told
    assert f"of GM at {address.strip()} (not device memory)" in told


def read_what_is_not_shared() -> None:
    with join() as comm, aivops.LocalGroup(1) as alone:
        private = aivops.Buffer(comm.device, 100_000, "uint8")
        address = int(comm.all_gather(np.uint64(private.pointer))[1])
        if comm.rank == 1:
            print(hex(address))
        else:
            stream = aivops.Stream(comm.device)
            kernel = aivops.load_kernels("aivops").get_kernel("aiv_all_gather_uint8_t")
            window, config = alone.communicators[0].windows[0], aivops.LaunchConfig(blocks=1)
            kernel.launch(stream, window, address, private, 100_000, 1 << 59, config=config)
            try:
                stream.synchronize()
            except aivops.AclError as error:
                print(error)
        comm.barrier()


# ---- Ranks that do not find together ----


def join_only() -> None:
    join(join_timeout=float(os.environ.get("JOIN_TIMEOUT", "30")))


def start_ranks(ranks: list[tuple[int, int]], job: str, **more: str) -> list[dict[str, str]]:
    return [{**rank_environment(rank, size, job), **more} for rank, size in ranks]


def test_missing_ranks_are_named() -> None:
    environments = start_ranks([(0, 4), (2, 4)], "missing", JOIN_TIMEOUT="1.5")
    with started(f"{MODULE}:join_only", environments) as processes:
        for line in failures(processes):
            assert "BootstrapTimeoutError" in line
            assert "ranks 1, 3 did not come within 1.5 s" in line


def test_a_missing_rank_0_is_named() -> None:
    with started(f"{MODULE}:join_only", start_ranks([(1, 2)], "no root", JOIN_TIMEOUT="0.5")) as processes:
        (line,) = failures(processes)
    assert "BootstrapTimeoutError: Communicator: rank 0 did not come within 0.5 s" in line


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_twice(rank: int) -> None:
    with started(f"{MODULE}:join_only", start_ranks([(rank, 3), (rank, 3)], f"twice {rank}")) as processes:
        if rank == 0:
            await_end = next(iter(wait_for_one(processes)))
            line = failures([await_end])[0]
        else:
            with started(f"{MODULE}:join_only", start_ranks([(0, 3)], f"twice {rank}")) as root:
                line = failures(root)[0]
                assert failures(processes) == [line, line]
        pids = [process.pid for process in processes]
    assert "BootstrapError" in line
    assert f"both say that they are rank {rank} of the job" in line
    assert all(f"process {pid}" in line for pid in pids)


def wait_for_one(processes: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    """Those that have ended, as soon as there is one."""
    while not (ended := [process for process in processes if process.poll() is not None]):
        time.sleep(0.02)
    return ended


def test_ranks_of_different_sizes() -> None:
    with started(f"{MODULE}:join_only", start_ranks([(0, 2), (1, 3)], "sizes")) as processes:
        for line in failures(processes):
            assert "BootstrapError" in line
            assert f"rank 1 (process {processes[1].pid}) says that there are 3 ranks" in line
            assert f"rank 0 (process {processes[0].pid}) says 2" in line


def join_with_own_settings() -> None:
    aivops.Communicator.from_env(
        window_bytes=int(os.environ.get("WINDOW_BYTES", WINDOW_BYTES)),
        device=int(os.environ.get("DEVICE", os.environ["RANK"])),
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"WINDOW_BYTES": "8000000"}, "rank 1 has window_bytes 8000000, rank 0 has 6291456"),
        ({"AIVOPS_EMU_SOC": "Ascend910B2"}, "rank 1 has chip Ascend910B2, rank 0 has Ascend910B1"),
        ({"DEVICE": "0"}, "ranks 0 and 1 both use device 0"),
    ],
)
def test_ranks_that_differ(settings: dict[str, str], text: str) -> None:
    first, second = start_ranks([(0, 2), (1, 2)], text)
    with started(f"{MODULE}:join_with_own_settings", [first, {**second, **settings}]) as processes:
        for line in failures(processes):
            assert "InvalidValueError" in line
            assert text in line


def test_a_rank_without_device_is_told_to_all() -> None:
    first, second = start_ranks([(0, 2), (1, 2)], "no device")
    environments = [first, {**second, "DEVICE": "17"}]
    with started(f"{MODULE}:join_with_own_settings", environments) as processes:
        told = failures(processes)
    assert "InvalidValueError: Device 17: there are 8 devices" in told[1]
    assert "PeerFailedError: Communicator: rank 1 failed: InvalidValueError: Device 17" in told[0]


# ---- What the environment says ----


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({}, "no launcher started this process"),
        ({"RANK": "0"}, "RANK is set and WORLD_SIZE is not"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "RANK is set and MASTER_ADDR and MASTER_PORT not"),
        ({"RANK": "one", "WORLD_SIZE": "2"}, "RANK is 'one', expected a number from 0 on"),
        ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK is '-1', expected a number from 0 on"),
        ({"RANK": "0", "WORLD_SIZE": "9" * 5000}, "WORLD_SIZE is '999999999999...9999999999999', expected"),
        ({"RANK": "1" * 5000, "WORLD_SIZE": "2"}, "expected a number from 0 on of at most 6 digits"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK is 2 and WORLD_SIZE is 2, expected a rank of 0 to 1"),
        (
            {"RANK": "0", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"},
            "WORLD_SIZE is 16 and LOCAL_WORLD_SIZE is 8, but all ranks of a communicator must run on one",
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
            "OMPI_COMM_WORLD_SIZE is 4 and OMPI_COMM_WORLD_LOCAL_SIZE is 2",
        ),
        # Two nodes as srun of Slurm 22.05 tells them.
        (
            slurm_environment(1, 4) | {"SLURM_STEP_TASKS_PER_NODE": "2(x2)"},
            "SLURM_STEP_NUM_TASKS is 4 and SLURM_STEP_TASKS_PER_NODE is 2(x2), but all ranks of a communicator must",
        ),
        (
            slurm_environment(2, 3) | {"SLURM_STEP_TASKS_PER_NODE": "2,1", "SLURM_LOCALID": "0"},
            "SLURM_STEP_NUM_TASKS is 3 and SLURM_STEP_TASKS_PER_NODE is 2,1, but all ranks of a communicator must",
        ),
        (
            slurm_environment(0, 1) | {"SLURM_STEP_TASKS_PER_NODE": "many"},
            "SLURM_STEP_TASKS_PER_NODE is 'many', expected a number from 0 on",
        ),
    ],
)
def test_environments_that_make_no_sense(
    environment: dict[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("OMPI_", "SLURM_")) or name in rank_environment(0, 0, ""):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"Communicator\.from_env\(\): ") as raised:
        aivops.Communicator.from_env()
    assert text in str(raised.value)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_timeout_that_is_none_is_refused_before_ranks_meet(
    timeout: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in rank_environment(0, 2, "nobody else comes").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(aivops.InvalidValueError, match=r"timeout: .* is not a time limit"):
        aivops.Communicator.from_env(timeout=timeout)
    with pytest.raises(aivops.InvalidValueError, match=r"join_timeout: .* is not a time limit"):
        aivops.Communicator.from_env(join_timeout=timeout)


def test_ranks_that_wait_for_ever_meet() -> None:
    with started_job(f"{MODULE}:join_for_ever", 2) as processes:
        assert outputs(processes) == ["[2, 2, 2]\n"] * 2


def join_for_ever() -> None:
    sums = []
    for seconds in (1e8, 1e300, float("inf")):
        with join(timeout=float("inf"), join_timeout=seconds) as comm:
            sums.append(int(comm.all_reduce(np.ones(1, np.int32))[0]))
    print(sums)
