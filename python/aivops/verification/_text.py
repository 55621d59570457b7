"""Reports for people, in the words of the native aivops-verify."""

from __future__ import annotations

from collections.abc import Iterator

from ._report import FileReport, Finding, Report, Severity

_RESET = "\x1b[0m"
_STYLES = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "info": "\x1b[1;36m"}


def render_text(report: Report, least: Severity = "warning", color: bool = False) -> str:
    """A paragraph for each finding of at least this severity, then one line of totals."""
    lines = [line for file in report.files for line in _file_lines(file, least, color)]
    return "\n".join([*lines, _summary(report)])


def _file_lines(file: FileReport, least: Severity, color: bool) -> Iterator[str]:
    for finding in file.findings:
        if finding.reaches(least):
            word = f"{finding.severity} {finding.rule}"
            shown = f"{_STYLES[finding.severity]}{word}{_RESET}" if color else word
            yield f"{file.path}: {shown}: {finding.message}"
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
        _counted(len(report.files), "file"),
        f"{_counted(report.kernel_count, 'kernel')}: {_counted(report.count('error'), 'error')}",
        _counted(report.count("warning"), "warning"),
    ]
    return ", ".join(counts)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
