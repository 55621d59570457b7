"""`aivops` with standard streams that are closed, full or narrow, and with arguments that make no sense."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "aivops"]
DEMO = ["demo", "--ranks", "1", "--types", "int8", "--counts", "1"]


def shell(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which "$@" is `aivops` with the arguments."""
    return subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, *arguments],
        # Without a buffer argparse itself hides that its help cannot be written.
        env=os.environ | {"AIVOPS_TOOLKIT": "emulator", "PYTHONUNBUFFERED": ""} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def aivops_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return shell('"$@"', *arguments)


# ---- standard streams ----


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", [["toolkit-dir"], DEMO, ["run", "-n", "2", "cat"]])
def test_closed_streams(closed: str, arguments: list[str]) -> None:
    done = shell(f'"$@" {closed}', *arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_of_run_gets_no_other_file_as_its_closed_input() -> None:
    script = "readlink /proc/self/fd/0"
    done = shell('"$@" <&-', "run", "-n", "1", "--no-prefix", "sh", "-c", script)
    assert done.stdout == "/dev/null\n"


@pytest.mark.parametrize("arguments", [["toolkit-dir"], ["--help"], DEMO, ["run", "-n", "1", "echo", "x"]])
def test_a_full_disk(arguments: list[str]) -> None:
    done = shell('"$@" >/dev/full', *arguments)
    assert (done.returncode, done.stderr) == (2, "aivops: the output: No space left on device\n")
    assert shell('"$@" >/dev/full 2>&1', *arguments).returncode == 2


@pytest.mark.parametrize("arguments", [["toolkit-dir"], ["--help"], DEMO, ["run", "-n", "1", "echo", "x"]])
def test_a_reader_that_has_gone(arguments: list[str]) -> None:
    # The reader ends before the first line comes.
    done = shell('{ sleep 0.2; "$@"; echo $? >&2; } | true; exit 0', *arguments)
    assert done.stderr == "141\n"


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_letters_that_the_encoding_lacks(variables: dict[str, str]) -> None:
    done = shell('"$@"', *DEMO, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "remote ? bound" in done.stdout


# ---- arguments ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--counts", "1", "-1"], "argument --counts: '-1': expected a whole number from 0"),
        (["demo", "--ranks", "0"], "argument --ranks: '0': expected a whole number from 1"),
        (["demo", "--ranks", "-1"], "argument --ranks: '-1': expected a whole number from 1"),
        (["demo", "--counts", "9" * 30], "999' is too large"),
        (["demo", "--ranks", "65"], "'65': expected a whole number from 1 to 64"),
        (["bench", "launch", "--seconds", "-1"], "'-1': expected a time of 0 or more seconds"),
        (["bench", "copies", "--seconds", "nan"], "'nan': expected a number"),
        (["bench", "copies", "--sizes", "0"], "'0': expected a number of bytes"),
        (["bench", "all_gather", "--seconds", "inf"], "'inf': expected a number"),
        (["bench", "all_gather", "--ranks", "2,0"], "'0': expected a whole number from 1"),
        (["bench", "all_gather", "--sizes", "4096,"], "'': expected a number of bytes"),
        (["bench", "all_gather", "--blocks", "-1"], "'-1': expected a whole number from 1"),
        (["bench", "compare", "a", "b", "--limit", "nan"], "'nan': expected a number"),
        (["new", "class"], "'class' is a keyword of Python"),
        (["new", "aivops"], "'aivops' would hide the module of that name"),
        (["new", "numpy"], "'numpy' would hide the module of that name"),
        (["new", "json"], "'json' would hide the module of that name"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    done = aivops_command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_memory_that_cannot_be_had() -> None:
    done = aivops_command("demo", "--ranks", "1", "--types", "int8", "--counts", str(1 << 50))
    assert done.returncode == 1
    assert done.stderr.startswith("aivops demo: not enough memory: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        (
            json.dumps({"schema": 1, "figures": [{"name": "a", "median": 0}]}),
            "a has the median 0.0: expected",
        ),
        ('{"schema": 1, "figures": [{"name": "a", "median": NaN}]}', "a has the median nan: expected"),
        ('{"schema": 1, "figures": [{"name": "a", "median": 1' + "0" * 400 + "}]}", "without name or median"),
    ],
)
def test_figures_that_cannot_be_compared(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "figures.json"
    path.write_text(text)
    done = aivops_command("bench", "compare", str(path), str(path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"aivops bench compare: {path}: cannot be read: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("folder", "problem"),
    [("file/below", "Not a directory"), ("x" * 300, "File name too long"), ("/proc/none/x", "No such file")],
)
def test_a_project_that_cannot_be_written(tmp_path: Path, folder: str, problem: str) -> None:
    (tmp_path / "file").touch()
    done = aivops_command("new", "my_ops", "--directory", str(tmp_path / folder))
    assert done.returncode == 2
    assert done.stderr.startswith("aivops new: ")
    assert f": cannot be written: {problem}" in done.stderr
    assert done.stderr.count("\n") == 1
