"""`aivops bench launch`: what it costs to launch a kernel that does nothing."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .._binary import load_kernels
from .._core import Device, Kernel, LaunchConfig, Stream
from .._words import counted
from . import _arguments, _figures

# Launches between two waits when queueing is measured: fewer than any stream holds.
QUEUED = 256


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "launch", help="measure launches of a kernel that does nothing", description=__doc__
    )
    parser.add_argument(
        "--seconds", type=_arguments.seconds, default=0.5, help="time to spend on each line (default: 0.5)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    device = Device(0)
    stream = Stream(device)
    probe = load_kernels("aivops").get_kernel("aiv_probe")
    text = args.format == "text"
    figures = []
    if text:
        print(f"launches on {device.soc_name} ({device.toolkit.name})")
        print(_figures.header("launch"))
    for name, (call, launches) in _ways(device, stream, probe).items():
        times = [seconds / launches for seconds in _figures.time_calls(call, args.seconds)]
        figure = _figures.Figure.of(name, times)
        figures.append(figure)
        if text:
            print(_figures.row(figure))
    if not text:
        print(_figures.dump("launch", figures))
    return 0


def _ways(device: Device, stream: Stream, probe: Kernel) -> dict[str, tuple[Callable[[], object], int]]:
    """By name: what to time, and how many launches it makes."""
    cores = device.vector_cores
    ways: dict[str, tuple[Callable[[], object], int]] = {}
    for blocks in sorted({1, cores}):
        config = LaunchConfig(blocks=blocks)
        prepared = probe.prepare(stream, config=config)

        def launch_and_wait(config: LaunchConfig = config) -> None:
            probe.launch(stream, config=config)
            stream.synchronize()

        def queue(prepared: Callable[[], None] = prepared) -> None:
            for _ in range(QUEUED):
                prepared()
            stream.synchronize()

        ways[f"launch and wait, {counted(blocks, 'block')}"] = (launch_and_wait, 1)
        ways[f"prepared, {QUEUED} in a row, {counted(blocks, 'block')}"] = (queue, QUEUED)
    return ways
