"""Programs drawn at random: what they leave in memory is what numpy says, whatever the emulator puts off, checks or
delays; strict mode says nothing of right ones, and names what clashes once something that orders is left out.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.programs.drawing import Program, draw, draw_launches
from emulator.programs.experiment import Outcome
from emulator.programs.laboratory import (
    SOCS,
    complaint_about_right,
    complaint_about_wrong,
    lacking,
    run,
)

LONG_SEEDS = 2000
AT_ONCE = 250


@dataclass(frozen=True)
class Interpreter:
    """Of one architecture."""

    toolkit: Path
    binary: Path
    architecture: str

    def run(self, check: str, runs: list[tuple[list[Program], int]]) -> list[Outcome]:
        return run(self.toolkit, self.binary, self.architecture, check, runs)

    def check_right(self, check: str, runs: list[tuple[list[Program], int]]) -> None:
        assert [
            f"program {launches[0].seed} in schedule {seed}: {complaint}"
            for (launches, seed), outcome in zip(runs, self.run(check, runs), strict=True)
            if (complaint := complaint_about_right(launches, outcome))
        ] == []


@pytest.fixture(scope="module", params=SOCS)
def interpreter(
    request: pytest.FixtureRequest,
    toolkit: Path,
    compiler: KernelCompiler,
    repository: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Interpreter:
    source = tmp_path_factory.mktemp("programs") / "interpreter.asc"
    shutil.copy(Path(__file__).parent / source.name, source)
    architecture = str(request.param)
    binary = compiler.build(source, "-g", f"-I{repository / 'device/include'}", architecture=architecture)
    return Interpreter(toolkit, binary, architecture)


def check_right(interpreter: Interpreter, check: str, seeds: range, schedules: int = 1) -> None:
    programs = [draw(seed, interpreter.architecture) for seed in seeds]
    interpreter.check_right(
        check, [([program], program.seed + turn) for program in programs for turn in range(schedules)]
    )


def check_launches(interpreter: Interpreter, check: str, seeds: range) -> None:
    """Three launches in a row, for which nobody waits between them."""
    interpreter.check_right(
        check, [(draw_launches(seed, interpreter.architecture, 3), seed) for seed in seeds]
    )


def check_passing_through(interpreter: Interpreter, check: str, seeds: range) -> None:
    """Large copies, which pass the caches by, and small pieces of GM that are read again."""
    programs = [draw(seed, interpreter.architecture, scale=16, polls_data=True) for seed in seeds]
    interpreter.check_right(check, [([program], 0) for program in programs])


def check_wrong(interpreter: Interpreter, seeds: range, each: int) -> None:
    """Leaves out one thing that orders, `each` times per program."""
    programs = []
    for seed in seeds:
        program = draw(seed, interpreter.architecture)
        groups = program.groups
        programs += [program.without(group) for group in groups[:: max(1, len(groups) // each)]]
    outcomes = interpreter.run("strict", [([program], program.seed) for program in programs])
    complaints, wrong = [], 0
    for program, outcome in zip(programs, outcomes, strict=True):
        clashing = lacking(program, surely=False)
        if not clashing:  # it was not needed
            complaint = complaint_about_right([program], outcome)
        elif lacking(program, surely=True):
            wrong += 1
            complaint = complaint_about_wrong(program, clashing, outcome)
        else:
            continue
        if complaint:
            lost = set(draw(program.seed, interpreter.architecture).groups) - set(program.groups)
            complaints.append(f"program {program.seed} without {lost}: {complaint}")
    assert complaints == []
    assert wrong > len(programs) // 2


@pytest.mark.parametrize("check", ["on", "off"])
def test_memory_holds_what_numpy_says(interpreter: Interpreter, check: str) -> None:
    check_right(interpreter, check, range(100))
    check_launches(interpreter, check, range(20))
    check_passing_through(interpreter, check, range(30))


def test_strict_mode_has_nothing_to_say_of_right_programs(interpreter: Interpreter) -> None:
    check_right(interpreter, "strict", range(100), schedules=3)
    check_launches(interpreter, "strict", range(20))
    # Of dav-c220-vec: a flag tells that a scalar load is over, not that an earlier store of the unit is.
    check_launches(interpreter, "strict", range(2356, 2359))


def test_strict_mode_names_what_nothing_orders(interpreter: Interpreter) -> None:
    check_wrong(interpreter, range(60), each=5)
    # Of dav-c220-vec: that others have been told of scalar loads orders no store of the unit to UB.
    check_wrong(interpreter, range(1745, 1746), each=12)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1000 + LONG_SEEDS, AT_ONCE))
def test_many_programs(interpreter: Interpreter, first: int) -> None:
    seeds = range(first, first + AT_ONCE)
    check_right(interpreter, "on", seeds)
    check_right(interpreter, "off", seeds)
    check_right(interpreter, "strict", seeds, schedules=8)
    for check in ("on", "strict"):
        check_launches(interpreter, check, seeds)
    check_passing_through(interpreter, "on", seeds)
    check_wrong(interpreter, seeds, each=12)
