"""Findings for people: a paragraph each, then one line of totals."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from .._words import counted, styled
from ._reports import Finding
from ._summary import DistinctFinding, Failure, Summary

_LINES = 20  # shown of a failed program's output


def render_text(summary: Summary, color: bool = False) -> str:
    lines: list[str] = []
    for distinct in summary.findings.values():
        lines += [*_finding_lines(summary, distinct, color), ""]
    for failure in summary.failures.values():
        lines += [*_failure_lines(summary, failure, color), ""]
    return "\n".join([*lines, _totals(summary)])


def _finding_lines(summary: Summary, distinct: DistinctFinding, color: bool) -> Iterator[str]:
    finding = distinct.finding
    word = styled(finding.severity, f"{finding.severity} {finding.category}", color)
    yield f"{word}: {finding.message}"
    if finding.kernel is not None:
        yield f"    where:  {_scene(finding)}"
    if finding.place is not None:
        yield f"    at:     {finding.place}"
    if finding.other is not None and finding.other.place is not None:
        yield f"    after:  {finding.other.place}"
    yield from _replay(summary, distinct)


def _failure_lines(summary: Summary, failure: Failure, color: bool) -> Iterator[str]:
    yield f"{styled('error', 'error', color)}: {failure.description}"
    lines = failure.run.output.rstrip().splitlines()
    if len(lines) > _LINES:
        yield f"    | ({len(lines) - _LINES} lines before these)"
    for line in lines[-_LINES:]:
        yield f"    | {line}"
    yield from _replay(summary, failure)


def _replay(summary: Summary, what: DistinctFinding | Failure) -> Iterator[str]:
    yield f"    seen:   in {what.runs} of {counted(summary.runs, 'run')}"
    yield f"    replay: {shlex.join(summary.replay(what.schedule))}"


def _scene(finding: Finding) -> str:
    parts = [f"kernel {finding.kernel}", f"device {finding.device}"]
    if finding.block is not None:
        parts.append(f"block {finding.block} of {finding.blocks}")
    parts.append(f"launch {finding.launch}")
    if finding.rank is not None:
        parts.append(f"rank {finding.rank}")
    return ", ".join(parts)


def _totals(summary: Summary) -> str:
    if not summary.checked:
        return f"nothing was checked in {counted(summary.runs, 'run')}"
    found = (
        f"{counted(summary.count('error'), 'error')}, {counted(summary.count('warning'), 'warning')}"
        if summary.findings
        else "no fault found, but not all was checked"
        if summary.doubts or summary.blind_spot
        else "clean"
    )
    if summary.failures:
        failed = sum(failure.runs for failure in summary.failures.values())
        found = f"{found if summary.findings else 'no findings'}, {counted(failed, 'run')} failed without any"
    return (
        f"{found}: {counted(summary.runs, 'run')}, {counted(summary.launches, 'launch', 'launches')} "
        f"in {counted(summary.processes, 'process', 'processes')} checked"
    )
