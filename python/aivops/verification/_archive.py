"""Wheels and zips, read member by member without unpacking. What installers would disagree about is a
finding, and no member is read before its size is known to be sane."""

from __future__ import annotations

import contextlib
import itertools
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from .._words import counted
from ._printable import printable
from ._report import Finding
from ._rules import make_finding

MEMBER_LIMIT = 512 << 20  # bytes of one member; the largest published kernel binary has 25 MiB
TOTAL_LIMIT = 8 << 30
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1

_DAMAGED: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError)
with contextlib.suppress(ImportError):  # a Python without it refuses such members with RuntimeError
    from lzma import LZMAError

    _DAMAGED += (LZMAError,)


class Archive:
    """An open archive; `findings` grows while members are read."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = TOTAL_LIMIT
        self.findings: list[Finding] = []
        self._members: dict[str, zipfile.ZipInfo] = {}
        overlapping = _overlapping(archive.infolist())
        for info in archive.infolist():
            problem = (
                "overlaps another one" if info.header_offset in overlapping else _structural_problem(info)
            )
            if info.filename in self._members:
                problem = "is there twice"
            if problem is None:
                self._members[info.filename] = info
            else:
                self._report(info.filename, problem)

    def names(self) -> Iterator[str]:
        return (name for name, info in sorted(self._members.items()) if not info.is_dir())

    def size(self, name: str) -> int:
        return self._members[name].file_size

    def read(self, name: str) -> bytes | None:
        """The member's bytes; None, and a finding, when it cannot be read as it is."""
        info = self._members.get(name)
        if info is None:
            return None
        if info.file_size > MEMBER_LIMIT or info.file_size > self._left:
            self._report(name, f"would unpack to {counted(info.file_size, 'byte')}")
            return None
        self._left -= info.file_size
        try:
            return self._archive.read(info)
        except _DAMAGED as error:
            self._report(name, f"is damaged ({printable(str(error))})")
        except (NotImplementedError, RuntimeError, MemoryError) as error:
            self._report(name, f"cannot be unpacked ({printable(str(error))})")
        return None

    def _report(self, name: str, problem: str) -> None:
        member = f"member {printable(name)}" if name else "a member"
        self.findings.append(make_finding("META110", f"{member} {problem}"))


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """Offsets of members whose data reaches into the next one's."""
    ordered = sorted(infos, key=lambda info: info.header_offset)
    overlapping: set[int] = set()
    for info, following in itertools.pairwise(ordered):
        if info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size > following.header_offset:
            overlapping.update((info.header_offset, following.header_offset))
    return overlapping


def _structural_problem(info: zipfile.ZipInfo) -> str | None:
    if not info.filename:
        return "has no name"
    path = PurePosixPath(info.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in info.filename:
        return "leaves the archive's root"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    return None
