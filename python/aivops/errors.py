"""Exceptions of aivops. All are :class:`Error`; where a built-in says the same, they are that too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "AclError",
    "AclTimeoutError",
    "BinaryError",
    "BootstrapError",
    "BootstrapTimeoutError",
    "CallMismatchError",
    "Error",
    "ForkError",
    "InvalidTypeError",
    "InvalidValueError",
    "PeerDiedError",
    "PeerFailedError",
    "PeerTimeoutError",
    "ToolkitError",
    "VerificationError",
]


def describe(error: BaseException) -> str:
    """Type and text of any exception, whatever it does when asked."""
    try:
        text = str(error).encode("utf-8", "backslashreplace").decode()
    except Exception:
        text = "(it has no text)"
    return f"{type(error).__name__}: {text}"


class Error(Exception):
    """Base of everything that aivops raises on purpose."""


class ToolkitError(Error):
    """A toolkit is missing, incomplete, without devices, or not the one this process already uses."""


class BinaryError(Error):
    """A kernel binary or manifest is damaged, changed, or for another machine or architecture."""


class InvalidValueError(Error, ValueError):
    """An argument of the right type has a value that cannot be used."""


class InvalidTypeError(Error, TypeError):
    """An argument is of a kind that does not fit."""


class ForkError(Error):
    """A device object was used in a process forked after the runtime started."""


class AclError(Error):
    """A call of the ACL runtime failed."""

    def __init__(self, text: str, code: int, name: str, runtime_message: str) -> None:
        super().__init__(text)
        self.code = code
        """The aclError."""
        self.name = name
        """As ACL's headers spell it, e.g. ``ACL_ERROR_RT_PARAM_INVALID``."""
        self.runtime_message = runtime_message
        """What aclGetRecentErrMsg said right after the failure; may be empty."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.name, self.runtime_message)


class AclTimeoutError(AclError, TimeoutError):
    """A wait or a kernel ran out of time."""


class VerificationError(Error):
    """Kernel binaries break rules; ``findings`` lists them."""

    def __init__(self, text: str, findings: Sequence[Any]) -> None:
        super().__init__(text)
        self.findings = findings

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.findings)


class BootstrapError(Error):
    """The ranks of a communicator did not find together."""


class BootstrapTimeoutError(BootstrapError, TimeoutError):
    """Not all ranks came where they were waited for."""


class CallMismatchError(Error, ValueError):
    """Ranks made different calls at the same place; the message names both."""

    rank: int
    """Who noticed."""
    peer: int
    """Whose call was another one."""


class PeerTimeoutError(Error, TimeoutError):
    """A rank waited too long for another: who for whom, at which flag, expected and found."""

    rank: int
    peer: int
    block: int
    flag: int
    """Offset of the flag in the rank's window."""
    expected: int
    """The tag that should have come."""
    found: int


class PeerFailedError(Error):
    """Another rank raised, so this one cannot finish."""


class PeerDiedError(PeerFailedError):
    """The process of another rank ended."""

    rank: int
    """Who noticed."""
    peer: int
    """Whose process it was."""
