"""`aivops bench COLLECTIVE`: how long its calls take, over ranks and message sizes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._communicator import Communicator
from .._local_group import LocalGroup
from .._words import counted
from . import _arguments, _figures, _text
from ._figures import Figure

DEFAULT_RANKS = (2, 4, 8)
DEFAULT_SIZES = tuple(4096 << (2 * step) for step in range(7))


class Collective(NamedTuple):
    """How one is called on an input of float32, and what share of its bytes a rank's links carry."""

    call: Callable[..., Any]  # of a communicator, x, out=, and how to run it
    result_parts: Callable[[int], float]  # size of the result, in inputs
    bus_factor: Callable[[int], float]


COLLECTIVES = {
    "all_gather": Collective(Communicator.all_gather, lambda n: n, lambda n: n - 1),
    "all_reduce": Collective(Communicator.all_reduce, lambda n: 1, lambda n: 2 * (n - 1) / n),
    "reduce_scatter": Collective(Communicator.reduce_scatter, lambda n: 1 / n, lambda n: (n - 1) / n),
    "all_to_all": Collective(Communicator.all_to_all, lambda n: 1, lambda n: (n - 1) / n),
    "broadcast": Collective(Communicator.broadcast, lambda n: 1, lambda n: 1),
}


def register(subparsers: Any) -> None:
    for name in COLLECTIVES:
        _register(subparsers, name)


def _register(subparsers: Any, name: str) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, help=f"measure {name} over ranks and sizes", description=__doc__
    )
    parser.add_argument(
        "--ranks",
        type=_arguments.several(_arguments.ranks),
        default=DEFAULT_RANKS,
        metavar="N,…",
        help="default: 2,4,8",
    )
    parser.add_argument(
        "--sizes",
        type=_arguments.several(_arguments.size),
        default=DEFAULT_SIZES,
        metavar="BYTES,…",
        help="bytes of one rank's input, with K, M or G if wanted (default: 4K … 16M)",
    )
    parser.add_argument(
        "--buffers", action="store_true", help="arrays of comm.empty() in device memory instead of numpy's"
    )
    parser.add_argument("--algorithm", help="default: what the table says for each call")
    parser.add_argument(
        "--blocks", type=_arguments.blocks, help="blocks of every launch (default: as each call deserves)"
    )
    parser.add_argument(
        "--seconds", type=_arguments.seconds, default=0.3, help="time to spend on each line (default: 0.3)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run, collective=name)


def run(args: argparse.Namespace) -> int:
    collective = COLLECTIVES[args.collective]
    text = args.format == "text"
    figures = []
    if text:
        where = "Buffers" if args.buffers else "numpy arrays"
        print(f"{args.collective}, {where} of float32 in and out, time of the slowest rank")
        print(_figures.header("call", "bus GB/s"))
    for ranks in args.ranks:
        with LocalGroup(ranks, blocks=args.blocks) as group:
            for size in args.sizes:
                figure = _measure(group, collective, size, args)
                figures.append(figure)
                if text:
                    print(_figures.row(figure, f"{figure.details['bus_bandwidth'] / 1e9:.2f}"), flush=True)
    if not text:
        print(_figures.dump(args.collective, figures))
    return 0


def _measure(group: LocalGroup, collective: Collective, size: int, args: argparse.Namespace) -> Figure:
    def calls_of(comm: Communicator, calls: int) -> list[float]:
        count = max(size // 4 // comm.size, 1) * comm.size
        source: Any = np.full((comm.size, count // comm.size), comm.rank, np.float32)
        result: Any = np.empty(_result_shape(collective, comm.size, source.shape), np.float32)
        if args.buffers:
            values, source = source, comm.empty(source.shape)
            source.copy_from(values)
            result = comm.empty(result.shape)
        if collective.result_parts(comm.size) < 1:
            source = source.reshape(count)
        times = []
        for _ in range(calls):
            started = time.perf_counter()
            collective.call(comm, source, out=result, algorithm=args.algorithm)
            times.append(time.perf_counter() - started)
        return times

    # All ranks make the same number of calls; the slowest rank's trial decides how many.
    trial = max(times[-1] for times in group.run(lambda comm: calls_of(comm, 2)))
    calls = max(3, min(1000, int(args.seconds / trial)))
    slowest = [max(call) for call in zip(*group.run(lambda comm: calls_of(comm, calls)), strict=True)]
    where = "buffers" if args.buffers else "numpy"
    figure = Figure.of(f"{counted(group.size, 'rank')}, {_text.size(size)}, {where}", slowest)
    # Bytes per second over a rank's links, as the field reckons it.
    bandwidth = collective.bus_factor(group.size) * size / figure.median
    return figure._replace(details={"ranks": group.size, "bytes": size, "bus_bandwidth": bandwidth})


def _result_shape(collective: Collective, size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    parts = collective.result_parts(size)
    if parts < 1:
        return shape[1:]
    return shape if parts == 1 else (size, *shape)
