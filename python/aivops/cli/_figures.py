"""Figures of `aivops bench`: measuring, printing, JSON, comparing."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _text

SCHEMA = 1
WIDTH = 40  # of names in tables


class Figure(NamedTuple):
    """Seconds of one call of what ``name`` says; ``details`` are numbers beside it."""

    name: str
    median: float
    fastest: float
    slowest: float
    calls: int
    details: Mapping[str, float] = {}

    @classmethod
    def of(cls, name: str, seconds: Sequence[float], **details: float) -> Figure:
        ordered = sorted(seconds)
        return cls(name, statistics.median(ordered), ordered[0], ordered[-1], len(ordered), details)


def time_calls(call: Callable[[], object], seconds: float, least: int = 5, most: int = 10_000) -> list[float]:
    """Seconds of each call, over about ``seconds``; the first, which warms up, is left out."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or (len(times) < most and time.perf_counter() < end):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return times


def header(name: str, extra: str = "") -> str:
    return f"{name:<{WIDTH}}  {'median':>10}  {'fastest … slowest':>23}  {'calls':>6}  {extra}".rstrip()


def row(figure: Figure, extra: str = "") -> str:
    spread = f"{_text.duration(figure.fastest)} … {_text.duration(figure.slowest)}"
    median = _text.duration(figure.median)
    return f"{figure.name:<{WIDTH}}  {median:>10}  {spread:>23}  {figure.calls:>6}  {extra}".rstrip()


def dump(bench: str, figures: Sequence[Figure]) -> str:
    """The JSON document of one run."""
    entries = [
        {
            "name": figure.name,
            "median": figure.median,
            "fastest": figure.fastest,
            "slowest": figure.slowest,
            "calls": figure.calls,
            **figure.details,
        }
        for figure in figures
    ]
    return json.dumps({"schema": SCHEMA, "bench": bench, "figures": entries}, indent=2)


def load(text: str) -> dict[str, float]:
    """Medians by name of a document. Raises ValueError when it is none."""
    try:
        document: Any = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"no document of schema {SCHEMA}")
    try:
        medians = {str(entry["name"]): float(entry["median"]) for entry in document["figures"]}
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"a figure without name or median ({error})") from error
    for name, median in medians.items():
        if not (median > 0 and math.isfinite(median)):
            raise ValueError(f"{name} has the median {median}: expected a time above 0")
    return medians
