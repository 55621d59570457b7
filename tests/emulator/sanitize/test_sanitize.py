"""`aivops sanitize`: every distinct fault once, with a command that shows it again; and what is not a clean run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from emulator.acl.test_hosts import build_host
from emulator.sanitize.conftest import Program, Sanitize, document_of
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifSchema

# Two faults, each in several launches and blocks; the program goes on after them.
TWO_FAULTS = """
memory = [acl.malloc(1 << 16) for _ in range(2)]
for _ in range(3):
    launch("copy_without_barrier", 4, "QQ", *memory)
    acl.synchronize()
    launch("read_too_early", 1, "QQ", *memory)
    acl.synchronize()
    launch("copy_with_barrier", 1, "QQ", *memory)
    acl.ok(acl.synchronize())
"""


def test_each_fault_is_reported_once(program: Program, sanitize: Sanitize, races: Path) -> None:
    done = sanitize("--no-sweep", "--seeds", 3, "--format", "json", "--", *program(TWO_FAULTS, races))
    assert done.returncode == 1, done.stderr
    document = document_of(done)
    assert {(f["category"], f["kernel"], f["runs"]) for f in document["findings"]} == {
        ("racecheck", "copy_without_barrier", 3),
        ("racecheck", "read_too_early", 3),
    }
    assert len(document["findings"]) == 2
    assert document["failures"] == document["doubts"] == []
    assert document["summary"] == {
        "runs": 3,
        "processes": 3,
        "launches": 27,
        "unwatched": 0,
        "errors": 2,
        "warnings": 0,
        "failures": 0,
        "other_tools": 0,
    }
    lines = races.with_name("races.asc").read_text().splitlines()
    helpers = range(lines.index("namespace {"), lines.index("} // namespace"))
    (copy,) = (f for f in document["findings"] if f["kernel"] == "copy_without_barrier")
    assert copy["blocks"] == 4
    assert copy["launch"] == 1
    assert Path(copy["place"]["file"]).name == Path(copy["other"]["place"]["file"]).name == "races.asc"
    assert {copy["place"]["line"], copy["other"]["place"]["line"]} <= set(helpers)  # the copies are there
    assert copy["other"]["access"] == "DataCopyPad"


def test_the_command_that_is_named_shows_it_again(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = TWO_FAULTS + "print('it ran')"
    done = sanitize(
        "--no-sweep", "--seeds", 2, "--tool", "racecheck", "--format", "json", "--", *program(script, races)
    )
    first = document_of(done)["findings"][0]
    assert first["replay"][:6] == ["aivops", "sanitize", "--tool", "racecheck", "--seed", "0"]
    again = sanitize("--format", "json", *first["replay"][2:])
    assert again.returncode == 1
    (output, _, document) = again.stdout.partition("{")
    assert output == "it ran\n"
    assert "".join(first["message"].split()) in "".join(document.split())


SWEEP = """
launch("copy_with_barrier", 1, "QQ", *[acl.malloc(4096) for _ in range(2)])
acl.ok(acl.synchronize())
devices, instructions = ctypes.c_uint64(), ctypes.c_uint64()
acl.ok(acl.aivopsEmuGetSweep(ctypes.byref(devices), ctypes.byref(instructions)))
with open(sys.argv[4], "a") as file:
    print(os.environ["AIVOPS_EMU_SCHEDULE"], devices.value, instructions.value, file=file)
"""


def test_the_sweep_comes_first(program: Program, sanitize: Sanitize, races: Path, tmp_path: Path) -> None:
    """Nothing is held back, then the one device that is used, then each instruction, then come the seeds."""
    log = tmp_path / "schedules"
    done = sanitize("--seeds", 2, "--format", "json", "--", *program(SWEEP, races, log))
    assert done.returncode == 0, done.stdout
    first, *schedules = [line.split() for line in log.read_text().splitlines()]
    devices, instructions = int(first[1]), int(first[2])
    assert devices == 8
    assert instructions >= 2  # the kernel loads and stores
    held = [0, *range(devices, devices + instructions)]
    assert [how for how, *_ in schedules] == [*(f"sweep:{k}" for k in held), "seed", "seed"]
    assert document_of(done)["summary"]["runs"] == 1 + len(held) + 2


def test_sarif(program: Program, sanitize: Sanitize, races: Path) -> None:
    done = sanitize("--no-sweep", "--seeds", 2, "--format", "sarif", "--", *program(TWO_FAULTS, races))
    assert done.returncode == 1
    document = document_of(done)
    SarifSchema.model_validate(document)
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["racecheck"]
    for result in run["results"]:
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"].endswith("/races.asc")
        assert location["physicalLocation"]["region"]["startLine"] > 1
        assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] > 1
    assert run["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (["/no/such/program"], 127, "/no/such/program cannot be run: No such file"),
        (["true"], 2, "nothing was checked"),
    ],
)
def test_sarif_of_nothing(sanitize: Sanitize, command: list[str], status: int, words: str) -> None:
    done = sanitize("--format", "sarif", "--", *command)
    assert done.returncode == status
    assert words in done.stderr
    document = document_of(done)
    SarifSchema.model_validate(document)
    (run,) = document["runs"]
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is False
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith(words)


def test_a_clean_program(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = (
        "launch('copy_with_barrier', 1, 'QQ', *[acl.malloc(4096) for _ in 'ab']); acl.ok(acl.synchronize())"
    )
    done = sanitize("--no-sweep", "--seeds", 4, "--jobs", 2, "--", *program(script, races))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "clean: 4 runs, 4 launches in 4 processes checked\n"


def test_one_tool(program: Program, sanitize: Sanitize, races: Path) -> None:
    done = sanitize("--no-sweep", "--seeds", 1, "--tool", "memcheck", "--", *program(TWO_FAULTS, races))
    assert done.returncode == 0
    assert "2 findings of other tools not shown" in done.stderr
    assert "-g" not in done.stderr


def test_what_is_held_back_must_be_there(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = (
        "launch('copy_with_barrier', 1, 'QQ', *[acl.malloc(4096) for _ in 'ab']); acl.ok(acl.synchronize())"
    )
    for held in (5, 9999):
        done = sanitize("--hold", held, "--", *program(script, races))
        assert done.returncode == 2
        assert (
            f"--hold {held} held nothing back: the program used the devices 0, and its instructions are 8 to"
            in done.stderr
        )
    for held in (0, 8):
        assert sanitize("--hold", held, "--", *program(script, races)).returncode == 0


def test_reports_without_lines_say_how_to_get_them(
    program: Program, sanitize: Sanitize, kernels: Path
) -> None:
    script = "launch('overflow_ub', 1, 'QII', acl.malloc(4096), 1024, 1 << 18); acl.synchronize()"
    done = sanitize("--no-sweep", "--seeds", 2, "--format", "json", "--", *program(script, kernels))
    (finding,) = document_of(done)["findings"]
    assert finding["rank"] is None
    assert done.stderr.count("compile the kernels with -g for source lines") == 1


def test_a_host_that_frees_twice(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    script = """
memory = acl.malloc(64)
launch("empty", 1, "Q", 0)
acl.ok(acl.synchronize())
acl.free(memory)
acl.aclrtFree(ctypes.c_void_p(memory))
"""
    done = sanitize("--no-sweep", "--seeds", 2, "--format", "json", "--", *program(script, kernels))
    (finding,) = document_of(done)["findings"]
    assert (finding["category"], finding["kernel"], finding["runs"]) == ("memcheck", None, 2)
    assert "freed memory" in finding["message"]


def test_a_program_that_fails_without_a_finding(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    script = """
launch("empty", 1, "Q", 0)
acl.ok(acl.synchronize())
print("one wrong element")
sys.exit(7)
"""
    done = sanitize("--no-sweep", "--seeds", 2, "--", *program(script, kernels))
    assert done.returncode == 3
    assert "the program exited with 7, and no check had found anything" in done.stdout
    assert "    | one wrong element\n" in done.stdout
    assert "seen:   in 2 of 2 runs" in done.stdout
    assert "no findings, 2 runs failed without any" in done.stdout


def test_a_program_that_is_killed(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = (
        "launch('copy_with_barrier', 1, 'QQ', *[acl.malloc(4096) for _ in 'ab']); acl.ok(acl.synchronize())\n"
    )
    killed = script + "os.kill(os.getpid(), signal.SIGKILL)"
    done = sanitize("--no-sweep", "--seeds", 1, "--", *program(killed, races))
    assert done.returncode == 3
    assert "the program was ended by SIGKILL, and no check had found anything" in done.stdout
    assert "1 launch in 1 process checked" in done.stdout


def test_what_was_found_before_a_kill_is_kept(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = TWO_FAULTS + "os.kill(os.getpid(), signal.SIGKILL)"
    done = sanitize("--no-sweep", "--seeds", 1, "--format", "json", "--", *program(script, races))
    document = document_of(done)
    assert len(document["findings"]) == 2
    assert document["failures"] == []
    assert document["summary"]["launches"] == 8  # the last power of 2 of the 9


def test_nothing_was_checked(sanitize: Sanitize, program: Program, kernels: Path) -> None:
    for command, status in ((["true"], 2), (["false"], 3), (program("", kernels), 2)):
        done = sanitize("--no-sweep", "--seeds", 5, "--", *command)
        assert done.returncode == status, done.stdout
        assert f"nothing was checked: {command[0]} launched no kernel on an emulated device" in done.stderr
        assert "clean" not in done.stdout
        assert "nothing was checked" in done.stdout
    assert "exited with 1" in sanitize("--", "false").stdout


def test_a_command_that_does_not_exist(sanitize: Sanitize) -> None:
    done = sanitize("--", "/no/such/program")
    assert done.returncode == 127
    assert "/no/such/program cannot be run: No such file or directory" in done.stderr


def test_a_program_that_hangs_says_what_it_waits_for(
    program: Program, sanitize: Sanitize, kernels: Path
) -> None:
    script = """
flag = acl.malloc(64)
acl.write(flag, bytes(64))
launch("relay", 1, "QQII", flag, flag, 1, 2)
acl.synchronize()
"""
    done = sanitize(
        "--no-sweep",
        "--seeds",
        1,
        "--timeout",
        10,
        "--tool",
        "deadlock",
        "--format",
        "json",
        "--",
        *program(script, kernels),
    )
    assert done.returncode == 1
    (finding,) = document_of(done)["findings"]
    assert (finding["category"], finding["kernel"]) == ("timeout", "relay")
    assert "nothing had moved for" in finding["message"]
    assert "; block 0 " in finding["message"]
    assert document_of(done)["failures"] == []


def test_a_host_that_hangs(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    script = "launch('empty', 1, 'Q', 0); acl.ok(acl.synchronize()); time.sleep(600)"
    done = sanitize("--no-sweep", "--seeds", 1, "--timeout", 3, "--", *program(script, kernels))
    assert done.returncode == 3
    assert "the program did not end in time, and no check had found anything" in done.stdout
    assert "replay: aivops sanitize --timeout 3.0 --seed 0 -- " in done.stdout


def test_ranks_that_are_processes(program: Program, sanitize: Sanitize, races: Path) -> None:
    ranks = [sys.executable, "-m", "aivops", "run", "-n", "2"]
    script = """
if os.environ["RANK"] == "1":
    launch("copy_without_barrier", 4, "QQ", *[acl.malloc(4096) for _ in range(2)])
    acl.synchronize()
"""
    done = sanitize("--no-sweep", "--seeds", 1, "--format", "json", "--", *ranks, *program(script, races))
    document = document_of(done)
    (finding,) = document["findings"]
    assert (finding["rank"], finding["device"]) == ("1", 0)
    assert document["summary"]["processes"] == 2


def test_ranks_of_mpirun(program: Program, sanitize: Sanitize, races: Path) -> None:
    ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    script = """
launch("copy_without_barrier", 4, "QQ", *[acl.malloc(4096) for _ in range(2)])
acl.synchronize()
"""
    done = sanitize("--no-sweep", "--seeds", 1, "--format", "json", "--", *ranks, *program(script, races))
    document = document_of(done)
    (finding,) = document["findings"]
    assert finding["rank"] in {"0", "1"}
    assert document["summary"]["processes"] == 2


def test_a_host_in_c(toolkit: Path, kernels: Path, tmp_path: Path, sanitize: Sanitize) -> None:
    host = build_host(Path(__file__).parents[1] / "acl/documented_flow.c", tmp_path, toolkit, "acl_rt")
    done = sanitize("--no-sweep", "--seeds", 2, "--format", "json", "--", host, kernels)
    assert done.returncode == 1
    (trap,) = document_of(done)["findings"]  # it shows what becomes of one
    assert (trap["category"], trap["kernel"], trap["code"], trap["runs"]) == (
        "assert",
        "trap_here",
        507036,
        2,
    )


def test_a_forked_child_ends_on_its_own(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    script = """
launch("empty", 1, "Q", 0)
acl.ok(acl.synchronize())
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
"""
    done = sanitize("--no-sweep", "--seeds", 1, "--", *program(script, kernels))
    assert done.stdout == "clean: 1 run, 1 launch in 1 process checked\n"


def test_a_full_disk_is_no_clean_run(program: Program, sanitize: Sanitize, races: Path) -> None:
    script = """
import resource
memory = [acl.malloc(4096) for _ in range(2)]
launch("copy_with_barrier", 1, "QQ", *memory)
acl.ok(acl.synchronize())
full = os.path.getsize(f"{os.environ['AIVOPS_EMU_REPORT']}/{os.getpid()}.jsonl") + 40
resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))
launch("copy_without_barrier", 1, "QQ", *memory)
acl.synchronize()
"""
    done = sanitize("--no-sweep", "--seeds", 1, "--", *program(script, races))
    assert done.returncode == 2
    assert "is incomplete" in done.stderr


def test_a_program_that_turns_the_checks_off(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    inner = program("launch('empty', 1, 'Q', 0); acl.ok(acl.synchronize())", kernels)
    done = sanitize("--no-sweep", "--seeds", 1, "--", "env", "AIVOPS_EMU_CHECK=off", *inner)
    assert done.returncode == 2
    assert "ran with AIVOPS_EMU_CHECK=off" in done.stderr


def has_ended(pid: int) -> bool:
    """Gone, or waiting for whoever is to bury it."""
    try:
        return "(zombie)" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_programs(
    program: Program, races: Path, tmp_path: Path, number: int, status: int
) -> None:
    pids = tmp_path / "pids"
    script = f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n" + TWO_FAULTS
    script += f"if len(open({str(pids)!r}).readlines()) > 1: time.sleep(600)"
    # Shells start programs in the background with SIGINT ignored, and children inherit that.
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [
        sys.executable,
        "-c",
        hears + "import sys; from aivops.cli import main; sys.exit(main())",
        "sanitize",
        "--no-sweep",
        "--seeds",
        "50",
        "--",
        "sh",
        "-c",
        '"$@"; true',
        "sh",
    ]
    with subprocess.Popen([*command, *program(script, races)], stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not pids.exists() or len(pids.read_text().splitlines()) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == status
    if number == signal.SIGINT:  # what the first run found is not lost
        assert "error racecheck" in output
    for pid in pids.read_text().split():
        assert has_ended(int(pid))


def test_wrong_usage(sanitize: Sanitize) -> None:
    for words, told in (
        (["--no-sweep", "--seeds", "0", "--", "true"], "--no-sweep with --seeds 0 leaves no schedule"),
        (["--tool", "nocheck", "--", "true"], "nocheck"),
        ([], "required: program"),
        (["--seed", "-1", "x"], "'-1'"),
        (["--timeout", "0", "--", "true"], "'0': expected more than 0 seconds"),
        (["--timeout", "-5", "--", "true"], "'-5': expected more than 0 seconds"),
    ):
        done = sanitize(*words)
        assert done.returncode == 2
        assert told in done.stderr


SHARED = """
import aivops, numpy as np
with aivops.Communicator.from_env() as comm:
    comm.all_gather(np.arange(5))
"""


def test_memory_that_processes_share_is_not_clean(sanitize: Sanitize) -> None:
    """What orders the ranks' accesses happens in two processes, and no check sees both."""
    ranks = [sys.executable, "-m", "aivops", "run", "-n", "2", sys.executable, "-c", SHARED]
    words = "the order of accesses to GM was not checked in 2 processes of 2"
    for options, status in (([], 2), (["--allow-unwatched"], 0)):
        done = sanitize("--no-sweep", "--seeds", 1, *options, "--", *ranks, AIVOPS_TOOLKIT="emulator")
        assert done.returncode == status, done.stderr
        assert done.stdout.startswith("no fault found, but not all was checked: 1 run, ")
        assert words in done.stderr
        assert "aivops.LocalGroup" in done.stderr
    done = sanitize("--no-sweep", "--seeds", 1, "--format", "json", "--", *ranks, AIVOPS_TOOLKIT="emulator")
    document = document_of(done)
    assert words in document["doubts"][0]
    assert document["summary"]["unwatched"] == 2
    done = sanitize("--no-sweep", "--seeds", 1, "--format", "sarif", "--", *ranks, AIVOPS_TOOLKIT="emulator")
    (invocation,) = document_of(done)["runs"][0]["invocations"]
    assert words in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert invocation["executionSuccessful"] is False
    done = sanitize("--no-sweep", "--seeds", 1, "--tool", "memcheck", "--", *ranks, AIVOPS_TOOLKIT="emulator")
    assert done.returncode == 0, done.stderr


WAITS_FOR_EVER = """
flag = acl.malloc(64)
acl.write(flag, bytes(64))
launch("relay", 1, "QQII", flag, flag, 1, 2)
acl.synchronize()
"""


def test_the_same_deadlock_again_and_again(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    done = sanitize(
        "--no-sweep",
        "--seeds",
        20,
        "--",
        *program(WAITS_FOR_EVER, kernels),
        AIVOPS_EMU_TIMEOUT_INTERVAL_US="4000",
    )
    assert done.returncode == 1
    assert "error deadlock: nothing moved for 1" in done.stdout
    assert "seen:   in 3 of 3 runs" in done.stdout
    assert "stopped after 3 runs: the last 3 ended in the same standstill" in done.stderr


def test_launches_may_stand_still_for_less(program: Program, sanitize: Sanitize, kernels: Path) -> None:
    """Unless the user has said for how long."""
    script = (
        "launch('empty', 1, 'Q', 0); acl.synchronize(); print(os.environ['AIVOPS_EMU_TIMEOUT_INTERVAL_US'])"
    )
    command = ["--seed", 0, "--", *program(script, kernels)]
    assert sanitize(*command).stdout.startswith("100000\n")
    assert sanitize(*command, AIVOPS_EMU_TIMEOUT_INTERVAL_US="5e6").stdout.startswith("5e6\n")
