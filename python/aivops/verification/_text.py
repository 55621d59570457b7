"""Reports for people, in the words of the native aivops-verify."""

from __future__ import annotations

from collections.abc import Iterator

from .._words import counted, styled
from ._report import FileReport, Finding, Report, Severity


def render_text(report: Report, least: Severity = "warning", color: bool = False) -> str:
    """A paragraph for each finding of at least this severity, then one line of totals."""
    lines = [line for file in report.files for line in _file_lines(file, least, color)]
    return "\n".join([*lines, _summary(report)])


def _file_lines(file: FileReport, least: Severity, color: bool) -> Iterator[str]:
    for finding in file.findings:
        if finding.reaches(least):
            word = f"{finding.severity} {finding.rule}"
            yield f"{file.path}: {styled(finding.severity, word, color)}: {finding.message}"
            yield from _details(finding)


def _details(finding: Finding) -> Iterator[str]:
    where = finding.section or ("file" if finding.offset is not None else None)
    if where is not None and finding.offset is not None:
        where += f", offset {finding.offset:#x}"
    for title, value in (
        ("expected", finding.expected),
        ("found", finding.found),
        ("where", where),
        ("fix", finding.fix),
    ):
        if value:
            yield f"    {title + ':':<10}{value}"


def _summary(report: Report) -> str:
    counts = [
        counted(len(report.files), "file"),
        f"{counted(report.kernel_count, 'kernel')}: {counted(report.count('error'), 'error')}",
        counted(report.count("warning"), "warning"),
    ]
    return ", ".join(counts)
