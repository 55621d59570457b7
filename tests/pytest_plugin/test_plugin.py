"""The pytest plugin, in pytest runs of their own: settings of the emulator are read once per process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a test file with options; the variables that tests of ours set are not theirs."""
    for name in [name for name in os.environ if name.startswith(("AIVOPS_EMU_", "PYTEST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AIVOPS_TOOLKIT", "emulator")

    def call(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_file=source)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)

    return call


SUM = """
import numpy as np
import pytest

@pytest.mark.aiv(ranks=[1, 3], seeds=4)
def test_sum(aiv_comm, aiv_ranks):
    assert aiv_comm.size == aiv_ranks
    total = aiv_comm.all_reduce(np.full(5, aiv_comm.rank + 1, np.int32))
    assert total.tolist() == [aiv_ranks * (aiv_ranks + 1) // 2] * 5
"""


def test_every_rank_runs_the_test(run: Run) -> None:
    result = run(SUM, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::test_sum?ranks1? PASSED*", "*::test_sum?ranks3? PASSED*"])


COUNT = """
import pytest

seen = []

@pytest.fixture(scope="module")
def shared():
    seen.append("shared")
    yield
    seen.append("shared ends")

@pytest.fixture
def fresh(shared):
    seen.append("fresh")
    yield
    seen.append("fresh ends")

@pytest.mark.aiv(seeds=3)
def test_runs(fresh, aiv_seed):
    seen.append(aiv_seed)

def test_order(shared):
    assert seen == ["shared", "fresh", 0, "fresh ends", "fresh", 1, "fresh ends", "fresh", 2, "fresh ends"]
"""


def test_fixtures_are_fresh_for_each_schedule_and_shared_ones_stay(run: Run) -> None:
    run(COUNT).assert_outcomes(passed=2)


FAILS = """
import pytest

@pytest.mark.aiv(ranks=2, seeds=10)
def test_group(aiv_group, aiv_seed):
    assert aiv_group.run(lambda comm: comm.rank) == [0, 1]
    assert aiv_seed != 7

def test_next():
    pass
"""


def test_a_failure_names_the_command_that_replays_it(run: Run, pytester: pytest.Pytester) -> None:
    result = run(FAILS)
    result.assert_outcomes(failed=1, passed=1)
    (command,) = re.findall(r"^pytest (.*) --aiv-seed=7$", result.stdout.str(), re.MULTILINE)
    replayed = pytester.runpytest_subprocess(command.strip("'"), "--aiv-seed=7")
    replayed.assert_outcomes(failed=1)
    pytester.runpytest_subprocess(command.strip("'"), "--aiv-seed=6").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--aiv-seeds=7").assert_outcomes(passed=2)


def test_an_error_of_a_fixture_ends_the_test(run: Run) -> None:
    source = """
import pytest

@pytest.fixture
def broken(aiv_seed):
    assert aiv_seed < 2

@pytest.mark.aiv(seeds=5)
def test_it(broken):
    pass

@pytest.fixture
def leaky(aiv_seed):
    yield
    assert aiv_seed < 2

@pytest.mark.aiv(seeds=5)
def test_leaky(leaky):
    pass
"""
    result = run(source)
    result.assert_outcomes(errors=2, passed=1)
    assert len(re.findall(r"--aiv-seed=2$", result.stdout.str(), re.MULTILINE)) == 2


XFAIL = """
import pytest

seen = []

@pytest.mark.xfail(strict={strict})
@pytest.mark.aiv(seeds=4)
def test_it(aiv_seed):
    seen.append(aiv_seed)
    assert aiv_seed not in {failing}

def test_schedules():
    assert seen == {schedules}
"""


@pytest.mark.parametrize("strict", [False, True])
def test_an_expected_failure_needs_one_schedule_that_fails(run: Run, strict: bool) -> None:
    result = run(XFAIL.format(strict=strict, failing="{2, 3}", schedules="[0, 1, 2]"))
    result.assert_outcomes(xfailed=1, passed=1)


def test_an_unexpected_pass_is_one_of_all_schedules(run: Run) -> None:
    source = XFAIL.format(strict=False, failing="()", schedules="[0, 1, 2, 3]")
    run(source).assert_outcomes(xpassed=1, passed=1)
    result = run(source.replace("False", "True"))
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*XPASS(strict)*"])
    assert "which this command replays" not in result.stdout.str()


def test_an_expected_failure_of_another_kind_is_a_failure(run: Run) -> None:
    source = """
import pytest

@pytest.mark.xfail(raises=KeyError, strict=True)
@pytest.mark.aiv(seeds=4)
def test_it(aiv_seed):
    assert aiv_seed != 2
"""
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*--aiv-seed=2"])


def test_skips_are_skips(run: Run) -> None:
    source = """
import pytest

@pytest.mark.aiv(seeds=5)
def test_it():
    pytest.skip("not here")
"""
    run(source).assert_outcomes(skipped=1)


def test_with_xdist(run: Run) -> None:
    result = run(FAILS, "-n", "2")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["pytest *--aiv-seed=7"])


def test_strict_is_the_default_and_can_be_changed(run: Run) -> None:
    source = """
import os
import pytest

@pytest.mark.aiv(seeds=3)
def test_it(aiv_seed):
    print(os.environ["AIVOPS_EMU_CHECK"], os.environ["AIVOPS_EMU_SEED"])
"""
    assert re.findall(r"strict \d", run(source, "-s").stdout.str(), re.MULTILINE) == [
        "strict 0",
        "strict 1",
        "strict 2",
    ]
    assert re.findall(r"\bon \d", run(source, "-s", "--aiv-check=on").stdout.str(), re.MULTILINE) == ["on 0"]


def test_late_has_schedules_and_replays_them(run: Run) -> None:
    """What strict would stop: whether a kernel's results are wrong at all."""
    source = """
import os
import pytest

@pytest.mark.aiv(seeds=5)
def test_it(aiv_seed):
    print(os.environ["AIVOPS_EMU_CHECK"], aiv_seed)
    assert aiv_seed < 2
"""
    result = run(source, "-s", "--aiv-check=late")
    result.assert_outcomes(failed=1)
    assert re.findall(r"late \d", result.stdout.str(), re.MULTILINE) == ["late 0", "late 1", "late 2"]
    result.stdout.fnmatch_lines(["pytest *--aiv-seed=2 --aiv-check=late"])


def test_an_emulator_that_is_in_use_already(run: Run) -> None:
    source = """
import aivops
import pytest

device = aivops.Device(0)

@pytest.mark.aiv(seeds=3)
def test_it():
    pass
"""
    result = run(source)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*a device was already used in this process*pytest --aiv-check=strict*AIVOPS_EMU_CHECK=strict*"]
    )
    run(source, "--aiv-check=strict").assert_outcomes(passed=1)
    run(source, "-o", "aiv_check=strict").assert_outcomes(passed=1)


def test_a_check_that_does_not_exist(run: Run) -> None:
    result = run("", "-o", "aiv_check=strickt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*aiv_check = strickt: expected off, on, late, strict*"])


def test_loading_kernels_is_no_use_of_the_emulator(run: Run) -> None:
    source = """
import aivops
import os
import pytest

kernels = aivops.load_kernels("aivops")

@pytest.mark.aiv(ranks=2, seeds=3)
def test_it(aiv_comm, aiv_seed):
    assert os.environ["AIVOPS_EMU_CHECK"] == "strict"
    assert os.environ["AIVOPS_EMU_TIMEOUT_INTERVAL_US"] == "100000"
    aiv_comm.barrier()
"""
    run(source).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ("aiv(8, seeds=3)", "aiv(8): expected ranks=, seeds="),
        ("aiv(rank=8)", "aiv(rank): expected ranks=, seeds="),
        ("aiv(ranks=0)", "aiv(ranks=0): expected a number from 1 to 64, or a list of them"),
        ("aiv(ranks=[])", "aiv(ranks=[]): expected a number from 1"),
        ("aiv(ranks='x')", "aiv(ranks='x'): expected a number from 1"),
        ("aiv(ranks=None)", "aiv(ranks=None): expected a number from 1"),
        ("aiv(ranks=2.0)", "aiv(ranks=2.0): expected a number from 1"),
        ("aiv(ranks=65)", "aiv(ranks=65): expected a number from 1 to 64"),
        ("aiv(ranks=[1, 65])", "aiv(ranks=[1, 65]): expected a number from 1 to 64"),
        ("aiv(seeds=0)", "aiv(seeds=0): expected the number of schedules, from 1 on"),
        ("aiv(seeds='x')", "aiv(seeds='x'): expected the number of schedules"),
        ("aiv(ranks=[1, 2])", "takes none of aiv_group, aiv_comm and aiv_ranks"),
    ],
)
def test_marks_that_make_no_sense(run: Run, mark: str, words: str) -> None:
    """In one line, as pytest itself refuses wrong marks; not by a traceback through its machinery."""
    result = run(f"import pytest\n@pytest.mark.{mark}\ndef test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    output = result.stdout.str()
    assert words in output
    assert "During handling" not in output
    assert ".py:" not in output.replace("test_file.py::", "")
    assert "Traceback" not in output + result.stderr.str()


@pytest.mark.parametrize("seed", ["-1", str(2**64), "9" * 5000, "one"])
def test_seeds_that_are_none(run: Run, seed: str) -> None:
    result = run(SUM, f"--aiv-seed={seed}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"expected a whole number from 0 to {2**64 - 1}" in result.stderr.str()


@pytest.mark.parametrize("body", ["assert False", "yield"])
def test_a_coroutine_is_no_test_that_has_run(run: Run, body: str) -> None:
    result = run(f"import pytest\n@pytest.mark.aiv(ranks=2)\nasync def test_it(aiv_comm):\n    {body}\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*async def functions cannot take aiv_comm*"])


def test_what_a_test_returns_is_warned_about(run: Run) -> None:
    source = (
        "import pytest\n@pytest.mark.aiv(ranks=2)\ndef test_it(aiv_comm):\n    return aiv_comm.rank == 7\n"
    )
    run(source).stdout.fnmatch_lines(["*PytestReturnNotNoneWarning*returned <class 'bool'>*"])
    run(source, "-W", "error").assert_outcomes(failed=1)


def test_a_fixture_without_the_mark(run: Run) -> None:
    result = run("def test_it(aiv_group):\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the test is not marked; put @pytest.mark.aiv*"])


def test_more_ranks_than_devices_by_default(run: Run) -> None:
    source = """
import pytest

@pytest.mark.aiv(ranks=12)
def test_it(aiv_group):
    assert aiv_group.size == 12
"""
    run(source).assert_outcomes(passed=1)


def test_sessions_without_the_mark_import_nothing_of_it(run: Run) -> None:
    source = """
import sys

def test_it():
    ours = {name for name in sys.modules if name.split(".")[0] == "aivops"}
    assert ours == {"aivops", "aivops._numbers", "aivops._standstill", "aivops.pytest_plugin"}
    assert "numpy" not in sys.modules
    assert "ctypes" not in sys.modules
"""
    run(source).assert_outcomes(passed=1)


def test_loading_it_costs_little(tmp_path: Path) -> None:
    """Measured in the interpreter that has pytest loaded already, as plugins are."""
    program = """
import sys, time, pytest
best = 1.0
for _ in range(5):
    for name in [name for name in sys.modules if name.split(".")[0] == "aivops"]:
        del sys.modules[name]
    began = time.perf_counter()
    import aivops.pytest_plugin
    best = min(best, time.perf_counter() - began)
print(best)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert float(done.stdout) < 0.02
