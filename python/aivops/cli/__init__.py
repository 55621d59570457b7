"""The command line. A subcommand is a module here with ``register(subparsers)`` and ``run(args) -> int``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from importlib import import_module

from .._processes import CannotRunError
from ..errors import Error
from . import _statuses, _streams

COMMANDS = [
    "demo",
    "bench",
    "doctor",
    "inspect",
    "run",
    "sanitize",
    "trace",
    "verify",
    "toolkit-dir",
    "cmake-dir",
    "new",
]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aivops",
        description="Communication operators for Ascend AI Vector cores: compile, verify, package, dispatch.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        import_module(f"{__name__}.{command.replace('-', '_')}").register(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status, one of `_statuses` or a program's."""
    _streams.prepare()
    try:
        try:
            return _run(argv)
        finally:
            _streams.flush()
    except BrokenPipeError:
        # The reader has seen enough.
        _streams.abandon()
        return _statuses.BROKEN_PIPE
    except OSError as error:
        where = "the output" if error.filename is None else error.filename
        with contextlib.suppress(OSError):
            print(f"aivops: {where}: {error.strerror or error}", file=sys.stderr)
        _streams.abandon()
        return _statuses.WRONG_USAGE


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.version:
        print(import_module("aivops._core").__version__)
        return _statuses.CLEAN
    if args.command is None:
        parser.print_help()
        return _statuses.WRONG_USAGE
    try:
        status: int = args.run(args)
    except Error as error:
        print(f"aivops {args.command}: {error}", file=sys.stderr)
        return error.status if isinstance(error, CannotRunError) else _statuses.FINDINGS
    except MemoryError as error:
        print(
            f"aivops {args.command}: not enough memory{f': {error}' if str(error) else ''}", file=sys.stderr
        )
        return _statuses.FINDINGS
    except KeyboardInterrupt:
        return _statuses.INTERRUPTED
    return status
