"""`aivops run`: environment, output, signals, and how a job ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "aivops", "run", *arguments]


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), input=text, capture_output=True, text=True, timeout=60, check=False
    )


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_ranks_find_themselves_in_the_environment() -> None:
    names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR"]
    names += ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]
    done = run("-n", "3", *shell("echo " + " ".join(f"${name}" for name in names)))
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [f"[{r}] {r} {r} 3 3 127.0.0.1 {r} 3 {r}" for r in range(3)]


def test_all_ranks_get_one_port_and_each_job_its_own_name() -> None:
    script = "echo $MASTER_PORT $TORCHELASTIC_RUN_ID"
    jobs = [run("-n", "3", "--no-prefix", *shell(script)).stdout.splitlines() for _ in range(2)]
    assert [len(set(job)) for job in jobs] == [1, 1]
    assert jobs[0][0].split()[1] != jobs[1][0].split()[1]


def test_output_keeps_its_stream_and_unfinished_lines() -> None:
    done = run("-n", "11", *shell("echo out; echo err >&2; printf 'no end'"))
    prefixes = [f"[{rank:2}] " for rank in range(11)]
    assert sorted(done.stdout.splitlines()) == sorted(
        p + text for p in prefixes for text in ("out", "no end")
    )
    assert sorted(done.stderr.splitlines()) == sorted(p + "err" for p in prefixes)


def test_output_is_not_text() -> None:
    done = subprocess.run(
        command("-n", "1", *shell(r"printf '\377\000\n'")), capture_output=True, timeout=60, check=False
    )
    assert done.stdout == b"[0] \xff\x00\n"


def test_rank_0_reads_the_input() -> None:
    done = run("-n", "2", "cat", text="hello\n")
    assert done.stdout == "[0] hello\n"


def test_the_first_failure_ends_the_job_with_its_status() -> None:
    begin = time.monotonic()
    done = run("-n", "3", *shell("[ $RANK = 1 ] && exit 7; exec sleep 60"))
    assert done.returncode == 7
    assert "rank 1 (process " in done.stderr
    assert "exited with 7" in done.stderr
    assert time.monotonic() - begin < 20


def test_a_rank_ended_by_a_signal_is_reported_as_shells_do() -> None:
    done = run("-n", "2", *shell("[ $RANK = 0 ] && kill -KILL $$; exec sleep 60"))
    assert done.returncode == 128 + signal.SIGKILL
    assert "SIGKILL" in done.stderr


def test_a_signal_may_have_no_name() -> None:
    number = signal.SIGRTMIN + 6
    done = run("-n", "1", *shell(f"kill -{number} $$"))
    assert done.returncode == 128 + number
    assert done.stderr.endswith(f" was ended by signal {number}\n")


def test_ranks_that_ignore_the_end_are_killed_with_all_they_started() -> None:
    done = run(
        "-n",
        "2",
        "--grace",
        "0.2",
        *shell("[ $RANK = 0 ] && { sleep 0.3; exit 3; }; trap '' TERM; sleep 60 & wait; wait"),
    )
    assert done.returncode == 3


def await_ranks(process: subprocess.Popen[str], count: int) -> list[int]:
    assert process.stdout is not None
    return [int(process.stdout.readline().split()[1]) for _ in range(count)]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def await_end(processes: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(is_running(process) for process in processes):
        assert time.monotonic() < deadline, "ranks outlive the launcher"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_ranks(number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 9' {number.value}; echo $$; while :; do sleep 0.05; done"
    with subprocess.Popen(command("-n", "2", *shell(script)), stdout=subprocess.PIPE, text=True) as process:
        ranks = await_ranks(process, 2)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert sorted(output.splitlines()) == ["[0] got", "[1] got"]
    assert process.returncode == 9
    await_end(ranks)


def test_nothing_outlives_a_killed_launcher() -> None:
    with subprocess.Popen(
        command("-n", "2", *shell("echo $$; exec sleep 60")), stdout=subprocess.PIPE, text=True
    ) as process:
        ranks = await_ranks(process, 2)
        process.kill()
    await_end(ranks)


def test_more_ranks_than_the_emulator_has_devices() -> None:
    script = "echo $AIVOPS_EMU_DEVICES"
    environment = {name: value for name, value in os.environ.items() if name != "AIVOPS_EMU_DEVICES"}
    done = subprocess.run(
        command("-n", "9", "--no-prefix", *shell(script)),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert set(done.stdout.split()) == {"9"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "0", "true"], "'0': expected a whole number from 1"),
        (["-n", "-1", "true"], "'-1': expected a whole number from 1"),
        (["-n", "1", "--grace", "-1", "true"], "expected a time of 0 or more seconds"),
        (["-n", "1", "--grace", "nan", "true"], "'nan': expected a number"),
        (["-n", "1", "--grace", "inf", "true"], "'inf': expected a number"),
        (["-n", "2"], "program"),
        (["-n", "x", "true"], "'x': expected a whole number from 1"),
        (["-n", "65", "true"], "'65': expected a whole number from 1 to 64"),
        (["-n", "100000", "true"], "'100000': expected a whole number from 1 to 64"),
        (["true"], "-n"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_program_that_is_not_there() -> None:
    done = run("-n", "2", "/no/such/program")
    assert done.returncode == 127
    assert "/no/such/program cannot be run: No such file or directory" in done.stderr


def test_a_program_that_is_no_program() -> None:
    done = run("-n", "2", "/dev/null")
    assert done.returncode == 126
    assert "/dev/null cannot be run: Permission denied" in done.stderr
