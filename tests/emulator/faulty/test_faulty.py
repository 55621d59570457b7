"""Strict mode and kernels that are wrong in one way each: it reports every one of them, and none of their twins."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.faulty.faults import FAULTS, KERNELS, Fault, Setup
from emulator.faulty.laboratory import MATRIX, Outcome, Trial, build, complaints, run, trials_of
from emulator.faulty.table import SEEDS, expected_row

SHORT = (Setup(2, 7, 673), Setup(3, 7, 4201), Setup(2, 1, 601), Setup(8, 48, 1))

pytestmark = pytest.mark.xdist_group("faulty")
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])


@pytest.fixture(scope="module")
def binary(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(compiler, tmp_path_factory.mktemp("faulty"))


@pytest.fixture(scope="module")
def short_runs(toolkit: Path, binary: Path) -> dict[Trial, Outcome]:
    trials = [
        Trial(fault, wrong, setup, seed)
        for fault in FAULTS
        for seed, setup in enumerate(SHORT)
        for wrong in (True, False)
    ]
    return dict(zip(trials, run(toolkit, binary, trials, "strict"), strict=True))


@pytest.fixture(scope="module")
def unchecked_runs(toolkit: Path, binary: Path) -> dict[Fault, Outcome]:
    """The wrong twins whose results are wrong even in the order of the program, with all checks off."""
    faults = [fault for fault in FAULTS if fault.shows]
    trials = [Trial(fault, True, Setup(3, 7, 4201), 0) for fault in faults]
    return dict(zip(faults, run(toolkit, binary, trials, "off"), strict=True))


def test_every_kernel_is_in_the_table() -> None:
    assert {path.stem for path in KERNELS.glob("*.asc")} == {fault.name for fault in FAULTS}
    assert len(FAULTS) == len(set(FAULTS)) >= 30
    assert all(any(fault.is_met(setup) for setup in MATRIX) for fault in FAULTS)


@each_fault
def test_strict_mode_reports_the_fault_and_not_its_twin(
    short_runs: dict[Trial, Outcome], fault: Fault
) -> None:
    trials = [trial for trial in short_runs if trial.fault == fault]
    assert complaints(trials, [short_runs[trial] for trial in trials]) == []


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.shows], ids=[fault.name for fault in FAULTS if fault.shows]
)
def test_the_fault_gives_wrong_results(unchecked_runs: dict[Fault, Outcome], fault: Fault) -> None:
    outcome = unchecked_runs[fault]
    assert (outcome.code, bool(outcome.wrong)) == (0, True), outcome


def test_the_documentation_has_every_kernel(repository: Path) -> None:
    lines = (repository / "docs" / "faulty_kernels.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert rows == [expected_row(fault) for fault in FAULTS]


@pytest.mark.long
@each_fault
def test_strict_mode_reports_it_in_every_seed_and_setup(toolkit: Path, binary: Path, fault: Fault) -> None:
    trials = trials_of(fault, SEEDS)
    outcomes = run(toolkit, binary, trials, "strict")
    assert complaints(trials, outcomes) == []
