"""``aivops new NAME``: a complete small project with a kernel, a Python wrapper and a test."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import InvalidValueError

# The template is a working project of this name.
TEMPLATE_NAME = "example_ops"
IMPORTED = {"aivops", "numpy", "pytest"}  # by the project; its package must not stand in their place
USAGE_ERROR = 2


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
    if keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} is a keyword of Python: no package can have that name")
    if text in IMPORTED or text in sys.stdlib_module_names:
        raise argparse.ArgumentTypeError(f"{text!r} would hide the module of that name: choose another one")
    return text


def run(args: argparse.Namespace) -> int:
    folder: Path = args.directory or Path(args.name)
    try:
        _write(args.name, folder)
    except OSError as error:
        print(f"aivops new: {error.filename or folder}: cannot be written: {error.strerror}", file=sys.stderr)
        return USAGE_ERROR
    print(
        f"wrote {folder}; next: cd {folder} && pip install '.[test]' && pytest\n"
        f"{folder}/README.md says how where pip's index has no aivops"
    )
    return 0


def _write(name: str, folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidValueError(
            f"{folder} exists and is not an empty folder: choose another name, or --directory"
        )
    template = Path(str(files("aivops") / "project_template"))
    for source in sorted(template.rglob("*")):
        if source.is_file() and source.parent.name != "__pycache__":
            target = folder / str(source.relative_to(template)).replace(TEMPLATE_NAME, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(text.replace(TEMPLATE_NAME, name), encoding="utf-8")
