"""`aivops verify` and `aivops inspect`: formats, exit statuses, what a terminal sees; and the page of rules."""

from __future__ import annotations

import json
import os
import pty
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aivops
import pytest
from aivops.cli import main
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifSchema

from kernel_binary.builder import C310_VECTOR, Elf, ascend, emulated, word

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str | Path) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def without_record() -> Elf:
    elf = ascend()
    elf.drop(".ascend.meta.copy_0")
    return elf


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A binary whose only kernel has no record: a warning, in profile aiv an error."""
    path = tmp_path / "bare.o"
    path.write_bytes(without_record().build())
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.o"
    path.write_bytes(ascend().build())
    return path


def test_text_is_that_of_the_native_tool(run: Run, bare: Path, aivops_verify: Callable[..., Any]) -> None:
    for options in ([], ["--profile", "aiv"], ["--kernel", "other"]):
        status, out, err = run("verify", *options, bare)
        native = aivops_verify(*options, bare)
        assert (status, out, err) == (native.returncode, native.stdout, "")
    assert run("verify", bare)[1] == (
        f"{bare}: warning META050: kernel copy_0 has no meta section\n"
        "    expected: .ascend.meta.copy_0\n"
        "    found:    no section of this name\n"
        "    fix:      put AIVOPS_EXPORT_KERNEL(copy_0) of aivops/export.h into its source\n"
        "1 file, 1 kernel: 0 errors, 1 warning\n"
    )


def test_exit_status(run: Run, bare: Path, good: Path, tmp_path: Path) -> None:
    assert run("verify", good)[0] == 0
    assert run("verify", bare)[0] == 0
    assert run("verify", "--fail-on", "warning", bare)[0] == 1
    assert run("verify", "--profile", "aiv", bare, good)[0] == 1
    assert run("verify", "--kernel", "missing", good)[0] == 1
    cut = tmp_path / "cut.o"
    cut.write_bytes(good.read_bytes()[:100])
    assert run("verify", cut)[0] == 1
    status, out, err = run("verify", tmp_path / "missing.o")
    assert (status, out) == (2, "")
    assert "missing.o: cannot be read (No such file or directory)" in err
    assert run("verify", "--architecture", "x", good)[0] == 2
    with pytest.raises(SystemExit) as exited:
        run("verify", "--format", "xml", good)
    assert exited.value.code == 2


def test_json(run: Run, bare: Path, good: Path) -> None:
    document = json.loads(run("verify", "--format", "json", bare, good)[1])
    assert document.keys() == {"schema", "files", "summary"}
    assert document["schema"] == 1
    assert document["summary"] == {"files": 2, "kernels": 2, "errors": 0, "warnings": 1}
    assert document["files"][1] == {
        "path": str(good),
        "machine": "ascend",
        "architecture": "dav-c220-vec",
        "kernels": [{"name": "copy_0", "type": "K_TYPE_AIV", "offset": 0, "size": 64, "args_size": 16}],
        "findings": [],
    }
    (finding,) = document["files"][0]["findings"]
    assert list(finding) == [
        *("rule", "severity", "kernel", "section", "offset"),
        *("expected", "found", "message", "fix"),
    ]


def test_sarif(run: Run, tmp_path: Path, bare: Path, good: Path) -> None:
    odd = tmp_path / "odd \x1b name.o"
    elf = ascend("a", "b", flags=C310_VECTOR)
    elf.section(".ascend.meta.a").data = word(1, 9)
    odd.write_bytes(elf.build())
    document = json.loads(run("verify", "--format", "sarif", "--profile", "aiv", bare, good, odd)[1])
    SarifSchema.model_validate(document)
    (sarif_run,) = document["runs"]
    described = [rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in sarif_run["results"]} == set(described)
    for result in sarif_run["results"]:
        assert described[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
    by_rule = {result["ruleId"]: result for result in sarif_run["results"]}
    assert by_rule["META050"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == str(bare)
    assert by_rule["META060"]["locations"][0]["logicalLocations"] == [{"name": "a", "kind": "function"}]
    assert by_rule["META060"]["locations"][0]["physicalLocation"]["region"]["byteOffset"] > 0
    assert sarif_run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_notes_are_shown_when_asked_for(run: Run, tmp_path: Path) -> None:
    """Kernels `a` and `b` have one tiling key, which is no mistake."""
    path = write(tmp_path / "x.o", ascend("a", "b").build())
    assert "META039" not in run("verify", path)[1]
    assert "info META039" in run("verify", "--notes", path)[1]
    for options, rules in [([], []), (["--notes"], ["META039"])]:
        (sarif_run,) = json.loads(run("verify", "--format", "sarif", *options, path)[1])["runs"]
        assert [result["ruleId"] for result in sarif_run["results"]] == rules
        assert [rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]] == rules
    document = json.loads(run("verify", "--format", "json", path)[1])
    assert [finding["rule"] for finding in document["files"][0]["findings"]] == ["META039"]


def test_what_cannot_be_read_does_not_hide_the_rest(
    run: Run, tmp_path: Path, bare: Path, good: Path, aivops_verify: Callable[..., Any]
) -> None:
    """Every format says both, on the stream where its reader looks."""
    paths = [tmp_path / "missing.o", bare, tmp_path / "empty", good]
    paths[2].mkdir()
    reasons = [
        f"{paths[0]}: cannot be read (No such file or directory)",
        f"{paths[2]}: has no kernel binary",
    ]

    status, out, err = run("verify", *paths)
    assert status == 2
    assert out == run("verify", bare, good)[1]
    assert err.splitlines() == [f"aivops verify: {reason}" for reason in reasons]

    status, out, _ = run("verify", "--format", "json", *paths)
    assert (status, json.loads(out)["unreadable"]) == (2, reasons)
    assert json.loads(out)["summary"]["files"] == 2
    native = aivops_verify("--format", "json", *paths)
    reasons[1] = f"{paths[2]}: has no *.o file to verify"
    assert (native.returncode, json.loads(native.stdout)["unreadable"]) == (2, reasons)
    assert native.stderr.splitlines() == [f"aivops-verify: {reason}" for reason in reasons]

    status, out, _ = run("inspect", tmp_path / "missing.o")
    assert (status, out) == (2, "")


@pytest.mark.parametrize("others", [0, 1])
def test_sarif_of_what_cannot_be_read(run: Run, tmp_path: Path, bare: Path, others: int) -> None:
    missing = tmp_path / "missing.o"
    status, out, _ = run("verify", "--format", "sarif", missing, *[bare] * others)
    assert status == 2
    document = json.loads(out)
    SarifSchema.model_validate(document)
    (sarif_run,) = document["runs"]
    assert [result["ruleId"] for result in sarif_run["results"]] == ["META050"] * others
    (invocation,) = sarif_run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "error"
    assert notification["message"]["text"] == f"{missing}: cannot be read (No such file or directory)"


def test_colour_only_on_a_terminal(bare: Path) -> None:
    command = [sys.executable, "-m", "aivops", "verify", str(bare)]
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in plain.stdout
    assert "\x1b[1;33mwarning META050\x1b[0m" in on_terminal(command, {})
    assert "\x1b" not in on_terminal(command, {"NO_COLOR": "1"})


def on_terminal(command: list[str], environment: dict[str, str]) -> str:
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stdout=follower, env={**os.environ, **environment}) as process:
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 4096):
                shown += chunk
        except OSError:  # the other end is closed
            pass
        assert process.wait(60) == 0
    os.close(leader)
    return shown.decode()


def test_fix(run: Run, tmp_path: Path, bare: Path, good: Path) -> None:
    copy = tmp_path / "fixed.o"
    status, out, _ = run("verify", "--fix", copy, bare)
    assert status == 0
    assert "added K_TYPE_AIV records for copy_0" in out
    assert run("verify", "--profile", "aiv", copy)[0] == 0
    assert subprocess.run(["readelf", "-SsW", copy], capture_output=True, check=True).stderr == b""

    refused = tmp_path / "refused.o"
    for path, words in [
        (good, "every kernel has its record already"),
        (write(tmp_path / "cut.o", good.read_bytes()[:100]), "META008"),
        (write(tmp_path / "e.o", bare_emulated()), "it is an emulated binary"),
        (write(tmp_path / "c.o", bare_cube()), "it may hold code for other cores"),
        (write(tmp_path / "m.o", bare_mixed()), "half of a mixed kernel"),
    ]:
        status, out, _ = run("verify", "--fix", refused, path)
        assert status == 1
        assert out.startswith(f"{path}: not written: ")
        assert words in out
        assert not refused.exists()
    assert run("verify", "--fix", bare, bare)[0] == 2
    assert run("verify", "--fix", refused, bare, good)[0] == 2
    assert run("verify", "--fix", refused, tmp_path / "missing.o")[0] == 2


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def bare_emulated() -> bytes:
    elf = emulated()
    elf.drop(".ascend.meta.copy_0")
    return elf.build()


def bare_cube() -> bytes:
    elf = without_record()
    elf.flags = 0x940000
    return elf.build()


def bare_mixed() -> bytes:
    elf = ascend("a_0_mix_aiv")
    elf.drop(".ascend.meta.a_0_mix_aiv")
    return elf.build()


def test_inspect_what_holds_no_binary(run: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"schema": 1, "generator": {"name": "n", "version": "1"}, "binaries": []}')
    status, page, error = run("inspect", manifest)
    assert (status, page) == (2, "")
    assert (
        error
        == f"aivops inspect: {manifest} holds no kernel binary to show; `aivops verify` checks manifests\n"
    )


@pytest.mark.parametrize("command", ["verify", "inspect"])
def test_an_empty_name_is_not_the_current_folder(run: Run, command: str) -> None:
    status, out, error = run(command, "")
    assert (status, out) == (2, "")
    assert error == f"aivops {command}: '': is no path; the current folder is .\n"


def test_inspect(run: Run, tmp_path: Path, good: Path) -> None:
    status, page, _ = run("inspect", good)
    assert status == 0
    for line in [
        "  machine       ascend (e_machine 0x1029)",
        "  architecture  dav-c220-vec (e_flags 0x930000)",
        "    K_TYPE_AIV, 64 bytes at 0x0, 16 bytes of arguments",
        "    record  1 KERNEL_TYPE: K_TYPE_AIV (3)",
        "    record  4 DFX_TYPE: 2 arguments: input, input",
        "  6  .ascend.meta.copy_0        NOTE             0x0      0x18c   0x24",
        "Findings (0, profile any)",
    ]:
        assert line in page.splitlines()
    page = run("inspect", write(tmp_path / "e.o", emulated().build()))[1]
    assert "    argument count: uint, 4 bytes at 8" in page.splitlines()
    assert "  contract      1, toolkit 0.1.0" in page.splitlines()

    document = json.loads(run("inspect", "--format", "json", good)[1])
    entry = json.loads(run("verify", "--format", "json", good)[1])["files"][0]
    assert all(document[key] == entry[key] for key in ("path", "machine", "architecture", "findings"))
    assert entry["kernels"][0].items() <= document["kernels"][0].items()
    assert document["kernels"][0]["records"][0] == {
        "type": 1,
        "name": "KERNEL_TYPE",
        "offset": 0,
        "length": 4,
        "value": "K_TYPE_AIV (3)",
    }
    assert run("inspect", tmp_path / "missing.o")[0] == 2
    assert run("inspect", write(tmp_path / "x.o", b"no ELF"))[0] == 1
    assert len(json.loads(run("inspect", "--format", "json", tmp_path)[1])) == 3


def test_the_api_raises_with_findings(bare: Path) -> None:
    report = aivops.verify(bare, profile="aiv")
    with pytest.raises(aivops.VerificationError, match=r"bare\.o: META050: kernel copy_0") as raised:
        report.raise_for_findings()
    assert [finding.rule for finding in raised.value.findings] == ["META050"]
    aivops.verify(bare).raise_for_findings()
    with pytest.raises(aivops.VerificationError):
        aivops.verify(bare).raise_for_findings("warning")


def test_importing_aivops_loads_nothing(repository: Path) -> None:
    code = (
        "import sys, aivops; assert not {'aivops._core', 'aivops.verification', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_of_rules_is_current(repository: Path) -> None:
    """Otherwise: python docs/make_rules.py docs/rules.md"""
    make_page = runpy.run_path(str(repository / "docs" / "make_rules.py"))["make_page"]
    assert (repository / "docs" / "rules.md").read_text() == make_page()
