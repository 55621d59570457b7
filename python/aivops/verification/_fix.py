"""`aivops verify --fix`: a copy of a binary with the AIV records that it lacks."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from .. import _core
from ._printable import printable
from ._verify import UnreadableError


@dataclass(frozen=True)
class Outcome:
    written: bool
    message: str


def fix(path: Path, output: Path) -> Outcome:
    """Writes `output` only when nothing but AIV records is missing. Raises UnreadableError."""
    label, copy = printable(str(path)), printable(str(output))
    try:
        if output.exists() and output.samefile(path):
            raise UnreadableError(f"{label}: --fix writes a copy, and {copy} is the file itself")
        if not path.is_file() and path.exists():
            raise UnreadableError(f"{label}: --fix takes one kernel binary, and this is no file")
        data, added, refusal = _core.KernelBinary.open(path).add_vector_records()
    except OSError as error:
        raise UnreadableError(f"{label}: cannot be read ({error.strerror})") from error
    if refusal:
        return Outcome(False, f"{label}: not written: {refusal}")
    try:
        _write(output, data)
    except OSError as error:
        raise UnreadableError(f"{copy}: cannot be written ({error.strerror})") from error
    message = f"{label}: added K_TYPE_AIV records for {', '.join(added)}; the copy is {copy}"
    if path.with_suffix(".json").is_file():
        message += (
            f"\n{printable(str(path.with_suffix('.json')))}: describes the original; the copy needs none"
        )
    return Outcome(True, message)


def _write(output: Path, data: bytes) -> None:
    """The file appears whole or not at all."""
    if output.exists() and not output.is_file():
        # A pipe would wait for its other end.
        raise OSError(errno.EINVAL, "it is there and no file")
    part = output.with_name(f"{output.name}.part")
    try:
        part.write_bytes(data)
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
