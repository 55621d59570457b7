"""Programs that a command starts: they end with it, and each leads the group of processes that it starts."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable

from .errors import Error

_PR_SET_PDEATHSIG = 1


class CannotRunError(Error):
    """A program cannot be started."""

    def __init__(self, program: str, error: OSError) -> None:
        super().__init__(f"{program} cannot be run: {error.strerror}")
        self.status = 127 if isinstance(error, FileNotFoundError) else 126
        """What shells exit with then."""


def end_with_parent() -> Callable[[], None]:
    """For the child before it becomes the program: the system kills it when this process is gone.

    Only for a process of one thread: what runs between fork and exec must not wait for another one's locks.
    """
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return arrange


def exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """How a process ended, as Popen has it; it is not reaped, so that its number stays its group's."""
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Sends a signal to a process that leads its group, and to all that it started in it."""
    with contextlib.suppress(ProcessLookupError):  # all of them have ended
        os.killpg(process.pid, number)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most of the real-time signals
        return f"signal {number}"
