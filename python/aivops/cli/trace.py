"""``aivops trace -- PROGRAM``: what the emulated devices of a program did, as a timeline for Perfetto.

Each process writes the timeline of its devices into a folder (``AIVOPS_EMU_TRACE``); here they become one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._processes import CannotRunError
from .._words import counted
from . import _statuses

VARIABLE = "AIVOPS_EMU_TRACE"


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "trace",
        help="record the timeline of a program on emulated devices",
        description="Run a program and record what its emulated devices do, per device, stream and block: "
        "launches, copies, waits and barriers. The file is for https://ui.perfetto.dev or chrome://tracing. "
        "The status is the program's, also when it used no emulated device; 126 or 127 when it cannot be "
        "run.",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("trace.json"),
        metavar="FILE",
        help="where the timeline goes (default: %(default)s)",
    )
    parser.add_argument("program", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    output: Path = args.output
    if not output.absolute().parent.is_dir():
        _say(f"{output}: its folder does not exist; make it, or choose another with -o")
        return _statuses.WRONG_USAGE
    with tempfile.TemporaryDirectory(prefix="aivops-trace-") as name:
        folder = Path(name)
        status = _run_program([args.program, *args.arguments], folder)
        timelines = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        lost = sorted(path.stem.partition("-")[0] for path in folder.glob("*.part"))
    if lost:
        _say(f"no timeline of process {', '.join(lost)}: it was killed, or is still running")
    if not timelines:
        if not lost:
            _say(
                f"{args.program} used no emulated device, so there is no timeline; "
                "`aivops doctor` says what it uses"
            )
        return status
    events = merge(timelines)
    try:
        output.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, separators=(",", ":")))
    except OSError as error:
        _say(f"{output}: cannot be written: {error.strerror}")
        return status or _statuses.WRONG_USAGE
    dropped = sum(timeline["otherData"]["dropped"] for timeline in timelines)
    if dropped:
        _say(f"{counted(dropped, 'event')} missing: a process keeps its first million; trace a shorter run")
    launches = sum(event.get("cat") == "launch" for event in events)
    found = f"{counted(launches, 'launch', 'launches')}, {counted(len(events), 'event')}"
    _say(f"{output}: {found}; open it in https://ui.perfetto.dev")
    return status


def merge(timelines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of all processes. Devices get numbers and names of their own, and time begins at 0."""
    begin = min(
        (event["ts"] for timeline in timelines for event in timeline["traceEvents"] if "ts" in event),
        default=0.0,
    )
    events: list[dict[str, Any]] = []
    taken: set[int] = set()
    for timeline in timelines:
        origin = timeline["otherData"]
        devices = sorted({event["pid"] for event in timeline["traceEvents"]})
        is_rank = origin["rank"].isdecimal() and len(devices) == 1
        numbers: dict[int, int] = {}
        for device in devices:
            number = int(origin["rank"]) if is_rank else device
            while number in taken:
                number += 1
            taken.add(number)
            numbers[device] = number
        for event in timeline["traceEvents"]:
            device, event["pid"] = event["pid"], numbers[event["pid"]]
            if "ts" in event:
                event["ts"] = round(event["ts"] - begin, 3)
            elif event["name"] == "process_name":
                rank = f"rank {origin['rank']}, " if is_rank else ""
                event["args"]["name"] = f"{rank}device {device} (process {origin['process']})"
        events += timeline["traceEvents"]
    return events


def _run_program(command: list[str], folder: Path) -> int:
    try:
        process = subprocess.Popen(command, env={**os.environ, VARIABLE: str(folder)})
    except OSError as error:
        raise CannotRunError(command[0], error) from error
    # The terminal interrupts both; what the program then does decides, and its timeline is still wanted.
    previous = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, frame: process.send_signal(number)),
    }
    try:
        code = process.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _say(message: str) -> None:
    print(f"aivops trace: {message}", file=sys.stderr, flush=True)
