"""Runs drawn programs in the emulator, and says what differs from what they must do."""

from __future__ import annotations

import io
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from emulator.own_process import HANGS_S
from emulator.programs.drawing import Program
from emulator.programs.experiment import Outcome, Trial
from emulator.programs.instructions import Step, encode
from emulator.programs.memory import Memory, first_content
from emulator.programs.order import Clash, Order, clashes

TESTS = Path(__file__).parents[2]
SOCS = {"dav-c220-vec": "Ascend910B1", "dav-c310-vec": "Ascend950PR_9599"}
ACCESS = re.compile(r"([A-Za-z ]+) (reading|writing) in kernel interpret on device (\d+), block (\d+)")

Described = tuple[str, str, int, int]  # as a report has it: name, reading or writing, device, block


def run(
    toolkit: Path, binary: Path, architecture: str, check: str, runs: Iterable[tuple[list[Program], int]]
) -> list[Outcome]:
    """All in one process: each some launches, on the memory of the first, with a seed for their schedule."""
    trials = []
    for launches, seed in runs:
        shape = launches[0].shape
        trials.append(
            Trial(
                seed,
                shape.blocks,
                [
                    [encode(program.steps, shape, device) for program in launches]
                    for device in range(shape.devices)
                ],
                [content.tobytes() for content in first_content(shape, launches[0].seed)],
            )
        )
    ran = subprocess.run(
        [sys.executable, "-m", "emulator.programs.experiment", toolkit, binary],
        input=pickle.dumps(trials),
        capture_output=True,
        check=False,
        timeout=HANGS_S,
        cwd=TESTS,
        env={
            **os.environ,
            "AIVOPS_EMU_CHECK": check,
            "AIVOPS_EMU_SOC": SOCS[architecture],
            "AIVOPS_EMU_DEVICES": "2",
            "AIVOPS_EMU_TIMEOUT_INTERVAL_US": "50000",
        },
    )
    outcomes: list[Outcome] = []
    stream = io.BytesIO(ran.stdout)
    while stream.tell() < len(ran.stdout):
        outcomes.append(Outcome(*pickle.load(stream)))
    assert ran.returncode == 0, f"program {len(outcomes)}: {ran.stderr.decode()}"
    assert check == "strict" or not ran.stderr, ran.stderr.decode()
    return outcomes


def complaint_about_right(launches: list[Program], outcome: Outcome) -> str:
    if outcome.code != 0:
        return f"{outcome.code}: {outcome.message}"
    memory = Memory(launches[0].shape, launches[0].seed)
    for program in launches:
        memory.launch(program.steps)
    for device, content in enumerate(outcome.memory):
        wrong = np.flatnonzero(np.frombuffer(content, np.uint8) != memory.gm[device])
        if len(wrong):
            return f"device {device} differs in {len(wrong)} bytes, first in byte {wrong[0]}"
    return ""


def lacking(program: Program, *, surely: bool) -> list[Clash]:
    order = Order(program.steps, program.shape, vector_in_order=program.vector_in_order, generous=surely)
    return clashes(program.steps, program.shape, order, surely=surely)


def described(program: Program, step: Step, write: bool) -> Described:
    name = step.instruction.names[write]
    device = program.shape.device_of(step.block)
    return name, "writing" if write else "reading", device, step.block % program.shape.blocks


def complaint_about_wrong(program: Program, clashing: list[Clash], outcome: Outcome) -> str:
    """Whether the report names two accesses that clash."""
    if outcome.code == 0:
        return "not found"
    if "racecheck: " not in outcome.message:
        return f"no racecheck: {outcome.message}"
    named = [
        (name.strip().removeprefix("then "), how, int(device), int(block))
        for name, how, device, block in ACCESS.findall(outcome.message)
    ]
    for clash in clashing:
        pair = [
            described(program, clash.first, clash.one.write),
            described(program, clash.second, clash.other.write),
        ]
        if sorted(pair) == sorted(named[:2]):
            return ""
    return f"names other accesses: {outcome.message}"
