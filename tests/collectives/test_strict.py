"""The shipped kernels under the emulator's strict checks, and what those checks say of kernels with one fault each."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from collectives.mutants import Mutants

PROGRAM = Path(__file__).parent / "strict_mode.py"


def run_strictly(seed: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"AIVOPS_EMU_CHECK": "strict", "AIVOPS_EMU_SEED": str(seed)},
    )


@pytest.mark.parametrize("seed", range(2))
def test_every_operator_is_clean(seed: int) -> None:
    done = run_strictly(seed)
    assert done.stdout == "clean\n", done.stderr


@pytest.mark.long
def test_every_operator_is_clean_for_a_thousand_seeds() -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run_strictly, range(1000)))
    reports = {seed: done.stderr for seed, done in enumerate(runs) if done.stdout != "clean\n"}
    assert reports == {}


# One fault each: (file, what it says, what it says instead). None may change the window's layout, which the
# host knows too: peers of a rank that stopped would not find its abort word.
FAULTS = {
    "flag_before_data": (
        "include/aivops/lane.h",
        "    __aicore__ inline void enter() {\n        AscendC::PipeBarrier<PIPE_ALL>();\n",
        "    __aicore__ inline void enter() {\n",
    ),
    "read_before_flag": ("kernels/all_gather.asc", "if (!lane.wait(peer)) {", "if (false) {"),
    "one_stage": (
        "include/aivops/lane.h",
        "kDataOffset + tag_ % kStages * stage_bytes_",
        "kDataOffset",
    ),
    "store_before_load": ("include/aivops/tile_copy.h", "tiles_.EnQue(tile);", "loaded_ = tile;"),
    "poll_without_barrier": (
        "include/aivops/lane.h",
        "            load(poll_, own(offset));\n            AscendC::PipeBarrier<PIPE_ALL>();\n",
        "            load(poll_, own(offset));\n",
    ),
}
MORE = {
    "store_before_load": [
        ("tiles_.template DeQue<T>();", "loaded_;"),
        ("VECOUT, 1> tiles_;", "VECOUT, 1> tiles_;\n    AscendC::LocalTensor<T> loaded_;"),
    ]
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_is_reported(mutants: Mutants, fault: str) -> None:
    file, old, new = FAULTS[fault]
    name = mutants.all_gather(fault, {file: [(old, new), *MORE.get(fault, [])]})
    done = run_strictly(1, name, str(mutants.folder))
    assert done.returncode != 0
    assert "racecheck" in done.stderr
