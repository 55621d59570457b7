"""``aivops cmake-dir``: where AivOpsConfig.cmake is."""

from __future__ import annotations

import argparse
from typing import Any

from .._locations import get_cmake_dir


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "cmake-dir",
        help="print the directory of AivOpsConfig.cmake",
        description="Print the directory of AivOpsConfig.cmake: cmake -DAivOps_DIR=$(aivops cmake-dir)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    print(get_cmake_dir())
    return 0
