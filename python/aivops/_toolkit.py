"""The toolkit of this process: chosen once, on first use."""

from __future__ import annotations

import functools

from . import _core, _locations

search = _core.ToolkitSearch()
"""Where to look for an NPU. Tests point it elsewhere."""


def _placed() -> _core.ToolkitSearch:
    search.emulated_root = _locations.get_toolkit_dir()
    return search


def choose() -> _core.ToolkitChoice:
    """What the environment says, without opening anything."""
    return _core.select_toolkit(_placed())


@functools.cache
def current() -> _core.Toolkit:
    """The chosen toolkit, opened."""
    return _core.open_selected_toolkit(_placed())
