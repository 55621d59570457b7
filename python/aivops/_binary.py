"""Kernel binaries from files, bytes and installed packages."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

from . import _core, _toolkit
from ._misuse import require_kind, shown
from .errors import BinaryError, InvalidTypeError

ENTRY_POINT_GROUP = "aivops.kernels"


class Binary(_core.Binary):
    """A kernel binary: read once, checked, and loaded from those very bytes.

    :param source: path of a linked binary, or its bytes
    :param sha256: what its SHA-256 must be; ``None`` takes any
    :raises BinaryError: it is damaged, or for another machine or architecture than the toolkit's
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        *,
        sha256: str | None = None,
        toolkit: _core.Toolkit | None = None,
    ) -> None:
        require_kind("Binary: source", source, (str, os.PathLike, bytes), "a path or the bytes")
        if sha256 is not None:
            require_kind("Binary: sha256", sha256, str, "64 hexadecimal digits or None")
        toolkit = toolkit or _toolkit.current()
        if isinstance(source, bytes):
            loaded = _core.Binary.from_bytes(toolkit, source, "<bytes>", sha256 or "")
        else:
            loaded = _core.Binary.load(toolkit, Path(source), sha256 or "")
        super().__init__(loaded)


def load_kernels(package: str | os.PathLike[str], *, toolkit: _core.Toolkit | None = None) -> _core.KernelSet:
    """The kernels that an installed distribution ships, for the toolkit in use.

    :param package: name in the entry-point group ``aivops.kernels``, or a package with a ``kernels`` folder;
        or the path of a folder with a ``manifest.json``
    :raises BinaryError: there is no such set, or it has nothing for this toolkit
    """
    if isinstance(package, os.PathLike):
        return _core.KernelSet.open(toolkit or _toolkit.current(), Path(package))
    if not isinstance(package, str):
        raise InvalidTypeError(
            f"load_kernels(): package is {shown(package)}, expected the name of a package or the path of a "
            "folder"
        )
    registered = {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
    module = registered.get(package, package)
    try:
        folder = files(module).joinpath("kernels")
    except (ImportError, TypeError, ValueError) as error:  # the latter two for what can be no name
        known = ", ".join(sorted(registered)) or "none"
        raise BinaryError(
            f"load_kernels({package!r}): no distribution registers kernels of this name, and no package is "
            f"called so; installed kernel sets: {known}"
        ) from error
    return _core.KernelSet.open(toolkit or _toolkit.current(), Path(str(folder)))
