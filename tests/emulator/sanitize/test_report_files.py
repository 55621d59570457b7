"""The files in AIVOPS_EMU_REPORT's folder, and reading ones that a killed process left half written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from aivops.sanitizing import read_reports
from emulator.conftest import KernelCompiler
from emulator.sanitize.conftest import Program


def lines_of(command: list[str], folder: Path, **variables: str) -> list[dict[str, object]]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "AIVOPS_EMU_REPORT": str(folder), **variables}
    subprocess.run(command, env=environment, check=True)
    (file,) = folder.iterdir()
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def test_records_of_a_process(program: Program, races: Path, tmp_path: Path) -> None:
    script = """
memory = [acl.malloc(4096) for _ in range(2)]
for _ in range(5):
    launch("copy_without_barrier", 4, "QQ", *memory)
    acl.synchronize()
"""
    records = lines_of(
        program(script, races), tmp_path / "reports", AIVOPS_EMU_CHECK="strict", AIVOPS_EMU_SEED="9", RANK="3"
    )
    assert [record["record"] for record in records] == [
        "process",
        "launches",
        "finding",
        "launches",
        "launches",
        "end",
    ]
    assert (records[0]["rank"], records[0]["check"], records[0]["seed"]) == ("3", "strict", 9)
    assert [record["launches"] for record in records if "launches" in record] == [1, 2, 4, 5]
    assert records[2]["seed"] == 9
    assert records[2]["code"] == 507035


def test_a_folder_that_cannot_be_written_to(program: Program, races: Path, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir(mode=0o555)
    environment = {**os.environ, "AIVOPS_EMU_REPORT": str(folder)}
    # Root writes everywhere unless it gives that up.
    humble = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    command = [*humble, *program("", races)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"AIVOPS_EMU_REPORT='{folder}': expected a folder that exists and can be written to" in done.stderr


def test_a_report_that_cannot_be_written(program: Program, races: Path) -> None:
    """Not even root can make files here."""
    environment = {**os.environ, "AIVOPS_EMU_REPORT": "/proc/self/fd"}
    done = subprocess.run(program("", races), env=environment, capture_output=True, text=True, check=False)
    assert "aivops emulator: warning: /proc/self/fd/" in done.stderr
    assert ".jsonl: the report cannot be written: " in done.stderr


def test_warnings_are_in_it_as_well(
    program: Program, compiler: KernelCompiler, repository: Path, tmp_path: Path
) -> None:
    """In normal mode this kernel only warns."""
    source = tmp_path / "unwritten.asc"
    shutil.copy(Path(__file__).with_name("unwritten.asc"), source)
    binary = compiler.build(source, "-I", repository / "device/include")
    script = "launch('read_unwritten', 1, 'Q', acl.malloc(4096)); acl.ok(acl.synchronize())"
    records = lines_of(program(script, binary), tmp_path / "reports")
    (finding,) = (record for record in records if record["record"] == "finding")
    assert (finding["severity"], finding["category"]) == ("warning", "initcheck")


def test_without_the_setting_nothing_is_written(program: Program, kernels: Path, tmp_path: Path) -> None:
    command = program("launch('empty', 1, 'Q', 0); acl.ok(acl.synchronize())", kernels)
    subprocess.run(command, cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_torn_line_costs_that_line_only(tmp_path: Path) -> None:
    finding = {
        "record": "finding",
        "severity": "error",
        "category": "memcheck",
        "message": "m",
        "kernel": "k",
    }
    text = "\n".join(["", json.dumps({"record": "process", "process": 4, "rank": "", "check": "strict"}), ""])
    whole = "\n" + json.dumps(finding) + "\n"
    (tmp_path / "4.jsonl").write_text(text + whole[:40] + whole)
    (report,) = read_reports(tmp_path)
    assert [found.category for found in report.findings] == ["memcheck"]
    assert report.lost == 1


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    line = b'\n{"record":"finding","severity":"error","category":"assert","message":"\xff"}\n'
    (tmp_path / "5.jsonl").write_bytes(line)
    (report,) = read_reports(tmp_path)
    assert report.findings[0].message == "\N{REPLACEMENT CHARACTER}"
