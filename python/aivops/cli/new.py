"""``aivops new NAME``: a complete small project with a kernel, a Python wrapper and a test."""

from __future__ import annotations

import argparse
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import InvalidValueError

# The template is a working project of this name.
TEMPLATE_NAME = "example_ops"


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "new",
        help="write a small project with a kernel, a Python wrapper and a test",
        description="Write a complete project into the folder NAME: build files, one kernel, a Python "
        "wrapper, a test and a CI file.",
    )
    parser.add_argument("name", metavar="NAME", type=_package_name, help="name of the package, e.g. my_ops")
    parser.add_argument(
        "--directory", metavar="DIR", type=Path, help="where to write it; default: a folder NAME here"
    )
    parser.set_defaults(run=run)


def _package_name(text: str) -> str:
    if re.fullmatch(r"[a-z][a-z0-9_]*", text) is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no package name: expected lower-case letters, digits and _, a letter first"
        )
    return text


def run(args: argparse.Namespace) -> int:
    folder: Path = args.directory or Path(args.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidValueError(
            f"{folder} exists and is not an empty folder: choose another name, or --directory"
        )
    template = Path(str(files("aivops") / "project_template"))
    for source in sorted(template.rglob("*")):
        if source.is_file() and source.parent.name != "__pycache__":
            target = folder / str(source.relative_to(template)).replace(TEMPLATE_NAME, args.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(text.replace(TEMPLATE_NAME, args.name), encoding="utf-8")
    print(f"wrote {folder}; next: cd {folder} && pip install '.[test]' && pytest")
    return 0
