"""`aivops bench WHAT`: how long collectives, launches and copies take, and comparing two runs."""

from __future__ import annotations

import argparse
from typing import Any

from . import bench_collectives, bench_compare, bench_copies, bench_launch


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench", help="measure collectives, launches and copies", description=__doc__
    )
    what = parser.add_subparsers(metavar="WHAT", required=True)
    for module in (bench_collectives, bench_launch, bench_copies, bench_compare):
        module.register(what)
