"""What the processes of one run reported: JSON lines that the emulator writes (``AIVOPS_EMU_REPORT``)."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

VARIABLE = "AIVOPS_EMU_REPORT"

Severity = Literal["error", "warning"]

# Of messages: addresses, values and counts, which differ from run to run.
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+")


@dataclass(frozen=True)
class Place:
    """In a kernel. File and line are known when it was compiled with ``-g``."""

    function: str
    offset: int
    file: str | None = None
    line: int | None = None

    @classmethod
    def read(cls, record: dict[str, Any] | None) -> Place | None:
        if record is None:
            return None
        return cls(record["function"], record["offset"], record.get("file"), record.get("line"))

    @property
    def key(self) -> Hashable:
        return (self.file, self.line) if self.file is not None else (self.function, self.offset)

    def __str__(self) -> str:
        if self.file is not None:
            return f"{self.file}:{self.line}"
        return f"{self.function}+{self.offset:#x}"


@dataclass(frozen=True)
class Access:
    """The access of a race that came first."""

    kernel: str
    device: int
    block: int
    access: str
    place: Place | None

    @classmethod
    def read(cls, record: dict[str, Any] | None) -> Access | None:
        if record is None:
            return None
        place = Place.read(record.get("place"))
        return cls(record["kernel"], record["device"], record["block"], record["access"], place)


@dataclass(frozen=True)
class Finding:
    """What a check said in one process. Without a kernel it is a call of the host's."""

    severity: Severity
    category: str
    message: str
    code: int = 0
    seed: int = 0
    kernel: str | None = None
    device: int | None = None
    block: int | None = None
    blocks: int | None = None
    launch: int | None = None
    rank: str | None = None
    place: Place | None = None
    other: Access | None = None

    @classmethod
    def read(cls, record: dict[str, Any], rank: str | None) -> Finding:
        plain = ("code", "seed", "kernel", "device", "block", "blocks", "launch")
        return cls(
            severity=record["severity"],
            category=record["category"],
            message=record["message"],
            rank=rank,
            place=Place.read(record.get("place")),
            other=Access.read(record.get("other")),
            **{name: record[name] for name in plain if name in record},
        )

    @property
    def key(self) -> Hashable:
        """The same for the same mistake, whichever block, rank or schedule it shows in."""
        other = None if self.other is None else self.other.place
        places = {place.key for place in (self.place, other) if place is not None}
        if places:
            return (self.category, self.kernel, frozenset(places))
        words = "" if self.category == "timeout" else _NUMBERS.sub("#", self.message)
        return (self.category, self.kernel, words)


@dataclass(frozen=True)
class Sweepable:
    """What a sweep of schedules can hold back."""

    devices: frozenset[int] = frozenset()
    all_devices: int = 0
    instructions: int = 0

    def holds(self, number: int) -> bool:
        """Whether a schedule that holds back this device or instruction holds back anything."""
        if number < self.all_devices:
            return number in self.devices
        return number < self.all_devices + self.instructions

    def __or__(self, other: Sweepable) -> Sweepable:
        return Sweepable(
            self.devices | other.devices,
            max(self.all_devices, other.all_devices),
            max(self.instructions, other.instructions),
        )


@dataclass
class ProcessReport:
    """One process that used devices."""

    process: int
    rank: str | None = None
    check: str = ""
    launches: int = 0
    unfinished: int = 0
    """Launches that had not ended when the process did."""
    lost: int = 0
    unwatched: bool = False
    """Its kernels reached GM while memory of another process was imported."""
    sweepable: Sweepable = field(default_factory=Sweepable)
    findings: list[Finding] = field(default_factory=list)
    waiting: dict[tuple[str, int], Finding] = field(default_factory=dict)
    """The launches in which nothing moved at the end, for how long and what for."""

    @property
    def complete(self) -> bool:
        return self.lost == 0

    @classmethod
    def read(cls, path: Path) -> ProcessReport:
        report = cls(int(path.stem))
        for record in _records(path):
            report._take(record)
        return report

    def _take(self, record: dict[str, Any] | None) -> None:
        if record is None:
            self.lost += 1
            return
        kind = record["record"]
        if kind == "process":
            self.rank, self.check = record["rank"] or None, record["check"]
        elif kind == "launches":
            self.launches = max(self.launches, record["launches"])
        elif kind == "end":
            self.launches = record["launches"]
            self.unfinished = record["unfinished"]
            self.lost += record["lost"]
            self.sweepable = Sweepable(
                frozenset(record.get("devices", ())),
                record.get("all_devices", 0),
                record.get("instructions", 0),
            )
        elif kind == "unwatched":
            self.unwatched = True
        elif kind == "finding":
            self.findings.append(Finding.read(record, self.rank))
        elif kind == "waiting":
            self.waiting[record["kernel"], record["launch"]] = Finding(
                "error",
                "timeout",
                f"nothing had moved for {record['milliseconds'] / 1000:g} s or more when the program was "
                f"ended; {record['message']}",
                kernel=record["kernel"],
                device=record["device"],
                launch=record["launch"],
                rank=self.rank,
            )
        elif kind == "moved":
            self.waiting.pop((record["kernel"], record["launch"]), None)


def read_reports(folder: Path) -> list[ProcessReport]:
    """One for each process that used devices."""
    return [ProcessReport.read(path) for path in sorted(folder.glob("*.jsonl"))]


def _records(path: Path) -> Iterator[dict[str, Any] | None]:
    """None stands for a line that a full disk or the process's end cut short."""
    for line in path.read_text("utf-8", "replace").splitlines():
        if not line:
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        yield record if isinstance(record, dict) else None
