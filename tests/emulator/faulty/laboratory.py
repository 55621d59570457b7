"""Builds the kernels of this folder, runs them in many setups, and says what is wrong with a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, cycle, product
from pathlib import Path

from emulator.conftest import KernelCompiler
from emulator.faulty.faults import KERNELS, Fault, Setup
from emulator.own_process import HANGS_S

TESTS = Path(__file__).parents[2]
RANKS = (2, 3, 8)
BLOCKS = (1, 7, 48)
QUICK = 24  # blocks of all ranks


def counts(blocks: int) -> tuple[int, int, int]:
    """One element; an odd number that each block has in one tile; more than the stages of all blocks hold."""
    return 1, blocks * 96 + 1, blocks * 600 + 1


MATRIX = tuple(
    Setup(ranks, blocks, count) for ranks, blocks in product(RANKS, BLOCKS) for count in counts(blocks)
)


@dataclass(frozen=True)
class Trial:
    """One of a fault's twins in one setup; the seed makes the numbers, and the schedule of strict mode."""

    fault: Fault
    wrong: bool
    setup: Setup
    seed: int

    @property
    def kernel(self) -> str:
        return f"{self.fault.name}_{'wrong' if self.wrong else 'right'}"

    @property
    def must_fail(self) -> bool:
        return self.wrong and self.fault.is_met(self.setup)


@dataclass(frozen=True)
class Outcome:
    code: int
    message: str
    wrong: list[int]  # calls with wrong results, of a run without an error


def build(compiler: KernelCompiler, folder: Path) -> Path:
    """All kernels in one binary, with their lines."""
    source = folder / "faulty.asc"
    source.write_text("".join(f'#include "{path}"\n' for path in sorted(KERNELS.glob("*.asc"))))
    return compiler.build(source, "-g")


def run(toolkit: Path, binary: Path, trials: Iterable[Trial], check: str) -> list[Outcome]:
    """Runs them one after the other in one process."""
    trials = list(trials)
    work = [
        [
            trial.kernel,
            trial.setup.ranks,
            trial.setup.blocks,
            trial.setup.count,
            trial.setup.calls,
            trial.seed,
        ]
        for trial in trials
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "emulator.faulty.experiment", toolkit, binary],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_S,
        cwd=TESTS,
        env={
            **os.environ,
            "AIVOPS_EMU_CHECK": check,
            "AIVOPS_EMU_TIMEOUT_INTERVAL_US": "50000",
        },
    )
    outcomes = [Outcome(**json.loads(line)) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, f"{work[len(outcomes)]}: {ran.stderr}"
    return outcomes


def complaint(trial: Trial, outcome: Outcome) -> str:
    """What is wrong with a strict run: a false alarm, a fault not found, or a report that does not explain it."""
    if not trial.must_fail:
        if outcome.code != 0:
            return f"false alarm: {outcome.message}"
        return "" if trial.wrong or not outcome.wrong else f"wrong results in calls {outcome.wrong}"
    if outcome.code == 0:
        return "not found"
    if f"{trial.fault.category}: " not in outcome.message:
        return f"the report is no {trial.fault.category}: {outcome.message}"
    lacking = [*trial.fault.says, *(f"{place})" for place in trial.fault.lines())]
    lacking = [text for text in lacking if text not in outcome.message]
    return f"the report lacks {lacking}: {outcome.message}" if lacking else ""


def complaints(trials: list[Trial], outcomes: list[Outcome]) -> list[str]:
    return [
        f"{trial.kernel} with {trial.setup} and seed {trial.seed}: {text}"
        for trial, outcome in zip(trials, outcomes, strict=True)
        if (text := complaint(trial, outcome))
    ]


def in_turn(setups: list[Setup], seeds: int) -> Iterator[tuple[Setup, int]]:
    """Every seed with a setup: each setup once, then those that are quick to run again and again."""
    quick = [setup for setup in setups if setup.ranks * setup.blocks <= QUICK] or setups
    return zip(chain(setups, cycle(quick)), range(max(seeds, len(setups))), strict=False)


def trials_of(fault: Fault, seeds: int) -> list[Trial]:
    """Both twins with so many seeds, which take turns in the setups; the wrong one where its fault is met, and once
    in every other setup."""
    met = [setup for setup in MATRIX if fault.is_met(setup)]
    return [
        *(Trial(fault, True, setup, seed) for setup, seed in in_turn(met, seeds)),
        *(Trial(fault, True, setup, 0) for setup in MATRIX if not fault.is_met(setup)),
        *(Trial(fault, False, setup, seed) for setup, seed in in_turn(list(MATRIX), seeds)),
    ]
