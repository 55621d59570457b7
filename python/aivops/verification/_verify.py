"""`aivops.verify`: every kernel binary in what the caller names, through the native rules."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from .._misuse import require_kind, shown
from ..errors import Error, InvalidTypeError
from ._inputs import Binary, Container, Input, Manifest, Unreadable, find_inputs
from ._manifest import check_manifest
from ._report import FileReport, Finding, Report
from ._rules import make_finding

PathLike = str | os.PathLike[str]

_MOST_HASHED = 4 << 30  # bytes; what has more is a finding anyway


class UnreadableError(Error):
    """A path that cannot be read, or holds no kernel binary."""


def verify(
    path: PathLike | Iterable[PathLike],
    *,
    profile: Literal["any", "aiv"] = "any",
    machine: str = "",
    architecture: str = "",
    kernels: Sequence[str] = (),
    allow_hard_sync: bool = False,
) -> Report:
    """Verifies files, folders, wheels and zips, shared objects with embedded kernels, and manifests.

    `profile` "aiv" asks every kernel to be K_TYPE_AIV; `machine` and `architecture` are the ones expected
    ("" for any); `kernels` are names or globs that each binary has to have, and no others. Raises
    UnreadableError for a path that cannot be read or holds no kernel binary; a damaged binary is a finding.
    """
    paths = _paths("verify(): path", path)
    if isinstance(kernels, str) or not isinstance(kernels, Iterable):
        raise InvalidTypeError(f"verify(): kernels is {shown(kernels)}, expected a list of names")
    for name, text in (("profile", profile), ("machine", machine), ("architecture", architecture)):
        require_kind(f"verify(): {name}", text, str, "a name")
    files: list[FileReport] = []
    for report in verify_each(paths, profile, machine, architecture, kernels, allow_hard_sync):
        if isinstance(report, Unreadable):
            raise UnreadableError(report.message)
        files.append(report)
    return Report(tuple(files))


def _paths(what: str, given: PathLike | Iterable[PathLike]) -> list[PathLike]:
    paths = given if isinstance(given, Iterable) and not isinstance(given, (str, os.PathLike)) else [given]
    for path in (listed := list(paths)):
        require_kind(what, path, (str, os.PathLike), "a path or several")
    return listed


def verify_each(
    paths: Iterable[PathLike],
    profile: str,
    machine: str,
    architecture: str,
    kernels: Sequence[str],
    allow_hard_sync: bool,
) -> Iterator[FileReport | Unreadable]:
    """The same, but goes on behind what cannot be read."""

    def check(binary: Binary) -> FileReport:
        document = binary.image.verify(
            binary.label,
            profile=profile,
            machine=machine,
            architecture=architecture,
            kernels=list(kernels),
            allow_hard_sync=allow_hard_sync,
        )
        return FileReport.from_document(json.loads(document))

    doubles = _Doubles()
    for path in paths:
        for found in find_inputs(path):
            yield _report(found, check, doubles)


def _report(
    found: Input, check: Callable[[Binary], FileReport], doubles: _Doubles
) -> FileReport | Unreadable:
    if isinstance(found, Binary):
        report = check(found)
        return replace(report, findings=report.findings + tuple(_surroundings(found, doubles)))
    if isinstance(found, Manifest):
        return check_manifest(found)
    if isinstance(found, Container):
        return FileReport(found.label, "", "", findings=found.findings)
    return found


def _surroundings(binary: Binary, doubles: _Doubles) -> Iterator[Finding]:
    if binary.sidecar is not None:
        yield from (Finding(**finding) for finding in json.loads(binary.image.check_sidecar(binary.sidecar)))
    if binary.shipped:
        yield from doubles.check(binary)


class _Doubles:
    """The same bytes shipped twice."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}

    def check(self, binary: Binary) -> Iterator[Finding]:
        if binary.image.size > _MOST_HASHED:
            return
        first = self._labels.setdefault(binary.image.sha256, binary.label)
        if first != binary.label:
            yield make_finding("META102", f"the bytes are those of {first}")
