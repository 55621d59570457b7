"""What registers.asc gives on 48 blocks: each keeps its numbers and its way of rounding while others run."""

from __future__ import annotations

import numpy as np

BLOCKS = 48


def check_numbers(memory: bytes) -> None:
    """Block b adds up (b + 1) * i for i to 24, in float registers and in integer ones."""
    sums = np.frombuffer(memory, np.float32).reshape(BLOCKS, 8)[:, :2]
    assert (sums == 300 * np.arange(1, BLOCKS + 1)[:, None]).all()


def check_rounding(memory: bytes) -> None:
    """Odd blocks round 1/3 down, even ones to nearest, which is upwards here."""
    thirds = np.frombuffer(memory, np.float32).reshape(BLOCKS, 8)[:, :2]
    nearest = np.float32(1) / np.float32(3)
    below = np.nextafter(nearest, np.float32(0))
    assert float(below) < 1 / 3 < float(nearest)
    assert (thirds[::2] == nearest).all()
    assert (thirds[1::2] == below).all()
