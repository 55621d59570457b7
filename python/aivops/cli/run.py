"""``aivops run -n N PROGRAM``: N ranks of a program on this machine, each a process.

Ranks find themselves in the variables of torchrun and of Open MPI. Their output is prefixed with the rank.
Signals are passed on; when one rank fails the others are ended, and its status is the command's.
"""

from __future__ import annotations

import argparse
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from .._numbers import DEVICES_OF_EMULATOR
from .._processes import CannotRunError, end_with_parent, exit_code, signal_group, signal_name
from . import _arguments

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
POLL_SECONDS = 0.05
DRAIN_SECONDS = 0.5  # for output of processes that a rank left behind


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "run",
        help="run N ranks of a program on this machine",
        description="Run N ranks of a program on this machine, each a process with the environment of "
        "torchrun and Open MPI. When one fails the others are ended and its status is returned; 126 or 127 "
        "when PROGRAM cannot be run.",
    )
    parser.add_argument(
        "-n", "--ranks", type=_arguments.ranks, required=True, metavar="N", help="number of ranks, up to 64"
    )
    parser.add_argument(
        "--no-prefix", action="store_true", help="do not put the rank before each line of output"
    )
    parser.add_argument(
        "--grace",
        type=_arguments.seconds,
        default=3.0,
        metavar="SECONDS",
        help="from SIGTERM to SIGKILL (default: %(default)s)",
    )
    parser.add_argument("program", help="what to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    job = _Job([args.program, *args.arguments], args.ranks, not args.no_prefix, args.grace)
    return job.run()


def rank_environment(rank: int, size: int, port: int, job: str) -> dict[str, str]:
    """What a rank is told: torchrun's variables, then Open MPI's."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "ROLE_RANK": str(rank),
        "ROLE_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": job,
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(size),
        "OMPI_COMM_WORLD_NODE_RANK": str(rank),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class _Output:
    """One stream of one rank, passed on in whole lines."""

    source: IO[bytes]
    target: IO[bytes]
    prefix: bytes
    rest: bytes = field(default=b"")

    def forward(self) -> bool:
        """Pass on what has come; False at the end."""
        data = os.read(self.source.fileno(), 1 << 16)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        if not data and self.rest:
            lines.append(self.rest)
            self.rest = b""
        if lines:
            self.target.write(b"".join(self.prefix + line + b"\n" for line in lines))
            self.target.flush()
        return bool(data)


class _Job:
    def __init__(self, command: Sequence[str], size: int, prefixed: bool, grace: float) -> None:
        self.command = list(command)
        self.size = size
        self.prefixed = prefixed
        self.grace = grace
        self.ranks: list[subprocess.Popen[bytes]] = []
        self.selector = selectors.DefaultSelector()
        self.status: int | None = None  # of the first rank that failed
        self.kill_at: float | None = None
        self.interrupted = False

    def run(self) -> int:
        previous = {number: signal.signal(number, self._pass_on) for number in FORWARDED}
        try:
            self._start()
            self._wait()
        finally:
            self._signal(signal.SIGKILL)
            for process in self.ranks:
                process.wait()
            for number, handler in previous.items():
                signal.signal(number, handler)
        return self.status or 0

    def _start(self) -> None:
        port, job = _free_port(), uuid.uuid4().hex
        shared = dict(os.environ)
        if self.size > DEVICES_OF_EMULATOR:
            shared.setdefault("AIVOPS_EMU_DEVICES", str(self.size))
        arrange = end_with_parent()
        width = len(str(self.size - 1))
        for rank in range(self.size):
            has_input = rank == 0 and not sys.stdin.isatty()
            try:
                process = subprocess.Popen(
                    self.command,
                    env={**shared, **rank_environment(rank, self.size, port, job)},
                    stdin=None if has_input else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    preexec_fn=arrange,  # noqa: PLW1509 - this process has one thread
                )
            except OSError as error:
                raise CannotRunError(self.command[0], error) from error
            self.ranks.append(process)
            prefix = f"[{rank:{width}}] ".encode() if self.prefixed else b""
            for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
                assert source is not None
                self.selector.register(source, selectors.EVENT_READ, _Output(source, target.buffer, prefix))

    def _wait(self) -> None:
        running = set(range(self.size))
        while running:
            self._forward(POLL_SECONDS)
            for rank in sorted(running):
                code = exit_code(self.ranks[rank])
                if code is not None:
                    running.remove(rank)
                    self._note_end(rank, code)
            if self.kill_at is not None and time.monotonic() >= self.kill_at:
                self._signal(signal.SIGKILL)
        deadline = time.monotonic() + DRAIN_SECONDS
        while self.selector.get_map() and time.monotonic() < deadline:
            self._forward(POLL_SECONDS)

    def _forward(self, seconds: float) -> None:
        if not self.selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self.selector.select(seconds):
            if not key.data.forward():
                self.selector.unregister(key.fileobj)
                key.data.source.close()

    def _note_end(self, rank: int, code: int) -> None:
        if code == 0 or self.status is not None:
            return
        self.status = code if code > 0 else 128 - code
        if self.interrupted:
            return
        how = f"exited with {code}" if code > 0 else f"was ended by {signal_name(-code)}"
        print(f"aivops run: rank {rank} (process {self.ranks[rank].pid}) {how}", file=sys.stderr, flush=True)
        self._end_others()

    def _end_others(self) -> None:
        self._signal(signal.SIGTERM)
        self.kill_at = time.monotonic() + self.grace

    def _pass_on(self, number: int, frame: object) -> None:
        # The second signal is meant.
        self._signal(signal.SIGKILL if self.interrupted else number)
        self.interrupted = True
        if self.kill_at is None:
            self.kill_at = time.monotonic() + self.grace

    def _signal(self, number: int) -> None:
        for process in self.ranks:
            signal_group(process, number)
