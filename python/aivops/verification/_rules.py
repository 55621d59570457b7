"""The table of rules, and findings about what surrounds a binary: archives, manifests, doubles."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from .. import _core
from ._report import Finding


@dataclass(frozen=True)
class Rule:
    id: str
    any: tuple[str, ...]
    aiv: tuple[str, ...]
    machines: tuple[str, ...]
    condition: str
    consequence: str
    fix: str
    source: str
    since: str


def _rule(entry: dict[str, Any]) -> Rule:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
    }
    return Rule(**values)


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id."""
    return {entry["id"]: _rule(entry) for entry in json.loads(_core.verification_rules())}


def make_finding(rule: str, message: str, expected: str | None = None, found: str | None = None) -> Finding:
    row = all_rules()[rule]
    severity: Any = row.any[0]
    return Finding(rule, severity, None, None, None, expected, found, message, row.fix)
