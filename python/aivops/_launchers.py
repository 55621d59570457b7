"""What launchers tell the processes that they start: which rank of which job this is."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import InvalidValueError

_MOST_DIGITS = 6  # more than any job's ranks have
# Slurm's tasks by node: "3" on one, and "2(x2)" or "2,1" on two.
_SEVERAL_NODES = re.compile(r"[0-9]{1,6}(\(x[0-9]+\)|,)[0-9(x),]{0,40}")


@dataclass(frozen=True)
class Place:
    """One process's place in its job, all of which runs on this machine."""

    launcher: str
    rank: int
    size: int
    local_rank: int
    job: str
    """Equal on all ranks, and different for jobs that run at the same time."""


@dataclass(frozen=True)
class _Launcher:
    name: str
    rank: str
    size: str
    local_rank: str
    local_size: str
    required: tuple[str, ...] = ()  # of what tells jobs apart
    optional: tuple[str, ...] = ()


_LAUNCHERS = (
    _Launcher(
        "torchrun",
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "LOCAL_WORLD_SIZE",
        required=("MASTER_ADDR", "MASTER_PORT"),
        optional=("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"),
    ),
    _Launcher(
        "Open MPI",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        optional=("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    ),
    _Launcher(
        "Slurm",
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",  # set by srun only: a batch script itself is no rank
        "SLURM_LOCALID",
        "SLURM_STEP_TASKS_PER_NODE",
        required=("SLURM_JOB_ID", "SLURM_STEP_ID"),
    ),
)


def find_place(environment: Mapping[str, str]) -> Place:
    """Who this process is, by the first launcher that left its variables."""
    for launcher in _LAUNCHERS:
        if launcher.rank in environment and launcher.size in environment:
            return _place(launcher, environment)
    for launcher in _LAUNCHERS:
        present = {name for name in (launcher.rank, launcher.size) if name in environment}
        if present:
            missing = ({launcher.rank, launcher.size} - present).pop()
            raise InvalidValueError(
                f"Communicator.from_env(): {present.pop()} is set and {missing} is not; "
                f"{launcher.name} sets both"
            )
    raise InvalidValueError(
        "Communicator.from_env(): no launcher started this process: neither RANK and WORLD_SIZE, nor the "
        "variables of Open MPI or Slurm are set; start it with `aivops run -n N python …`, torchrun or "
        "mpirun, or use aivops.LocalGroup for ranks in one process"
    )


def find_local_rank(environment: Mapping[str, str]) -> int | None:
    """This process's number on its machine, where a launcher tells it."""
    for launcher in _LAUNCHERS:
        if launcher.local_rank in environment:
            return _number(launcher.local_rank, environment)
    return None


def _place(launcher: _Launcher, environment: Mapping[str, str]) -> Place:
    rank, size = _number(launcher.rank, environment), _number(launcher.size, environment)
    if rank >= size:
        raise InvalidValueError(
            f"Communicator.from_env(): {launcher.rank} is {rank} and {launcher.size} is {size}, "
            f"expected a rank of 0 to {size - 1}"
        )
    local_rank = rank
    if launcher.local_rank in environment:
        local_rank = _number(launcher.local_rank, environment)
    here = environment.get(launcher.local_size, str(size))
    if _SEVERAL_NODES.fullmatch(here) or _number(launcher.local_size, {launcher.local_size: here}) != size:
        raise InvalidValueError(
            f"Communicator.from_env(): {launcher.size} is {size} and {launcher.local_size} is {here}, "
            "but all ranks of a communicator must run on one machine; start the job on one"
        )
    missing = [name for name in launcher.required if name not in environment]
    if missing:
        raise InvalidValueError(
            f"Communicator.from_env(): {launcher.rank} is set and {' and '.join(missing)} not, which "
            "tell jobs apart; give all ranks of the job the same"
        )
    names = (*launcher.required, *launcher.optional)
    job = "\n".join(f"{name}={environment[name]}" for name in names if name in environment)
    return Place(launcher.name, rank, size, local_rank, job)


def _number(name: str, environment: Mapping[str, str]) -> int:
    text = environment[name]
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise InvalidValueError(
            f"Communicator.from_env(): {name} is {reprlib.repr(text)}, expected a number from 0 on "
            f"of at most {_MOST_DIGITS} digits"
        )
    return int(text)
