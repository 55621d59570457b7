"""Programs under the emulator's checks: run once per schedule, and what was found in all of them together."""

from __future__ import annotations

from ._reports import Access, Finding, Place, ProcessReport, read_reports
from ._runs import RUN_SECONDS, Run, run_schedules
from ._schedules import HOLD_NOTHING, Schedule, seeded, sweep
from ._summary import DistinctFinding, Failure, Summary

__all__ = [
    "HOLD_NOTHING",
    "RUN_SECONDS",
    "Access",
    "DistinctFinding",
    "Failure",
    "Finding",
    "Place",
    "ProcessReport",
    "Run",
    "Schedule",
    "Summary",
    "read_reports",
    "run_schedules",
    "seeded",
    "sweep",
]
