"""A custom operator over hccl_res.h: its C host follows CANN's documented flow call by call, under every launcher."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emulator.hccl.conftest import HERE, MeshGather, build_host
from emulator.hccl.ranks import ENVIRONMENT

SMALL = {**os.environ, **ENVIRONMENT}


def arguments(mesh_gather: MeshGather, folder: Path, size: int = 70001, calls: object = 10) -> list[str]:
    return [str(mesh_gather.kernel), str(size), str(calls), str(folder / "root")]


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, env={**SMALL, **environment}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_under_aivops_run(mesh_gather: MeshGather, tmp_path: Path, size: int) -> None:
    launcher = [sys.executable, "-m", "aivops", "run", "-n", str(size)]
    output = run([*launcher, str(mesh_gather.host), *arguments(mesh_gather, tmp_path)])
    assert sorted(output.splitlines()) == [f"[{r}] rank {r} of {size} gathered 10 times" for r in range(size)]


@pytest.mark.parametrize("size", [2, 4, 8])
def test_under_mpirun(mesh_gather: MeshGather, tmp_path: Path, size: int, toolkit: Path) -> None:
    mpirun, mpicc = shutil.which("mpirun"), shutil.which("mpicc")
    if mpirun is None or mpicc is None:
        pytest.skip("no Open MPI: apt-get install openmpi-bin libopenmpi-dev")
    host = build_host(
        HERE / "mesh_gather_host.c",
        tmp_path / "host",
        toolkit,
        "-DUSE_MPI",
        "-Wno-cast-function-type",
        compiler=mpicc,
    )
    launcher = [mpirun, "--allow-run-as-root", "--oversubscribe", "-np", str(size)]
    output = run([*launcher, str(host), *arguments(mesh_gather, tmp_path)])
    assert sorted(output.splitlines()) == [f"rank {r} of {size} gathered 10 times" for r in range(size)]


@pytest.mark.parametrize("soc", ["Ascend910B4", "Ascend910_9362"])
def test_on_every_family_of_its_architecture(mesh_gather: MeshGather, tmp_path: Path, soc: str) -> None:
    launcher = [sys.executable, "-m", "aivops", "run", "-n", "4"]
    run([*launcher, str(mesh_gather.host), *arguments(mesh_gather, tmp_path)], AIVOPS_EMU_SOC=soc)


def test_jobs_of_one_machine_never_meet(mesh_gather: MeshGather, tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "aivops", "run", "-n", "2"]
    folders = [tmp_path / str(job) for job in range(4)]
    jobs = []
    for folder in folders:
        folder.mkdir()
        command = [*launcher, str(mesh_gather.host), *arguments(mesh_gather, folder, size=999, calls=50)]
        jobs.append(subprocess.Popen(command, env=SMALL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    for job in jobs:
        output, _ = job.communicate(timeout=120)
        assert job.returncode == 0, output


@pytest.mark.parametrize("shared", ["none", "64m"])
def test_without_shared_memory_of_its_own(mesh_gather: MeshGather, tmp_path: Path, shared: str) -> None:
    """/dev/shm is absent, or has the 64 MiB that containers give; the job holds far more than that."""
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run([unshare, "-m", "true"], check=False, capture_output=True).returncode != 0
    ):
        pytest.skip("this user may not unshare its mounts")
    options = {"none": "ro,size=4k", "64m": "size=64m"}[shared]
    launcher = [sys.executable, "-m", "aivops", "run", "-n", "4"]
    job = [*launcher, str(mesh_gather.host), *arguments(mesh_gather, tmp_path, size=16 << 20, calls=2)]
    run(
        [unshare, "-m", "sh", "-c", f'mount -t tmpfs -o {options} none /dev/shm && exec "$@"', "sh", *job],
        HCCL_BUFFSIZE="16",
        AIVOPS_EMU_MEMORY="256M",
    )
