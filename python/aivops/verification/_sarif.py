"""Reports of verification as SARIF, for code-scanning services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from .._sarif import LEVELS, notification, sarif_log
from ._report import FileReport, Finding, Report, Severity
from ._rules import Rule, all_rules


def sarif_document(report: Report, unreadable: Sequence[str], least: Severity) -> dict[str, Any]:
    """One run with the findings of at least this severity; only the rules that have results are described."""
    shown = [(file, finding) for file in report.files for finding in file.findings if finding.reaches(least)]
    used = sorted({finding.rule for _, finding in shown})
    index = {rule: position for position, rule in enumerate(used)}
    return sarif_log(
        "aivops verify",
        [_describe(all_rules()[rule]) for rule in used],
        [_result(file, finding, index[finding.rule]) for file, finding in shown],
        [notification("error", message) for message in unreadable],
    )


def _describe(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.condition},
        "fullDescription": {"text": f"{rule.condition}; {rule.consequence}"},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": LEVELS[(rule.any or rule.aiv)[0]]},
    }


def _result(file: FileReport, finding: Finding, rule_index: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(file.path)}}
    if finding.offset is not None:
        physical["region"] = {"byteOffset": finding.offset}
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.kernel:
        location["logicalLocations"] = [{"name": finding.kernel, "kind": "function"}]
    properties = {
        key: value
        for key, value in (
            ("section", finding.section),
            ("expected", finding.expected),
            ("found", finding.found),
            ("fix", finding.fix),
        )
        if value
    }
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.message}; {finding.fix}"},
        "locations": [location],
        "properties": properties,
    }
