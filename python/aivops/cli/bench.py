"""`aivops bench COLLECTIVE`: how long calls take, over ranks and message sizes."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from .._communicator import Communicator
from .._local_group import LocalGroup
from . import _text

DEFAULT_RANKS = (2, 4, 8)
DEFAULT_SIZES = tuple(4096 << (2 * step) for step in range(7))


class Figure(NamedTuple):
    """Times of one number of ranks and one size: one call, the slowest rank's."""

    ranks: int
    bytes: int
    median: float
    fastest: float
    slowest: float
    calls: int

    @property
    def bus_bandwidth(self) -> float:
        """Bytes per second over a rank's links, as the field reckons it."""
        return (self.ranks - 1) * self.bytes / self.median


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench", help="measure collectives", description=__doc__
    )
    parser.add_argument("collective", choices=("all_gather",))
    parser.add_argument("--ranks", type=_numbers, default=DEFAULT_RANKS, metavar="N,…", help="default: 2,4,8")
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=DEFAULT_SIZES,
        metavar="BYTES,…",
        help="bytes of one rank's input (default: 4 KiB … 16 MiB)",
    )
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="time to spend on each line (default: 0.3)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    text = args.format == "text"
    figures = []
    if text:
        print(f"{args.collective}, numpy arrays in and out, time of the slowest rank")
        print("ranks       bytes      median        fastest … slowest  bus GB/s  calls")
    for ranks in args.ranks:
        with LocalGroup(ranks) as group:
            for size in args.sizes:
                # All ranks run the same number of calls, so rank 0 times one first and the slowest decides.
                trial = max(group.run(lambda comm, size=size: _time_calls(comm, size, 2)[-1]))  # type: ignore[misc]
                calls = max(3, min(1000, int(args.seconds / trial)))
                times = group.run(lambda comm, size=size, calls=calls: _time_calls(comm, size, calls))  # type: ignore[misc]
                slowest = sorted(max(call) for call in zip(*times, strict=True))
                figure = Figure(ranks, size, statistics.median(slowest), slowest[0], slowest[-1], calls)
                figures.append(figure)
                if text:
                    print(_row(figure))
    if not text:
        json.dump(
            {"schema": 1, "collective": args.collective, "figures": [_entry(f) for f in figures]},
            sys.stdout,
            indent=2,
        )
        print()
    return 0


def _time_calls(comm: Communicator, size: int, calls: int) -> list[float]:
    source = np.full(size, comm.rank, np.uint8)
    result = np.empty((comm.size, size), np.uint8)
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        comm.all_gather(source, out=result)
        times.append(time.perf_counter() - started)
    return times


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in text.split(","))
    if not all(number > 0 for number in numbers):
        raise argparse.ArgumentTypeError("expected positive numbers, separated by commas")
    return numbers


def _row(figure: Figure) -> str:
    spread = f"{_text.duration(figure.fastest)} … {_text.duration(figure.slowest)}"
    return (
        f"{figure.ranks:>5}  {_text.size(figure.bytes):>10}  {_text.duration(figure.median):>10}  "
        f"{spread:>23}  {figure.bus_bandwidth / 1e9:>8.2f}  {figure.calls:>5}"
    )


def _entry(figure: Figure) -> dict[str, float]:
    return {**figure._asdict(), "bus_bandwidth": figure.bus_bandwidth}
