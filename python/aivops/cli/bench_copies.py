"""`aivops bench copies`: memory between host and devices."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from .._buffer import Buffer
from .._core import Device, Stream
from . import _arguments, _figures, _text

SIZES = tuple(4096 << (4 * step) for step in range(4))


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "copies", help="measure copies between host and device", description=__doc__
    )
    parser.add_argument(
        "--sizes",
        type=_arguments.size,
        nargs="+",
        default=SIZES,
        metavar="BYTES",
        help="with K, M or G if wanted (default: 4K … 16M)",
    )
    parser.add_argument(
        "--seconds", type=_arguments.seconds, default=0.3, help="time to spend on each line (default: 0.3)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    device = Device(0)
    stream = Stream(device)
    text = args.format == "text"
    figures = []
    if text:
        print(f"copies on {device.soc_name} ({device.toolkit.name}), until they are done")
        print(_figures.header("copy", "GB/s"))
    for size in args.sizes:
        for name, copy in _copies(device, stream, size).items():
            times = _figures.time_calls(copy, args.seconds)
            figure = _figures.Figure.of(f"{name}, {_text.size(size)}", times, bytes=size)
            figures.append(figure)
            if text:
                print(_figures.row(figure, f"{size / figure.median / 1e9:.2f}"))
    if not text:
        print(_figures.dump("copies", figures))
    return 0


def _copies(device: Device, stream: Stream, size: int) -> dict[str, Callable[[], object]]:
    host = np.ones(size, np.uint8)
    first, second = Buffer(device, size), Buffer(device, size)
    first.fill(0)

    def queue() -> None:
        second.copy_from(first, stream=stream)
        stream.synchronize()

    return {
        "host to device": lambda: first.copy_from(host),
        "device to host": lambda: first.to_numpy(host),
        "device to device": lambda: second.copy_from(first),
        "device to device, on a stream": queue,
    }
