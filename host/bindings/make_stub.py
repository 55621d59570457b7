"""Writes python/aivops/_core.pyi from the built module, fit for a strict type checker."""

import re
import sys
from pathlib import Path
from typing import Any

import aivops._core as module
from nanobind.stubgen import StubGen

# What the generator leaves open.
REPLACEMENTS = [
    (r"os\.PathLike(?!\[)", "os.PathLike[str]"),
    (r"\bNDArray(?=,)", "NDArray[Any]"),
    (r"from typing import ", "from typing import Any, "),
]


class Generator(StubGen):
    """Leaves out what misuse.cpp adds: the last overload of every function, for calls that fit none, and the
    constructors of what Python cannot make.
    """

    def put_nb_func(self, fn: Any, name: str | None = None, is_classmethod: bool = False) -> None:
        signatures = fn.__nb_signature__
        if name == "__init__" and len(signatures) == 1:
            return
        if len(signatures) > 1:  # what gets and sets properties has none
            signatures = signatures[:-1]
        for signature in signatures:
            if len(signatures) > 1:
                self.write_ln(f"@{self.bind('typing', 'overload')}")
            self.put_nb_overload(fn, signature, name, is_classmethod=is_classmethod)


def make_stub() -> str:
    generator = Generator(module)
    generator.put(module)
    text = generator.get()
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return text + "\n__version__: str\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(make_stub())
