"""What verification found, as plain typed objects. Names from files are already made printable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ..errors import VerificationError

Severity = Literal["error", "warning", "info"]

_RANK: Mapping[str, int] = {"info": 0, "warning": 1, "error": 2}


@dataclass(frozen=True)
class Finding:
    """One rule that does not hold at one place."""

    rule: str
    severity: Severity
    kernel: str | None
    section: str | None
    offset: int | None
    expected: str | None
    found: str | None
    message: str
    fix: str

    def reaches(self, threshold: Severity) -> bool:
        return _RANK[self.severity] >= _RANK[threshold]


@dataclass(frozen=True)
class Kernel:
    """A kernel as the runtime finds it: `offset` and `size` are its code's, in bytes."""

    name: str
    type: str | None
    offset: int
    size: int
    args_size: int | None


@dataclass(frozen=True)
class FileReport:
    """One kernel binary, or one container (wheel, manifest) with findings of its own."""

    path: str
    machine: str
    architecture: str
    kernels: tuple[Kernel, ...] = ()
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> FileReport:
        """From an entry of `files` in the JSON document."""
        return FileReport(
            path=document["path"],
            machine=document["machine"],
            architecture=document["architecture"],
            kernels=tuple(Kernel(**kernel) for kernel in document["kernels"]),
            findings=tuple(Finding(**finding) for finding in document["findings"]),
        )

    def document(self) -> dict[str, Any]:
        """The entry of `files` in the JSON document."""
        return {
            **asdict(self),
            "kernels": [asdict(kernel) for kernel in self.kernels],
            "findings": [asdict(finding) for finding in self.findings],
        }


@dataclass(frozen=True)
class Report:
    """The reports of all files of one call, in the order in which they were found."""

    files: tuple[FileReport, ...] = field(default=())

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def kernel_count(self) -> int:
        return sum(len(file.kernels) for file in self.files)

    def count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    def reaches(self, threshold: Severity = "error") -> bool:
        """Whether a finding is at least this severe."""
        return any(finding.reaches(threshold) for finding in self.findings)

    def raise_for_findings(self, threshold: Severity = "error") -> None:
        """Raises VerificationError when a finding is at least this severe."""
        severe = [
            (file, finding) for file in self.files for finding in file.findings if finding.reaches(threshold)
        ]
        if severe:
            file, finding = severe[0]
            more = f" (and {len(severe) - 1} more)" if len(severe) > 1 else ""
            raise VerificationError(
                f"{file.path}: {finding.rule}: {finding.message}{more}; {finding.fix}",
                tuple(finding for _, finding in severe),
            )

    def document(self) -> dict[str, Any]:
        """The JSON document of `aivops verify --format json`."""
        return {
            "schema": 1,
            "files": [file.document() for file in self.files],
            "summary": {
                "files": len(self.files),
                "kernels": self.kernel_count,
                "errors": self.count("error"),
                "warnings": self.count("warning"),
            },
        }
