"""``aivops inspect``: everything a kernel binary says of itself."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ..verification._inputs import Binary, Unreadable, find_inputs
from ..verification._page import render_page


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "inspect",
        help="show a kernel binary: header, kernels, records, sections",
        description="Show what a kernel binary says of itself. FILE may also be a wheel, a folder or a "
        "shared object: then each binary in it is shown.",
    )
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    documents = []
    unreadable = False
    for found in find_inputs(args.file):
        if isinstance(found, Binary):
            documents.append(json.loads(found.image.inspect(found.label)))
        elif isinstance(found, Unreadable):
            unreadable = True
            print(f"aivops inspect: {found.message}", file=sys.stderr)
    if not documents and not unreadable:
        unreadable = True
        print(
            f"aivops inspect: {args.file} holds no kernel binary to show; `aivops verify` checks manifests",
            file=sys.stderr,
        )
    if args.format == "json":
        print(json.dumps(documents[0] if len(documents) == 1 else documents, indent=2))
    elif documents:
        print("\n\n".join(render_page(document) for document in documents))
    if unreadable:
        return 2
    # A file that is no ELF has nothing to show; what is wrong with it is among its findings.
    return 0 if any(document["sections"] for document in documents) else 1
