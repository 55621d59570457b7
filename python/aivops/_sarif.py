"""SARIF 2.1.0, the format of code-scanning services: what every command that prints it has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core

LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(
    tool: str, rules: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], **members: Any
) -> dict[str, Any]:
    """A log of one run. `members` are further ones of the run."""
    driver = {"name": tool, "version": _core.__version__, "rules": list(rules)}
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": list(results), **members}],
    }
