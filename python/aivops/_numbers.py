"""Whole numbers on command lines, and the most ranks and blocks. Cheap to import for the pytest plugin."""

from __future__ import annotations

import argparse
import sys

MOST_RANKS = 64  # of any communicator
MOST_BLOCKS = 65535  # of any launch
DEVICES_OF_EMULATOR = 8  # unless AIVOPS_EMU_DEVICES says otherwise
MOST = sys.maxsize // 64  # its bytes and those of a few of its kind can still be reckoned


def whole_number(text: str, least: int, most: int | None = None) -> int:
    """`text` as a number. Without `most` any will do that memory could hold so many of."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if most is None and number > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is too large")
    if number < least or (most is not None and number > most):
        expected = f"from {least} on" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number {expected}")
    return number
