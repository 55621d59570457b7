"""``aivops sanitize -- PROGRAM``: a program on emulated devices, under all checks and by many schedules."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from .._processes import CannotRunError
from .._words import counted
from ..sanitizing import HOLD_NOTHING, RUN_SECONDS, Schedule, Summary, run_schedules, seeded, sweep
from ..sanitizing._sarif import sarif_document
from ..sanitizing._summary import TOOLS
from ..sanitizing._text import render_text
from . import _arguments, _statuses

STANDSTILLS = 3  # the same one, run after run: others would take as long and show nothing else


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "sanitize",
        help="check a program's kernels over many schedules",
        description="Run a program again and again on emulated devices in strict mode, each time by another "
        "schedule, and print each distinct fault once, with the command that replays it. Exit status: 0 "
        "clean, 1 findings, 2 wrong usage or nothing that could be checked, 3 the program failed and no "
        "check found anything, 126 or 127 it cannot be run.",
    )
    parser.add_argument(
        "--tool", choices=list(TOOLS), default="all", help="what is shown (default: %(default)s)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--seeds",
        type=_arguments.count,
        default=100,
        metavar="N",
        help="how many schedules by seed (default: %(default)s)",
    )
    which.add_argument(
        "--seed", type=_arguments.count, metavar="S", help="only this one; the program's output is shown"
    )
    which.add_argument(
        "--hold",
        type=lambda text: HOLD_NOTHING if text == "nothing" else _arguments.count(text),
        metavar="K",
        help="only the schedule of the sweep that holds back device or instruction K, or `nothing`",
    )
    parser.add_argument("--no-sweep", action="store_true", help="by seed only, nothing held back in turn")
    parser.add_argument(
        "--jobs",
        type=_arguments.positive,
        default=1,
        metavar="J",
        help="runs at a time, for programs that do not mind (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=_arguments.time_limit,
        default=RUN_SECONDS,
        metavar="SECONDS",
        help="for each run (default: %(default)g)",
    )
    parser.add_argument("--format", choices=["text", "json", "sarif"], default="text")
    parser.add_argument("--fail-on", choices=["error", "warning"], default="error")
    parser.add_argument(
        "--allow-unwatched",
        action="store_true",
        help="exit with 0 although processes share GM, where the order of accesses is not checked",
    )
    parser.add_argument("program", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    summary = Summary([args.program, *args.arguments], args.tool, args.timeout)
    runs = run_schedules(
        summary.command,
        _schedules(args, summary),
        jobs=args.jobs,
        timeout=args.timeout,
        pass_on=_replays(args),
    )
    interrupted = False
    cannot_run: CannotRunError | None = None
    with _ended_by_signals(), contextlib.closing(runs):
        try:
            for done in runs:
                summary.add(done)
                _show_progress(summary)
                if isinstance(args.hold, int):
                    _doubt_hold(args.hold, summary)
                if not done.reports and not summary.checked:
                    break  # it will not use a device by another schedule
                if summary.standstills == STANDSTILLS and not _replays(args):
                    summary.doubts.append(
                        f"stopped after {counted(summary.runs, 'run')}: the last {STANDSTILLS} ended in the "
                        "same standstill; the schedules that are left were not run"
                    )
                    break
        except KeyboardInterrupt:
            interrupted = True
        except CannotRunError as error:
            cannot_run = error
            summary.doubts.append(str(error))
    _end_progress()
    remarks = list(_remarks(summary, interrupted))
    _print(summary, remarks, args.format)
    if summary.other_tools:
        hidden = counted(len(summary.other_tools), "finding")
        remarks.append(f"{hidden} of other tools not shown; --tool all shows all")
    if summary.lacks_lines:
        remarks.append("compile the kernels with -g for source lines (COMPILE_OPTIONS -g in CMake)")
    for remark in remarks:
        print(f"aivops sanitize: {remark}", file=sys.stderr)
    if interrupted:
        return _statuses.INTERRUPTED
    if summary.reaches(args.fail_on):
        return _statuses.FINDINGS
    if cannot_run is not None:
        return cannot_run.status
    if summary.failures:
        return _statuses.PROGRAM_FAILED
    unwatched = summary.blind_spot is not None and not args.allow_unwatched
    complete = summary.checked and not summary.doubts and not unwatched
    return _statuses.CLEAN if complete else _statuses.WRONG_USAGE


def _doubt_hold(held: int, summary: Summary) -> None:
    """Nothing was held back where there is nothing of that number."""
    there_is = summary.sweepable
    if there_is.all_devices and not there_is.holds(held):
        used = ", ".join(map(str, sorted(there_is.devices)))
        last = there_is.all_devices + there_is.instructions - 1
        summary.doubts.append(
            f"--hold {held} held nothing back: the program used the devices {used}, and its instructions are "
            f"{there_is.all_devices} to {last}"
        )


def _replays(args: argparse.Namespace) -> bool:
    """One schedule: there is a program to look at."""
    return args.seed is not None or args.hold is not None


def _schedules(args: argparse.Namespace, summary: Summary) -> Iterator[Schedule]:
    """What the first run shows says how long the sweep is."""
    if _replays(args):
        yield Schedule(args.seed or 0, args.hold)
        return
    if not args.no_sweep:
        yield Schedule(held=HOLD_NOTHING)
        yield from sweep(summary.sweepable)
    yield from seeded(range(args.seeds))


def _remarks(summary: Summary, interrupted: bool) -> Iterator[str]:
    if interrupted:
        yield f"interrupted after {counted(summary.runs, 'run')}"
    elif not summary.runs and not summary.doubts:
        yield "nothing was run: --no-sweep with --seeds 0 leaves no schedule"
    if summary.runs and not summary.checked:
        yield (
            f"nothing was checked: {summary.command[0]} launched no kernel on an emulated device; "
            "`aivops doctor` says which toolkit is used"
        )
    yield from summary.doubts
    if summary.blind_spot:
        yield summary.blind_spot


def _print(summary: Summary, remarks: Sequence[str], how: str) -> None:
    if how == "json":
        print(json.dumps(summary.document(), indent=2))
    elif how == "sarif":
        print(json.dumps(sarif_document(summary, remarks), indent=2))
    else:
        print(render_text(summary, color=sys.stdout.isatty() and "NO_COLOR" not in os.environ))


def _show_progress(summary: Summary) -> None:
    if sys.stderr.isatty():
        found = len(summary.findings) + len(summary.failures)
        so_far = f"{counted(summary.runs, 'run')}, {counted(found, 'finding')}"
        print(f"\r\x1b[K{so_far}", end="", file=sys.stderr, flush=True)


def _end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Within it, being asked to end ends the programs that run first."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
