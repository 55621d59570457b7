"""The shipped kernels under the emulator's strict checks, and what those checks say of kernels with one fault each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from collectives.mutants import Mutants

PROGRAM = Path(__file__).parent / "strict_mode.py"


def run_strictly(first: int, seeds: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, str(first), str(seeds), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env=os.environ | {"AIVOPS_EMU_CHECK": "strict"},
    )


def test_every_operator_is_clean() -> None:
    done = run_strictly(0, 2)
    assert done.stdout == "2 clean\n", done.stderr


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_every_operator_is_clean_for_a_thousand_seeds(first: int) -> None:
    done = run_strictly(first, 100)
    assert done.stdout == "100 clean\n", done.stderr


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
    done = run_strictly(1, 1, name, str(mutants.folder))
    assert done.returncode != 0
    assert "racecheck" in done.stderr
