"""How reports for people count and stress."""

from __future__ import annotations

_RESET = "\x1b[0m"
_STYLES = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m"}


def counted(count: int, thing: str, things: str | None = None) -> str:
    """e.g. "1 file", "3 files"."""
    return f"{count} {thing if count == 1 else things or thing + 's'}"


def styled(severity: str, text: str, color: bool) -> str:
    """In the colour of the severity."""
    return f"{_STYLES[severity]}{text}{_RESET}" if color else text
