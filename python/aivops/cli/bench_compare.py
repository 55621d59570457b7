"""`aivops bench compare BEFORE AFTER`: two JSON files of one benchmark."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from . import _arguments, _figures, _text

USAGE_ERROR = 2


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compare",
        help="compare two JSON files",
        description="Compare medians. Exit status 1 when one is slower than the limit or gone.",
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument(
        "--limit",
        type=_arguments.finite,
        default=10.0,
        metavar="PERCENT",
        help="slower by this is a failure (default: 10)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    documents = []
    for path in (args.before, args.after):
        try:
            documents.append(_figures.load(path.read_text()))
        except (OSError, ValueError) as error:
            print(f"aivops bench compare: {path}: cannot be read: {error}", file=sys.stderr)
            return USAGE_ERROR
    before, after = documents
    bad = 0
    print(f"{'':<{_figures.WIDTH}}  {'before':>10}  {'after':>10}  {'change':>8}")
    for name, old in before.items():
        if name not in after:
            bad += 1
            print(f"{name:<{_figures.WIDTH}}  {_text.duration(old):>10}  {'missing':>10}")
            continue
        new = after[name]
        percent = (new / old - 1) * 100
        slower = percent > args.limit
        bad += slower
        change = f"{percent:>+7.1f}%{'  slower' if slower else ''}"
        print(f"{name:<{_figures.WIDTH}}  {_text.duration(old):>10}  {_text.duration(new):>10}  {change}")
    for name in after:
        if name not in before:
            print(f"{name:<{_figures.WIDTH}}  {'new':>10}  {_text.duration(after[name]):>10}")
    return 1 if bad else 0
