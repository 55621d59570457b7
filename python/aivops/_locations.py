"""Where the files of this package are. Found as package resources, so editable installs work."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_PACKAGE = files("aivops")


def _find(relative: str) -> Path:
    return Path(str(_PACKAGE.joinpath(relative)))


def get_cmake_dir() -> Path:
    """The directory of AivOpsConfig.cmake, for CMake's ``AivOps_DIR`` or ``CMAKE_PREFIX_PATH``."""
    return _find("lib/cmake/AivOps")


def get_include() -> Path:
    """The C++17 headers of the host API: ``#include <aivops/dispatch.h>``."""
    return _find("include/host")


def get_toolkit_dir() -> Path:
    """The emulated toolkit, laid out like CANN: a value for ``ASCEND_HOME_PATH``."""
    return _find("toolkit")
