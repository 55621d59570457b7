"""Findings as SARIF, for code-scanning services: one rule per category."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._sarif import LEVELS, notification, sarif_log
from ._reports import Place
from ._summary import DistinctFinding, Failure, Summary

_CATEGORIES = {
    "memcheck": "A kernel or copy touches memory that it must not, or not in this way",
    "racecheck": "Nothing orders two accesses to the same bytes",
    "initcheck": "A value is used that nothing has written",
    "synccheck": "Events, flags or barriers are used in a way that cannot be right",
    "deadlock": "What is waited for can never come",
    "timeout": "Nothing moved for as long as the launch allows",
    "assert": "A kernel stopped itself: an assertion, a trap, a division by zero",
    "launch": "What was launched, or how, cannot be right",
}


def sarif_document(summary: Summary, remarks: Sequence[str]) -> dict[str, Any]:
    """One run; only the categories that have results are described. `remarks` say why less was checked than
    was asked for."""
    used = sorted({distinct.finding.category for distinct in summary.findings.values()})
    return sarif_log(
        "aivops sanitize",
        [{"id": name, "shortDescription": {"text": _CATEGORIES.get(name, name)}} for name in used],
        [_result(summary, distinct, used) for distinct in summary.findings.values()],
        [
            *map(_notification, summary.failures.values()),
            *(notification("error", remark) for remark in remarks),
        ],
        commandLine=shlex.join(summary.command),
    )


def _result(summary: Summary, distinct: DistinctFinding, used: list[str]) -> dict[str, Any]:
    finding = distinct.finding
    result: dict[str, Any] = {
        "ruleId": finding.category,
        "ruleIndex": used.index(finding.category),
        "level": LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [_location(finding.kernel, finding.place)],
        "properties": {"runs": distinct.runs, "replay": shlex.join(summary.replay(distinct.schedule))},
    }
    if finding.other is not None:
        result["relatedLocations"] = [
            {
                **_location(finding.other.kernel, finding.other.place),
                "message": {"text": f"{finding.other.access}, the access before it"},
            }
        ]
    return result


def _location(kernel: str | None, place: Place | None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place is not None and place.file is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(Path(place.file))},
            "region": {"startLine": place.line},
        }
    if kernel is not None:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return location


def _uri(path: Path) -> str:
    """Relative where the file is below the current folder, as services that show repositories want it."""
    if path.is_absolute() and not path.is_relative_to(Path.cwd()):
        return path.as_uri()
    return quote(str(path.relative_to(Path.cwd()) if path.is_absolute() else path))


def _notification(failure: Failure) -> dict[str, Any]:
    return notification("error", f"{failure.description}\n{failure.run.output}".rstrip(), runs=failure.runs)
