"""Names from archives and folders are data: what could steer a terminal or forge a line becomes \\xNN."""

from __future__ import annotations

import unicodedata


def printable(name: str) -> str:
    """`name` with control, format and undecodable characters and the backslash escaped, byte by byte."""
    return "".join(_escape(letter) if _hides(letter) else letter for letter in name)


def _hides(letter: str) -> bool:
    return letter == "\\" or unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escape(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))
