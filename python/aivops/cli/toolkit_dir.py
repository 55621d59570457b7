"""``aivops toolkit-dir``: where the emulated toolkit is."""

from __future__ import annotations

import argparse
from typing import Any

from .._locations import get_toolkit_dir


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "toolkit-dir",
        help="print the directory of the emulated toolkit",
        description="Print the directory of the emulated toolkit: ASCEND_HOME_PATH=$(aivops toolkit-dir)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    print(get_toolkit_dir())
    return 0
