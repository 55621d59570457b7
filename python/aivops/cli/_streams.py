"""Standard streams as the command line needs them: open, and able to spell every letter."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys


def prepare() -> None:
    """Replace streams that are closed by the null device, and letters that an encoding lacks by '?'."""
    _open_missing()
    for stream in (sys.stdout, sys.stderr):
        # Under UTF-8 "surrogateescape" keeps paths that are no text as they are.
        if isinstance(stream, io.TextIOWrapper) and (
            stream.errors == "strict" or codecs.lookup(stream.encoding).name != "utf-8"
        ):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")


def _open_missing() -> None:
    # The numbers are taken too: else a file opened later would get the output of programs started here.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest number that is free
    # The streams do not own the numbers, so there is nothing to close.
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def abandon() -> None:
    """Drop what cannot be written, so that the interpreter does not try again when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with contextlib.suppress(OSError):  # a stream without a number
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
