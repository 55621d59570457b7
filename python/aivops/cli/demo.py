"""`aivops demo`: all_gather of every element type on eight devices, compared bit for bit with numpy."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, NamedTuple, TextIO

import numpy as np

from .. import _arrays, _dtypes, _traffic
from .._arrays import Array
from .._communicator import Communicator
from .._core import Device
from .._local_group import LocalGroup
from .._words import counted
from . import _arguments, _text

COUNTS = (0, 1, 7, 1_000, 1_000_003)
CALLS = 3


class Line(NamedTuple):
    """One row of the table: `CALLS` calls of one type and count."""

    element_type: str
    elements: int
    input_bytes: int
    seconds: float
    remote_ratio: float | None
    wrong_ranks: tuple[int, ...]


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help="gather arrays of every type on eight devices and compare with numpy",
        description=__doc__,
    )
    parser.add_argument(
        "--ranks", type=_arguments.ranks, default=8, help="number of ranks, one device each (default: 8)"
    )
    parser.add_argument(
        "--types", nargs="+", choices=_arrays.ARRAY_TYPES, default=_arrays.ARRAY_TYPES, metavar="TYPE"
    )
    parser.add_argument("--counts", nargs="+", type=_arguments.count, default=COUNTS, metavar="COUNT")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    started = time.perf_counter()
    screen = _Screen(sys.stdout)
    wrong = 0
    with LocalGroup(args.ranks) as group:
        device = Device(0)
        ranks = counted(args.ranks, "rank")
        print(f"all_gather on {ranks}, one {device.soc_name} each ({device.toolkit.name})")
        print(f"{CALLS} calls in a row for each line")
        screen.header()
        pool = _random_bytes(args.ranks, max(args.counts))
        for element_type in args.types:
            for count in args.counts:
                screen.progress(f"{count:,} {element_type} …")
                line = _measure(group, pool, element_type, count)
                screen.line(line)
                wrong += bool(line.wrong_ranks)
    lines = len(args.types) * len(args.counts)
    elapsed = time.perf_counter() - started
    if wrong:
        print(f"{wrong} of {lines} lines differ from numpy ({elapsed:.1f} s)")
        return 1
    print(f"all {lines} lines equal numpy's, bit for bit ({elapsed:.1f} s)")
    return 0


def _measure(group: LocalGroup, pool: Array, element_type: str, count: int) -> Line:
    numpy_type = _dtypes.numpy_dtype("uint8" if element_type == "hifloat8" else element_type)
    bytes_per_rank = count * _arrays.element_bytes(element_type)

    def expected(rank: int, call: int) -> Array:
        # Every rank and call has other bytes, so that a part of the wrong rank or of an earlier call shows.
        start = 64 * (rank * CALLS + call)
        return pool[start : start + bytes_per_rank]

    def three_calls(comm: Communicator) -> tuple[float, bool]:
        inputs = [expected(comm.rank, call).view(numpy_type) for call in range(CALLS)]
        outputs = [
            np.full((comm.size, bytes_per_rank), 0xA5, np.uint8).view(numpy_type) for _ in range(CALLS)
        ]
        started = time.perf_counter()
        for source, output in zip(inputs, outputs, strict=True):
            comm.all_gather(source, out=output, dtype=element_type)
        seconds = (time.perf_counter() - started) / CALLS
        right = all(
            np.array_equal(output[rank].view(np.uint8), expected(rank, call))
            for call, output in enumerate(outputs)
            for rank in range(comm.size)
        )
        return seconds, right

    before = _remote_bytes(group.size)
    results = group.run(three_calls)
    after = _remote_bytes(group.size)
    bound = group.size * (group.size - 1) * bytes_per_rank * CALLS
    ratio = None
    if before is not None and after is not None and bound:
        ratio = (after - before) / bound
    wrong = tuple(rank for rank, (_, right) in enumerate(results) if not right)
    return Line(element_type, count, bytes_per_rank, max(seconds for seconds, _ in results), ratio, wrong)


def _remote_bytes(ranks: int) -> int | None:
    """What all ranks have read from each other so far; None where nobody counts."""
    traffic = [_traffic.remote_traffic(rank) for rank in range(ranks)]
    return None if None in traffic else sum(t.read_bytes for t in traffic if t is not None)


def _random_bytes(ranks: int, count: int) -> Array:
    longest = count * max(map(_arrays.element_bytes, _arrays.ARRAY_TYPES))
    return np.random.default_rng(2026).integers(0, 256, longest + 64 * ranks * CALLS, np.uint8)


class _Screen:
    """The table, line by line; on a terminal also what is being worked on."""

    WIDTHS = (15, 10, 12, 10, 15)

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()

    def header(self) -> None:
        titles = ("type", "count", "bytes", "time", "remote ÷ bound")
        self._put("  ".join(self._cells(titles)) + "  verdict")

    def progress(self, text: str) -> None:
        if self._live:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()

    def line(self, line: Line) -> None:
        ratio = "-" if line.remote_ratio is None else f"{line.remote_ratio:.3f}"
        cells = (
            line.element_type,
            f"{line.elements:,}",
            _text.size(line.input_bytes),
            _text.duration(line.seconds),
            ratio,
        )
        verdict = (
            "equal" if not line.wrong_ranks else f"WRONG on rank {', '.join(map(str, line.wrong_ranks))}"
        )
        self._put("  ".join(self._cells(cells)) + f"  {verdict}")

    def _cells(self, cells: tuple[str, ...]) -> list[str]:
        return [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, self.WIDTHS, strict=True))
        ]

    def _put(self, text: str) -> None:
        self._stream.write(("\r\x1b[K" if self._live else "") + text + "\n")
        self._stream.flush()
