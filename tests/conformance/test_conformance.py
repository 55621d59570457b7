"""The emulated toolkit answers every question of the conformance program as the reference says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "host/cann/include"
# What a reference does not tell, the program must not claim to know.
OPEN = {
    "error.message",
    "error.message.again",
    "hccl.layers.count",
    "hccl.links.self",
    "ipc.export.part",
    "ipc.import.own",
    "ipc.import.own.address",
    "ipc.key.length",
    "timeout.interval",
    "timeout.units",
}


@pytest.fixture(scope="module")
def compiler(build_dir: Path) -> KernelCompiler:
    return KernelCompiler(build_dir / "toolkit")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("conformance") / "conformance"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    sources = [str(source) for source in sorted(HERE.glob("*.c"))]
    subprocess.run(["gcc", *flags, *sources, "-o", str(output), "-ldl", "-lpthread"], check=True)
    return output


def answers(program: Path, toolkit: Path, *arguments: str, **environment: str) -> tuple[int, dict]:
    done = subprocess.run(
        [str(program), "--toolkit", str(toolkit), *arguments],
        env={**os.environ, "AIVOPS_EMU_TIMEOUT_INTERVAL_US": "100000", "HCCL_BUFFSIZE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("soc", "architecture"),
    [
        ("Ascend910B1", "dav-c220-vec"),
        ("Ascend910_9381", "dav-c220-vec"),
    ],
)
def test_every_fact_is_as_expected(
    program: Path, compiler: KernelCompiler, tmp_path: Path, soc: str, architecture: str
) -> None:
    source = Path(shutil.copy(HERE / "conformance.asc", tmp_path))
    kernels = compiler.build(source, architecture=architecture)
    status, found = answers(
        program, compiler.toolkit, "--kernels", str(kernels), "--endless", AIVOPS_EMU_SOC=soc
    )
    assert [fact for fact in found["facts"] if fact["result"] == "different"] == []
    assert status == 0
    assert found["soc"] == soc
    assert {fact["id"] for fact in found["facts"] if fact["result"] == "unknown"} == OPEN
    assert found["summary"]["expected"] == len(found["facts"]) - len(OPEN)
    ids = [fact["id"] for fact in found["facts"]]
    assert len(set(ids)) == len(ids)


def test_without_kernels_their_questions_stay_open(program: Path, compiler: KernelCompiler) -> None:
    status, found = answers(program, compiler.toolkit)
    assert status == 0
    by_id = {fact["id"]: fact for fact in found["facts"]}
    assert by_id["launch"]["result"] == "unknown"
    assert "--kernels" in by_id["launch"]["why"]


def test_another_answer_is_told(program: Path, compiler: KernelCompiler) -> None:
    """A wrong device for the program's taste: nothing but its own arguments makes a fact differ here."""
    status, found = answers(program, compiler.toolkit, AIVOPS_EMU_SOC="Ascend950PR_9599")
    different = {fact["id"] for fact in found["facts"] if fact["result"] == "different"}
    # The emulated communicators are those of A2 and A3; docs/hccl.md lists this.
    assert different == {"hccl.context.miss"}
    assert status == 1


def test_a_folder_that_is_no_toolkit(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(program), "--toolkit", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "name a toolkit with --toolkit" in done.stderr
