"""Writes python/aivops/_core.pyi from the built module, fit for a strict type checker."""

import re
import sys
from pathlib import Path

import aivops._core as module
from nanobind.stubgen import StubGen

# What the generator leaves open.
REPLACEMENTS = [
    (r"os\.PathLike(?!\[)", "os.PathLike[str]"),
    (r"\bNDArray(?=,)", "NDArray[Any]"),
    (r"from typing import ", "from typing import Any, "),
]


def make_stub() -> str:
    generator = StubGen(module)
    generator.put(module)
    text = generator.get()
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return text + "\n__version__: str\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(make_stub())
