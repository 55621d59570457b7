"""SARIF 2.1.0, the format of code-scanning services: what every command that prints it has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core

LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def notification(level: str, text: str, **properties: Any) -> dict[str, Any]:
    """What a tool says of its own work."""
    more = {"properties": properties} if properties else {}
    return {"level": level, "message": {"text": text}, **more}


def sarif_log(
    tool: str,
    rules: Sequence[dict[str, Any]],
    results: Sequence[dict[str, Any]],
    notifications: Sequence[dict[str, Any]],
    **invocation: Any,
) -> dict[str, Any]:
    """A log of one run, which did what it should unless a notification is an error. `invocation` is what
    else is known of it."""
    driver = {"name": tool, "version": _core.__version__, "rules": list(rules)}
    invoked = {
        **invocation,
        "executionSuccessful": all(each["level"] != "error" for each in notifications),
        "toolExecutionNotifications": list(notifications),
    }
    return {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": list(results), "invocations": [invoked]}],
    }
