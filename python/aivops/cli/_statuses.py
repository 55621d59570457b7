"""Exit statuses of commands; docs/command_line.md has them in a table."""

from __future__ import annotations

import signal

CLEAN = 0
FINDINGS = 1  # or what was asked for failed
WRONG_USAGE = 2  # or what was named cannot be read or written, or nothing was checked
PROGRAM_FAILED = 3  # the one that is checked, while no check found anything
INTERRUPTED = 130
BROKEN_PIPE = 128 + signal.SIGPIPE  # as shells report the signal
