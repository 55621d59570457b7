"""The schedule of the emulated toolkit in late and strict mode, which a process may begin anew."""

from __future__ import annotations

import ctypes

from . import _toolkit
from .errors import ToolkitError

_NO_SCHEDULES = 207000  # ACL_ERROR_RT_FEATURE_NOT_SUPPORT


def begin_schedule(seed: int) -> None:
    """From here on everything happens as in a process that starts with this seed. An NPU has no schedules."""
    library = ctypes.CDLL(str(_toolkit.current().library))
    begin = getattr(library, "aivopsEmuBeginSchedule", None)
    if begin is None:
        return
    status = begin(ctypes.c_uint64(seed))
    if status == _NO_SCHEDULES:
        raise ToolkitError(
            "a device was already used in this process, neither in late nor in strict mode, so no schedule "
            "can be chosen: when a module, a conftest.py or a plugin was imported, say; use devices in tests "
            "and fixtures only, or choose the mode before: pytest --aiv-check=strict, aiv_check = strict in "
            "pytest's settings, or AIVOPS_EMU_CHECK=strict"
        )
    if status != 0:
        library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        raise ToolkitError((library.aclGetRecentErrMsg() or b"").decode())
