"""`aivops bench COLLECTIVE`: how long calls take, over ranks and message sizes."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._buffer import Buffer
from .._communicator import Communicator
from .._local_group import LocalGroup
from . import _text

DEFAULT_RANKS = (2, 4, 8)
DEFAULT_SIZES = tuple(4096 << (2 * step) for step in range(7))


class Collective(NamedTuple):
    """How one is called on an input of float32, and what share of its bytes a rank's links carry."""

    call: Callable[[Communicator, Any, Any], Any]
    result_parts: Callable[[int], float]  # size of the result, in inputs
    bus_factor: Callable[[int], float]


COLLECTIVES = {
    "all_gather": Collective(lambda c, x, out: c.all_gather(x, out=out), lambda n: n, lambda n: n - 1),
    "all_reduce": Collective(
        lambda c, x, out: c.all_reduce(x, out=out), lambda n: 1, lambda n: 2 * (n - 1) / n
    ),
    "reduce_scatter": Collective(
        lambda c, x, out: c.reduce_scatter(x, out=out), lambda n: 1 / n, lambda n: (n - 1) / n
    ),
    "all_to_all": Collective(lambda c, x, out: c.all_to_all(x, out=out), lambda n: 1, lambda n: (n - 1) / n),
    "broadcast": Collective(lambda c, x, out: c.broadcast(x, out=out), lambda n: 1, lambda n: 1),
}


class Figure(NamedTuple):
    """Times of one number of ranks and one size: a call's time is that of its slowest rank."""

    ranks: int
    bytes: int
    median: float
    fastest: float
    slowest: float
    calls: int
    bus_bandwidth: float  # bytes per second over a rank's links, as the field reckons it


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench", help="measure collectives", description=__doc__
    )
    parser.add_argument("collective", choices=COLLECTIVES)
    parser.add_argument("--ranks", type=_numbers, default=DEFAULT_RANKS, metavar="N,…", help="default: 2,4,8")
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=DEFAULT_SIZES,
        metavar="BYTES,…",
        help="bytes of one rank's input (default: 4 KiB … 16 MiB)",
    )
    parser.add_argument("--buffers", action="store_true", help="arrays in device memory instead of numpy's")
    parser.add_argument("--blocks", type=int, help="blocks of every launch (default: as each call deserves)")
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="time to spend on each line (default: 0.3)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    collective = COLLECTIVES[args.collective]
    text = args.format == "text"
    figures = []
    if text:
        where = "Buffers" if args.buffers else "numpy arrays"
        print(f"{args.collective}, {where} of float32 in and out, time of the slowest rank")
        print("ranks       bytes      median        fastest … slowest  bus GB/s  calls")
    for ranks in args.ranks:
        with LocalGroup(ranks, blocks=args.blocks) as group:
            for size in args.sizes:
                figure = _measure(group, collective, size, args)
                figures.append(figure)
                if text:
                    print(_row(figure), flush=True)
    if not text:
        document = {
            "schema": 1,
            "collective": args.collective,
            "arrays": "buffers" if args.buffers else "numpy",
            "figures": [figure._asdict() for figure in figures],
        }
        json.dump(document, sys.stdout, indent=2)
        print()
    return 0


def _measure(group: LocalGroup, collective: Collective, size: int, args: argparse.Namespace) -> Figure:
    def calls_of(comm: Communicator, calls: int) -> list[float]:
        count = max(size // 4 // comm.size, 1) * comm.size
        source: Any = np.full((comm.size, count // comm.size), comm.rank, np.float32)
        result: Any = np.empty(_result_shape(collective, comm.size, source.shape), np.float32)
        if args.buffers:
            source = Buffer.from_host(comm.device, source)
            result = Buffer(comm.device, result.shape, "float32")
        if collective.result_parts(comm.size) < 1:
            source = source.reshape(count)
        times = []
        for _ in range(calls):
            started = time.perf_counter()
            collective.call(comm, source, result)
            times.append(time.perf_counter() - started)
        return times

    # All ranks make the same number of calls; the slowest rank's trial decides how many.
    trial = max(times[-1] for times in group.run(lambda comm: calls_of(comm, 2)))
    calls = max(3, min(1000, int(args.seconds / trial)))
    slowest = sorted(max(call) for call in zip(*group.run(lambda comm: calls_of(comm, calls)), strict=True))
    median = statistics.median(slowest)
    bandwidth = collective.bus_factor(group.size) * size / median
    return Figure(group.size, size, median, slowest[0], slowest[-1], calls, bandwidth)


def _result_shape(collective: Collective, size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    parts = collective.result_parts(size)
    if parts < 1:
        return shape[1:]
    return shape if parts == 1 else (size, *shape)


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
