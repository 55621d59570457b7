"""`aivops` with standard streams that are closed, full or narrow, and with arguments that make no sense."""

from __future__ import annotations

import os
import subprocess
import sys

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
