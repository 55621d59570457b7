"""Sizes and durations for people."""

from __future__ import annotations


def size(count: int) -> str:
    """A number of bytes, e.g. "7.6 MiB"."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024 or unit == "GiB":
            break
    return f"{value:.4g} {unit}"


def duration(seconds: float) -> str:
    """A time, e.g. "37 µs"."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"
