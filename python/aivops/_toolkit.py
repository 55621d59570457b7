"""The toolkit of this process: chosen once, on first use."""

from __future__ import annotations

import functools
import sys

from . import _core, _locations

search = _core.ToolkitSearch()
"""Where to look for an NPU. Tests point it elsewhere."""


def choose() -> _core.ToolkitChoice:
    """What the environment says, without opening anything."""
    search.emulated_root = _locations.get_toolkit_dir()
    return _core.select_toolkit(search)


@functools.cache
def current() -> _core.Toolkit:
    """The chosen toolkit, opened."""
    choice = choose()
    toolkit = _core.Toolkit.open(choice.root)
    if choice.reason == "default":
        print(
            f"aivops: no NPU here, using emulated devices ({toolkit.soc_name} x {toolkit.device_count}); "
            "set AIVOPS_TOOLKIT=emulator to choose them without this line",
            file=sys.stderr,
        )
    return toolkit
