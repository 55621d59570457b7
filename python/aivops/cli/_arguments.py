"""Numbers as arguments. What makes no sense is wrong usage before anything starts."""

from __future__ import annotations

import argparse
import math
import sys


def count(text: str) -> int:
    """0 or more."""
    return _between(0, text)


def positive(text: str) -> int:
    return _between(1, text)


def _between(least: int, text: str) -> int:
    most = sys.maxsize // 64  # its bytes and those of a few of its kind can still be reckoned
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from {least} to {most}")
    return number


def positives(text: str) -> tuple[int, ...]:
    """Separated by commas."""
    return tuple(positive(part) for part in text.split(","))


def seconds(text: str) -> float:
    """A time that ends."""
    number = finite(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time of 0 or more seconds")
    return number


def finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number")
    return number
