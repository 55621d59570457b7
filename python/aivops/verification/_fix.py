"""`aivops verify --fix`: a copy of a binary with the AIV records that it lacks."""

from __future__ import annotations

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
    label = printable(str(path))
    try:
        if output.exists() and output.samefile(path):
            raise UnreadableError(
                f"{label}: --fix writes a copy, and {printable(str(output))} is the file itself"
            )
        data, added, refusal = _core.KernelBinary.open(path).add_vector_records()
        if refusal:
            return Outcome(False, f"{label}: not written: {refusal}")
        output.write_bytes(data)
    except OSError as error:
        raise UnreadableError(f"{printable(str(error.filename))}: {error.strerror}") from error
    message = (
        f"{label}: added K_TYPE_AIV records for {', '.join(added)}; the copy is {printable(str(output))}"
    )
    if path.with_suffix(".json").is_file():
        message += (
            f"\n{printable(str(path.with_suffix('.json')))}: describes the original; the copy needs none"
        )
    return Outcome(True, message)
