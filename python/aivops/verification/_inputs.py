"""Finds kernel binaries in what a user names: file, folder, wheel or zip, shared object, manifest."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from .. import _core
from ._archive import Archive
from ._printable import printable
from ._report import Finding
from ._rules import make_finding

ELF_MAGIC = b"\x7fELF"
ZIP_MAGIC = b"PK\x03\x04"
DOCUMENT_LIMIT = 64 << 20  # bytes of a JSON document
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Binary:
    """A kernel binary and the JSON file beside it, if there is one."""

    label: str
    image: _core.KernelBinary
    sidecar: bytes | None = None
    shipped: bool = False  # part of a folder or archive, where the same bytes twice are worth a word


@dataclass(frozen=True)
class Manifest:
    """A manifest and the way to its binaries: by relative path, None when there is no such file inside."""

    label: str
    text: bytes
    read: Callable[[str], _core.KernelBinary | None]


@dataclass(frozen=True)
class Container:
    """Something that holds binaries, and what is wrong with it itself."""

    label: str
    findings: tuple[Finding, ...] = field(default=())


@dataclass(frozen=True)
class Unreadable:
    """A path that cannot be read, or holds no kernel binary."""

    message: str

    @classmethod
    def of(cls, label: str, error: OSError | ValueError) -> Unreadable:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return cls(f"{label}: cannot be read ({printable(reason)})")


Input = Binary | Manifest | Container | Unreadable


class _Folder(Protocol):
    """Files by relative path with '/': of a directory or an archive."""

    def names(self) -> Iterator[str]: ...

    def map(self, name: str) -> _core.KernelBinary | None: ...

    def read(self, name: str) -> bytes | None: ...

    def has(self, name: str) -> bool: ...


def find_inputs(named: str | os.PathLike[str]) -> Iterator[Input]:
    """All that there is, and what of it cannot be read."""
    if not os.fspath(named):  # which pathlib takes for the current folder
        yield Unreadable("'': is no path; the current folder is .")
        return
    path = Path(named)
    label = printable(str(path))
    try:
        if path.is_dir():
            yield from _folder(path, label)
        elif not stat.S_ISREG(path.stat().st_mode):
            # Opening a pipe would wait for its other end.
            yield Unreadable(f"{label}: cannot be read (neither a file nor a folder)")
        elif path.suffix == ".json":
            yield _manifest(path, label)
        elif not _begins_with(path, ELF_MAGIC) and zipfile.is_zipfile(path):
            yield from _archive(path, label)
        elif _begins_with(path, ZIP_MAGIC):
            problem = "the archive is cut: the directory at its end is missing"
            yield Container(label, (make_finding("META110", problem),))
        else:
            yield from _file(path, label)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        yield Unreadable.of(label, error)


def _begins_with(path: Path, magic: bytes) -> bool:
    """Loaders go by the begin of a file, so a zip behind a binary does not make it an archive."""
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _manifest(path: Path, label: str) -> Manifest | Unreadable:
    size = path.stat().st_size
    if size > DOCUMENT_LIMIT:
        return Unreadable(f"{label}: has {size} bytes, a manifest at most {DOCUMENT_LIMIT}")
    return Manifest(label, path.read_bytes(), _Directory(path.parent).map)


def _file(path: Path, label: str) -> Iterator[Input]:
    image = _core.KernelBinary.open(path)
    yield from _embedded(image, label, False)
    if not image.embedded():
        sidecar = path.with_suffix(".json")
        is_beside = sidecar.is_file() and sidecar.stat().st_size <= DOCUMENT_LIMIT
        yield Binary(label, image, sidecar.read_bytes() if is_beside else None)


def _archive(path: Path, label: str) -> Iterator[Input]:
    try:
        opened = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        yield Unreadable(f"{label}: is no zip that can be read ({printable(str(error))})")
        return
    with opened:
        archive = Archive(opened)
        found = yield from _members(_Members(archive), label)
        if archive.findings:
            yield Container(label, tuple(archive.findings))
        elif not found:
            yield _nothing_in(label)


def _folder(path: Path, label: str) -> Iterator[Input]:
    directory = _Directory(path)
    found = yield from _members(directory, label)
    for error in directory.closed:
        found += 1
        yield Unreadable.of(printable(str(error.filename)), error)
    if not found:
        yield _nothing_in(label)


def _nothing_in(label: str) -> Unreadable:
    return Unreadable(f"{label}: has no kernel binary")


def _members(folder: _Folder, label: str) -> Generator[Input, None, int]:
    """Yields what is worth verifying, and returns how much that was."""
    found = 0
    for name in folder.names():
        member = f"{label}/{printable(name)}"
        try:
            for part in _member(folder, name, member):
                found += 1
                yield part
        except OSError as error:
            found += 1
            yield Unreadable.of(member, error)
    return found


def _member(folder: _Folder, name: str, label: str) -> Iterator[Input]:
    path = PurePosixPath(name)
    if path.suffix == ".o":
        image = folder.map(name)
        if image is not None:
            beside = str(path.with_suffix(".json"))
            yield Binary(label, image, folder.read(beside) if folder.has(beside) else None, True)
    elif path.suffix == ".so" or ".so." in path.name:
        image = folder.map(name)
        if image is not None:
            yield from _embedded(image, label, True)
    elif path.name == MANIFEST:
        text = folder.read(name)
        # Other tools have files of this name too.
        if text is not None and b'"binaries"' in text and b'"schema"' in text:
            yield Manifest(label, text, _Relative(folder, path.parent).map)


def _embedded(image: _core.KernelBinary, label: str, shipped: bool) -> Iterator[Input]:
    for name, part in image.embedded():
        yield Binary(f"{label}:{name}", part, None, shipped)
    findings = _parse_findings(image.check_embedding())
    if findings:
        yield Container(label, findings)


def _parse_findings(text: str) -> tuple[Finding, ...]:
    return tuple(Finding(**finding) for finding in json.loads(text))


class _Directory:
    """Links are not followed, so there are no loops and nothing outside is read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.closed: list[OSError] = []
        """What of it could not be looked at, once the names are all there."""

    def names(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self._root, onerror=self.closed.append):
            folders.sort()
            for name in sorted(files):
                path = Path(folder, name)
                try:
                    mode = path.lstat().st_mode
                except OSError as error:
                    self.closed.append(error)
                    continue
                if stat.S_ISREG(mode):
                    yield path.relative_to(self._root).as_posix()

    def map(self, name: str) -> _core.KernelBinary | None:
        if not self.has(name):
            return None
        return _core.KernelBinary.open(self._root / name)

    def read(self, name: str) -> bytes | None:
        path = self._root / name
        return path.read_bytes() if path.stat().st_size <= DOCUMENT_LIMIT else None

    def has(self, name: str) -> bool:
        root = self._root.resolve()
        path = root / name
        return path.is_file() and path.resolve().is_relative_to(root)


class _Members:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def names(self) -> Iterator[str]:
        return self._archive.names()

    def map(self, name: str) -> _core.KernelBinary | None:
        data = self._archive.read(name)
        return None if data is None else _core.KernelBinary.from_bytes(data)

    def read(self, name: str) -> bytes | None:
        return self._archive.read(name) if self._archive.size(name) <= DOCUMENT_LIMIT else None

    def has(self, name: str) -> bool:
        return name in set(self._archive.names())


class _Relative:
    """Files of a folder inside another one."""

    def __init__(self, folder: _Folder, parent: PurePosixPath) -> None:
        self._folder = folder
        self._parent = parent

    def map(self, name: str) -> _core.KernelBinary | None:
        path = str(self._parent / name)
        return self._folder.map(path) if self._folder.has(path) else None
