"""Verification of kernel binaries: `verify()` and the report that it returns. Nothing is loaded or run."""

from ._report import FileReport, Finding, Kernel, Report
from ._rules import Rule, all_rules
from ._verify import UnreadableError, verify

__all__ = ["FileReport", "Finding", "Kernel", "Report", "Rule", "UnreadableError", "all_rules", "verify"]
