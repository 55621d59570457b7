"""Runs a program once per schedule, a few at a time, and collects how each run ended and what it reported."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import _standstill
from .._processes import CannotRunError, end_with_parent, exit_code, signal_group
from ._reports import VARIABLE, ProcessReport, read_reports
from ._schedules import Schedule

TAIL_BYTES = 1 << 16  # of a program's output, which is kept for the case that it fails
POLL_SECONDS = 0.02
RUN_SECONDS = 600.0  # for one, unless told otherwise
GRACE_SECONDS = 3.0  # from SIGTERM to SIGKILL
DRAIN_SECONDS = 0.5  # for output of processes that the program left behind


@dataclass(frozen=True)
class Run:
    """How a program did by one schedule."""

    schedule: Schedule
    code: int
    """Its exit status; below 0 the signal that ended it."""
    timed_out: bool
    output: str
    """The end of what it printed; nothing when it was passed on."""
    reports: list[ProcessReport]


@dataclass
class _Program:
    """One run, while it goes on."""

    schedule: Schedule
    process: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]
    term_at: float
    kill_at: float | None = None
    code: int | None = None
    drain_until: float = 0.0
    output: bytearray = field(default_factory=bytearray)

    def read(self) -> bool:
        """Take what it has printed; False at the end."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.output += data
        del self.output[:-TAIL_BYTES]
        return bool(data)

    def check_time(self) -> None:
        now = time.monotonic()
        if self.kill_at is None and now >= self.term_at:
            signal_group(self.process, signal.SIGTERM)
            self.kill_at = now + GRACE_SECONDS
        elif self.kill_at is not None and now >= self.kill_at:
            signal_group(self.process, signal.SIGKILL)

    def stop(self) -> None:
        signal_group(self.process, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        with contextlib.suppress(OSError):  # a process that got away still writes there
            self.folder.cleanup()


def run_schedules(
    command: Sequence[str],
    schedules: Iterable[Schedule],
    *,
    jobs: int = 1,
    timeout: float = RUN_SECONDS,
    pass_on: bool = False,
) -> Generator[Run, None, None]:
    """Yields each run as it ends. Closing the iterator ends what still runs.

    The first runs alone, so that `schedules` may depend on what it shows.

    With `pass_on` the output of the programs is this process's.
    """
    waiting = iter(schedules)
    running: list[_Program] = []
    at_a_time = 1
    arrange = end_with_parent()
    with selectors.DefaultSelector() as selector:
        try:
            while True:
                while len(running) < at_a_time and (schedule := next(waiting, None)) is not None:
                    program = _start(command, schedule, timeout, pass_on, arrange)
                    running.append(program)
                    if program.process.stdout is not None:
                        selector.register(program.process.stdout, selectors.EVENT_READ, program)
                if not running:
                    return
                _forward(selector)
                for program in [program for program in running if _ended(program, selector)]:
                    reports = read_reports(Path(program.folder.name))
                    running.remove(program)
                    program.stop()
                    assert program.code is not None
                    timed_out = program.kill_at is not None
                    text = program.output.decode("utf-8", "replace")
                    yield Run(program.schedule, program.code, timed_out, text, reports)
                    at_a_time = jobs
        finally:
            _end(running)


def _end(programs: Sequence[_Program]) -> None:
    """Ends programs in the middle of their run."""
    try:
        for program in programs:
            signal_group(program.process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and any(exit_code(program.process) is None for program in programs):
            time.sleep(POLL_SECONDS)
    finally:
        for program in programs:
            program.stop()


def _start(
    command: Sequence[str],
    schedule: Schedule,
    timeout: float,
    pass_on: bool,
    arrange: Callable[[], None],
) -> _Program:
    folder = tempfile.TemporaryDirectory(prefix="aivops-sanitize-")
    try:
        process = subprocess.Popen(
            command,
            env={
                _standstill.VARIABLE: _standstill.INTERVAL_US,
                **os.environ,
                **schedule.variables,
                VARIABLE: folder.name,
            },
            stdin=subprocess.DEVNULL,
            stdout=None if pass_on else subprocess.PIPE,
            stderr=None if pass_on else subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=arrange,  # noqa: PLW1509 - this process has one thread
        )
    except OSError as error:
        folder.cleanup()
        raise CannotRunError(command[0], error) from error
    return _Program(schedule, process, folder, time.monotonic() + timeout)


def _forward(selector: selectors.BaseSelector) -> None:
    if not selector.get_map():
        time.sleep(POLL_SECONDS)
        return
    for key, _ in selector.select(POLL_SECONDS):
        if not key.data.read():
            selector.unregister(key.fileobj)


def _ended(program: _Program, selector: selectors.BaseSelector) -> bool:
    """Whether the program is over and all that it printed has come."""
    if program.code is None:
        program.check_time()
        program.code = exit_code(program.process)
        if program.code is None:
            return False
        signal_group(program.process, signal.SIGKILL)  # what it left behind would outlive its schedule
        program.drain_until = time.monotonic() + DRAIN_SECONDS
    output = program.process.stdout
    if output is None or output.fileno() not in selector.get_map():
        return True
    if time.monotonic() < program.drain_until:
        return False
    selector.unregister(output)
    return True
