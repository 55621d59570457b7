"""Numbers as arguments. What makes no sense is wrong usage before anything starts."""

from __future__ import annotations

import argparse
import math
import sys

_MOST = sys.maxsize // 64  # its bytes and those of a few of its kind can still be reckoned
_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def count(text: str) -> int:
    """0 or more."""
    return _between(0, text)


def positive(text: str) -> int:
    return _between(1, text)


def _between(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from {least} to {_MOST}")
    return number


def size(text: str) -> int:
    """Bytes: a whole number, or one with the suffix K, M or G, as of AIVOPS_EMU_MEMORY."""
    number, factor = text, 1
    if text[-1:].upper() in _FACTORS:
        number, factor = text[:-1], _FACTORS[text[-1].upper()]
    try:
        count = int(number) * factor
    except ValueError:
        count = 0
    if not 1 <= count <= _MOST:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected a number of bytes up to {_MOST}, such as 4096, 64K or 16M"
        )
    return count


def sizes(text: str) -> tuple[int, ...]:
    """Separated by commas."""
    return tuple(size(part) for part in text.split(","))


def positives(text: str) -> tuple[int, ...]:
    """Separated by commas."""
    return tuple(positive(part) for part in text.split(","))


def seconds(text: str) -> float:
    """A time that ends."""
    number = finite(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time of 0 or more seconds")
    return number


def time_limit(text: str) -> float:
    number = seconds(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected more than 0 seconds")
    return number


def finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number")
    return number
