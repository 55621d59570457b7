"""The table of docs/faulty_kernels.md: `python -m emulator.faulty.table TOOLKIT [SEEDS]` measures and prints it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from emulator.conftest import KernelCompiler
from emulator.faulty.faults import FAULTS, Fault
from emulator.faulty.laboratory import Outcome, Trial, build, complaint, run, trials_of

SEEDS = 100
EVERY = f"{SEEDS} of {SEEDS}"
HEAD = (
    "| kernel | fault | rule | reported as | at | found | twin clean |",
    "|---|---|---|---|---|---|---|",
)


def row(fault: Fault, found: str, clean: str) -> str:
    shows = "; wrong results even in program order" if fault.shows else ""
    places = ", ".join(fault.lines()) or "where it waits"
    return (
        f"| `{fault.name}` | {fault.description} | {fault.rule}{shows} | {fault.category} | {places} "
        f"| {found} | {clean} |"
    )


def expected_row(fault: Fault) -> str:
    return row(fault, EVERY, EVERY)


def measured_row(fault: Fault, trials: list[Trial], outcomes: list[Outcome]) -> str:
    def share(of: list[bool]) -> str:
        return f"{sum(of)} of {len(of)}"

    results = list(zip(trials, outcomes, strict=True))
    found = [
        outcome.code != 0 and complaint(trial, outcome) == "" for trial, outcome in results if trial.must_fail
    ]
    clean = [complaint(trial, outcome) == "" for trial, outcome in results if not trial.wrong]
    return row(fault, share(found), share(clean))


def main(toolkit: Path, seeds: int = SEEDS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        binary = build(KernelCompiler(toolkit), Path(folder))
        print(*HEAD, sep="\n")
        for fault in FAULTS:
            trials = trials_of(fault, seeds)
            print(measured_row(fault, trials, run(toolkit, binary, trials, "strict")), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
