"""Launchers of other projects, where they are installed: mpi4py under mpirun, torchrun, srun."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import aivops
import numpy as np
import pytest
from collectives.jobs import outputs, run_under, slurm_environment, started
from collectives.many_ranks import every_operator

MODULE = "collectives.test_launchers"
WINDOW_BYTES = 6 << 20
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--no-python")


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; `make test-interop` installs it")


def check(comm: aivops.Communicator, what: str) -> None:
    """Prints a line that all_said() finds, whatever the launcher writes around it."""
    right = all(every_operator(comm, count, turn) for turn, count in enumerate((0, 7, 20_011)))
    print(
        f"<{what} {comm.rank} of {comm.size} on {comm.device.id}: {'equal' if right else 'WRONG'}>",
        flush=True,
    )


def all_said(printed: str) -> list[str]:
    return sorted(re.findall(r"<([^<>]*)>", printed))


def expected(what: str, size: int) -> list[str]:
    return [f"{what} {rank} of {size} on {rank}: equal" for rank in range(size)]


# ---- mpi4py ----


def test_every_operator_on_a_communicator_of_mpi4py() -> None:
    need("mpi4py")
    halves = [f"half {rank // 2} of 2 on {rank}: equal" for rank in range(4)]
    said = all_said(run_under([*MPIRUN, "4"], f"{MODULE}:over_mpi4py"))
    assert said == sorted([*expected("world", 4), *halves])


def world() -> Any:
    from mpi4py import MPI  # noqa: PLC0415

    return MPI.COMM_WORLD


def over_mpi4py() -> None:
    """All ranks, then the even and the odd ones at the same time."""
    with aivops.Communicator.from_mpi(world(), window_bytes=WINDOW_BYTES) as comm:
        check(comm, "world")
        assert world().allreduce(comm.rank) == comm.all_reduce(np.int64(comm.rank)) == 6
    half = world().Split(world().Get_rank() % 2)
    with aivops.Communicator.from_mpi(half, window_bytes=WINDOW_BYTES) as comm:
        check(comm, "half")


def test_a_rank_of_mpi4py_that_raises_stops_the_others() -> None:
    need("mpi4py")
    stopped = "rank {} stopped because rank 1 raised KeyError: 'lost'"
    said = all_said(run_under([*MPIRUN, "3"], f"{MODULE}:raise_over_mpi4py"))
    assert len(said) == 3
    assert said[0] == "KeyError: 'lost'"
    assert all(stopped.format(rank) in text for rank, text in zip((0, 2), said[1:], strict=True))


def raise_over_mpi4py() -> None:
    try:
        with aivops.Communicator.from_mpi(world(), window_bytes=WINDOW_BYTES) as comm:
            comm.barrier()
            if comm.rank == 1:
                raise KeyError("lost")
            comm.all_reduce(np.ones(10, np.float32))
    except (KeyError, aivops.PeerFailedError) as error:
        print(f"<{type(error).__name__}: {error}>", flush=True)


# ---- torchrun ----


def test_every_operator_under_torchrun_beside_gloo() -> None:
    """torch.distributed takes MASTER_PORT for itself in the same processes."""
    need("torch")
    said = all_said(run_under([*TORCHRUN, "--nproc-per-node", "3"], f"{MODULE}:beside_gloo"))
    assert said == expected("torchrun", 3)


def beside_gloo() -> None:
    import torch  # noqa: PLC0415
    from torch import distributed  # noqa: PLC0415

    distributed.init_process_group("gloo")
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        check(comm, "torchrun")
        x = torch.arange(1000) + comm.rank
        total = comm.all_reduce(x)
        distributed.all_reduce(x)
        assert torch.equal(total, x)
    distributed.destroy_process_group()


def test_torchrun_may_restart_a_job() -> None:
    need("torch")
    launcher = [*TORCHRUN, "--nproc-per-node", "2", "--max-restarts", "1"]
    said = all_said(run_under(launcher, f"{MODULE}:fail_at_first"))
    assert said == expected("again", 2)


def fail_at_first() -> None:
    first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        comm.barrier()
        if first and comm.rank == 1:
            raise KeyError("lost")
        check(comm, "again")


# ---- Slurm ----


def test_every_operator_under_srun() -> None:
    if shutil.which("srun") is None:
        pytest.skip("srun is not installed")
    if subprocess.run(["sinfo"], capture_output=True, check=False).returncode != 0:
        pytest.skip("srun is installed, and no Slurm controller answers")
    launcher = ["srun", "--nodes", "1", "--ntasks", "3", "--overcommit", "--mpi", "none"]
    assert all_said(run_under(launcher, f"{MODULE}:from_env")) == expected("env", 3)


def test_every_operator_with_the_variables_of_srun() -> None:
    with started(f"{MODULE}:from_env", [slurm_environment(rank, 3) for rank in range(3)]) as processes:
        assert all_said("".join(outputs(processes))) == expected("env", 3)


def from_env() -> None:
    with aivops.Communicator.from_env(window_bytes=WINDOW_BYTES) as comm:
        check(comm, "env")
