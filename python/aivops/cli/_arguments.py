"""Numbers as arguments. What makes no sense is wrong usage before anything starts."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

from .._numbers import MOST, MOST_BLOCKS, MOST_RANKS, whole_number

_Value = TypeVar("_Value")

_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def count(text: str) -> int:
    """0 or more."""
    return whole_number(text, 0)


def positive(text: str) -> int:
    return whole_number(text, 1)


def ranks(text: str) -> int:
    """As many as a communicator can have."""
    return whole_number(text, 1, MOST_RANKS)


def blocks(text: str) -> int:
    """As many as a launch can have."""
    return whole_number(text, 1, MOST_BLOCKS)


def size(text: str) -> int:
    """Bytes: a whole number, or one with the suffix K, M or G, as of AIVOPS_EMU_MEMORY."""
    number, factor = text, 1
    if text[-1:].upper() in _FACTORS:
        number, factor = text[:-1], _FACTORS[text[-1].upper()]
    try:
        count = int(number) * factor
    except ValueError:
        count = 0
    if count > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is too large")
    if count < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected a number of bytes from 1 on, such as 4096, 64K or 16M"
        )
    return count


def several(kind: Callable[[str], _Value]) -> Callable[[str], tuple[_Value, ...]]:
    """The same, separated by commas."""
    return lambda text: tuple(map(kind, text.split(",")))


def seconds(text: str) -> float:
    """A time that ends."""
    number = finite(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time of 0 or more seconds")
    return number


def time_limit(text: str) -> float:
    number = finite(text)
    if number <= 0:
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
