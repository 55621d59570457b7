"""All runs of a program together: each distinct fault once, with the schedules that show it."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .._processes import signal_name
from .._words import counted
from ._reports import Finding, Severity, Sweepable
from ._runs import RUN_SECONDS, Run
from ._schedules import Schedule

# What belongs to which tool, in the words of the field. A peer that has ended is a consequence, not a fault.
TOOLS: dict[str, frozenset[str]] = {
    "memcheck": frozenset({"memcheck", "assert", "launch"}),
    "racecheck": frozenset({"racecheck"}),
    "initcheck": frozenset({"initcheck"}),
    "synccheck": frozenset({"synccheck"}),
    "deadlock": frozenset({"deadlock", "timeout"}),
}
_TOOLS_THAT_WATCH_GM = TOOLS["racecheck"] | TOOLS["synccheck"]
TOOLS["all"] = frozenset().union(*TOOLS.values())


@dataclass
class DistinctFinding:
    """One fault."""

    finding: Finding
    """As the first schedule showed it."""
    schedule: Schedule
    """That one."""
    runs: int = 0
    """How many schedules showed it."""


@dataclass
class Failure:
    """One way in which the program failed without any finding."""

    run: Run
    """The first that ended so."""
    runs: int = 0

    @property
    def schedule(self) -> Schedule:
        return self.run.schedule

    @property
    def description(self) -> str:
        if self.run.timed_out:
            how = "did not end in time"
        elif self.run.code < 0:
            how = f"was ended by {signal_name(-self.run.code)}"
        else:
            how = f"exited with {self.run.code}"
        return f"the program {how}, and no check had found anything"


@dataclass
class Summary:
    """What the runs so far have shown."""

    command: Sequence[str]
    tool: str = "all"
    timeout: float = RUN_SECONDS
    runs: int = 0
    processes: int = 0
    launches: int = 0
    sweepable: Sweepable = field(default_factory=Sweepable)
    findings: dict[Hashable, DistinctFinding] = field(default_factory=dict)
    failures: dict[Hashable, Failure] = field(default_factory=dict)
    other_tools: set[Hashable] = field(default_factory=set)
    """Findings that `tool` is not about."""
    standstills: int = 0
    """So many runs ended one after the other because the same thing had stood still."""
    unwatched: int = 0
    """Processes in which the order of accesses to GM was not checked."""
    doubts: list[str] = field(default_factory=list)
    """Why what was checked is less than it seems, apart from those."""
    _stuck: set[Hashable] = field(default_factory=set)
    """What stood still in all of the `standstills`."""

    def add(self, run: Run) -> None:
        self.runs += 1
        self.processes += len(run.reports)
        self.launches += sum(report.launches for report in run.reports)
        for report in run.reports:
            self.sweepable |= report.sweepable
            self.unwatched += report.unwatched
        found = _findings_of(run)
        for key, finding in found.items():
            if finding.category not in TOOLS[self.tool]:
                self.other_tools.add(key)
                continue
            self.findings.setdefault(key, DistinctFinding(finding, run.schedule)).runs += 1
        if (run.code != 0 or run.timed_out) and not found:
            self.failures.setdefault((run.code, run.timed_out), Failure(run)).runs += 1
        self._doubt(run)
        self._count_standstills(run, found)

    def _count_standstills(self, run: Run, found: dict[Hashable, Finding]) -> None:
        stuck = {key for key, finding in found.items() if finding.category in TOOLS["deadlock"]}
        if run.timed_out and not stuck:
            stuck.add("the program")
        again = stuck & self._stuck
        self.standstills = self.standstills + 1 if again else min(len(stuck), 1)
        self._stuck = again or stuck

    def _doubt(self, run: Run) -> None:
        for report in run.reports:
            if report.lost and not any("incomplete" in doubt for doubt in self.doubts):
                self.doubts.append(
                    f"the report of process {report.process} ({shlex.join(run.schedule.options)}) is "
                    f"incomplete: {counted(report.lost, 'record')} could not be written; is the disk full?"
                )
            if report.unfinished and not any("had not ended" in doubt for doubt in self.doubts):
                self.doubts.append(
                    f"{counted(report.unfinished, 'launch', 'launches')} of process {report.process} had not "
                    "ended when it did, and nobody waited for them; synchronize the stream"
                )
            if report.check not in ("strict", "") and not any("AIVOPS_EMU_CHECK" in d for d in self.doubts):
                self.doubts.append(
                    f"process {report.process} ran with AIVOPS_EMU_CHECK={report.check}: the program sets it"
                )

    @property
    def lacks_lines(self) -> bool:
        """Whether a place is known without its line."""
        places = [distinct.finding.place for distinct in self.findings.values()]
        return any(place is not None and place.file is None for place in places)

    @property
    def blind_spot(self) -> str | None:
        """What `tool` could not see of GM that processes share."""
        if not self.unwatched or not TOOLS[self.tool] & _TOOLS_THAT_WATCH_GM:
            return None
        where = counted(self.unwatched, "process", "processes")
        return (
            f"the order of accesses to GM was not checked in {where} of {self.processes}, because GM was "
            "shared with other processes: races and misused flags there are not seen; run the ranks as "
            "threads of one process (aivops.LocalGroup) to check them"
        )

    def count(self, severity: Severity) -> int:
        return sum(distinct.finding.severity == severity for distinct in self.findings.values())

    @property
    def checked(self) -> bool:
        """Whether any kernel ran on an emulated device, or was refused there."""
        return self.launches > 0 or bool(self.findings)

    def reaches(self, fail_on: Severity) -> bool:
        """Whether any finding is at least as severe."""
        found = self.count("error") if fail_on == "error" else len(self.findings)
        return found > 0

    def replay(self, schedule: Schedule) -> list[str]:
        """The command that runs one schedule again."""
        tool = [] if self.tool == "all" else ["--tool", self.tool]
        timeout = [] if self.timeout == RUN_SECONDS else ["--timeout", str(self.timeout)]
        return ["aivops", "sanitize", *tool, *timeout, *schedule.options, "--", *self.command]

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": 1,
            "program": list(self.command),
            "findings": [
                {
                    **asdict(distinct.finding),
                    "runs": distinct.runs,
                    "replay": self.replay(distinct.schedule),
                }
                for distinct in self.findings.values()
            ],
            "failures": [
                {
                    "status": failure.run.code,
                    "timed_out": failure.run.timed_out,
                    "output": failure.run.output,
                    "runs": failure.runs,
                    "replay": self.replay(failure.run.schedule),
                }
                for failure in self.failures.values()
            ],
            "doubts": [*self.doubts, *([self.blind_spot] if self.blind_spot else [])],
            "summary": {
                "runs": self.runs,
                "processes": self.processes,
                "launches": self.launches,
                "unwatched": self.unwatched,
                "errors": self.count("error"),
                "warnings": self.count("warning"),
                "failures": len(self.failures),
                "other_tools": len(self.other_tools),
            },
        }


def _findings_of(run: Run) -> dict[Hashable, Finding]:
    """The distinct findings of one run, whichever process, block or launch showed them first."""
    found: dict[Hashable, Finding] = {}
    for report in run.reports:
        stuck = list(report.waiting.values()) if run.timed_out else []
        for finding in [*report.findings, *stuck]:
            if finding.category != "peer":
                found.setdefault(finding.key, finding)
    return found
