"""``aivops verify``: kernel binaries against the rules of docs/rules.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..verification import FileReport, Report, UnreadableError
from ..verification._fix import fix
from ..verification._inputs import Unreadable
from ..verification._report import Severity
from ..verification._sarif import sarif_document
from ..verification._text import render_text
from ..verification._verify import verify_each

UNREADABLE = 2  # the exit status, as of wrong usage


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help="check kernel binaries, wheels and manifests",
        description="Check kernel binaries: files, folders, wheels and zips, shared objects with embedded "
        "kernels, and manifests. Nothing is loaded or run. Exit status: 0 clean, 1 findings, 2 wrong usage "
        "or a path that cannot be read.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+")
    parser.add_argument(
        "--profile", choices=["any", "aiv"], default="any", help="aiv: every kernel has to be K_TYPE_AIV"
    )
    parser.add_argument("--machine", default="", help="expect ascend, emulated-x86_64 or emulated-aarch64")
    parser.add_argument("--architecture", default="", help="expect dav-c220-vec, dav-c310-vec, ...")
    parser.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME|GLOB",
        help="a kernel that has to be there; with any of these, no other may be (repeatable)",
    )
    parser.add_argument(
        "--allow-hard-sync",
        action="store_true",
        help="accept K_TYPE_MIX_AIV_MAIN with ratio 0:1 and a _mix_aiv name in profile aiv",
    )
    parser.add_argument("--format", choices=["text", "json", "sarif"], default="text")
    parser.add_argument(
        "--notes", action="store_true", help="text and sarif: notes too, which ask for nothing; json has them"
    )
    parser.add_argument("--fail-on", choices=["error", "warning"], default="error")
    parser.add_argument(
        "--fix",
        metavar="OUT",
        help="write a copy of PATH that has the AIV records it lacks, or say why not",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.fix is not None:
        return _fix(args)
    files: list[FileReport] = []
    unreadable: list[str] = []
    try:
        for found in verify_each(
            args.paths, args.profile, args.machine, args.architecture, args.kernel, args.allow_hard_sync
        ):
            if isinstance(found, Unreadable):
                unreadable.append(found.message)
            else:
                files.append(found)
    except ValueError as error:
        return _usage_error(str(error))
    report = Report(tuple(files))
    _print(report, unreadable, args.format, "info" if args.notes else "warning")
    for message in unreadable:
        _usage_error(message)
    if unreadable:
        return UNREADABLE
    return 1 if report.reaches(args.fail_on) else 0


def _print(report: Report, unreadable: Sequence[str], how: str, least: Severity) -> None:
    if how == "json":
        document = report.document()
        print(json.dumps({**document, "unreadable": unreadable} if unreadable else document, indent=2))
    elif how == "sarif":
        print(json.dumps(sarif_document(report, unreadable, least), indent=2))
    elif report.files:
        print(render_text(report, least, sys.stdout.isatty() and "NO_COLOR" not in os.environ))


def _fix(args: argparse.Namespace) -> int:
    if len(args.paths) != 1:
        return _usage_error(f"--fix {args.fix}: expected one PATH, found {len(args.paths)}")
    try:
        outcome = fix(Path(args.paths[0]), Path(args.fix))
    except UnreadableError as error:
        return _usage_error(str(error))
    print(outcome.message)
    return 0 if outcome.written else 1


def _usage_error(message: str) -> int:
    print(f"aivops verify: {message}", file=sys.stderr)
    return UNREADABLE
