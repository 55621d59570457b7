"""`aivops trace`: timelines in the Chrome trace format, true to what the devices counted and the program asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[2]
MOST_EVENTS = 1 << 20  # docs/emulator.md

START = """
import ctypes, json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, DEVICE_TO_DEVICE, pack
acl = Acl(Path(sys.argv[2]))
"""

# Devices 0 and 1 pass a flag on; each also meets in SyncAll, copies on a stream of its own, and waits for an event.
TWO_RANKS = (
    START
    + """
ranks = [0, 1]
memory, streams, functions = {}, {}, {}
for rank in ranks:
    acl.set_device(rank)
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - rank, 0))
    memory[rank] = acl.malloc(1 << 16)
    acl.write(memory[rank], bytes(1 << 16))
    streams[rank] = acl.create_stream()
    binary = acl.load(Path(sys.argv[3]))
    functions[rank] = {name: acl.function(binary, name) for name in ("relay", "copy", "meet")}
event = ctypes.c_void_p()
for rank in ranks:
    acl.set_device(rank)
    own, other = memory[rank], memory[1 - rank]
    # Rank 0 begins: it waits for what rank 1 writes only after rank 0's second launch.
    if rank == 0:
        acl.ok(acl.launch(functions[0]["relay"], 1, pack("QQII", own, other, 1, 2), streams[0]))
    else:
        acl.ok(acl.launch(functions[1]["relay"], 1, pack("QQII", own + 32, other, 0, 1), streams[1]))
    acl.ok(acl.launch(functions[rank]["copy"], 60, pack("QQI", own + 4096, other + 20480, 200), streams[rank]))
    acl.ok(acl.launch(functions[rank]["meet"], 8, pack("Q", own + 1024), streams[rank], batch=1))
    count = ctypes.c_size_t(4321)
    acl.ok(acl.aclrtMemcpyAsync(ctypes.c_void_p(own + 40000), count, ctypes.c_void_p(own + 20480), count,
                                DEVICE_TO_DEVICE, streams[rank]))
    acl.ok(acl.aclrtCreateEvent(ctypes.byref(event)))
    acl.ok(acl.aclrtRecordEvent(event, streams[rank]))
    acl.ok(acl.aclrtStreamWaitEvent(None, event))
for rank in ranks:
    acl.set_device(rank)
    acl.ok(acl.synchronize(streams[rank]))
    acl.ok(acl.synchronize())
def plain(counters):
    sides = [counters.local, counters.remote]
    return {"launches": counters.launches, "blocks": counters.blocks, "sync_alls": counters.syncAlls,
            "read": [side.readBytes for side in sides], "written": [side.writtenBytes for side in sides],
            "polls": sum(side.polls for side in sides), "polled": sum(side.pollBytes for side in sides)}
print(json.dumps([plain(acl.counters(rank)) for rank in ranks]))
sys.exit(7)
"""
)


def trace(
    output: Path, script: str, *arguments: object, **variables: str
) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(
        [sys.executable, "-m", "aivops", "trace", "-o", output, "--", *program],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def spans(events: list[dict[str, Any]], device: int, category: str) -> list[dict[str, Any]]:
    return [event for event in events if event["pid"] == device and event.get("cat") == category]


@pytest.fixture(scope="module")
def recorded(
    toolkit: Path, kernels: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The events of TWO_RANKS, and what its devices counted."""
    output = tmp_path_factory.mktemp("trace") / "timeline.json"
    done = trace(output, TWO_RANKS, TESTS, toolkit, kernels)
    assert done.returncode == 7, done.stderr
    return json.loads(output.read_text())["traceEvents"], json.loads(done.stdout)


@pytest.fixture
def events(recorded: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return recorded[0]


@pytest.fixture(params=[0, 1])
def rank(
    request: pytest.FixtureRequest, recorded: tuple[list[dict[str, Any]], list[dict[str, Any]]]
) -> tuple[int, dict[str, Any]]:
    return request.param, recorded[1][request.param]


def test_fields_are_those_of_the_chrome_trace_format(events: list[dict[str, Any]]) -> None:
    for event in events:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name", "thread_sort_index"}
            assert isinstance(event["args"], dict)
        else:
            assert event["ph"] == "X"
            assert isinstance(event["tid"], int)
            assert isinstance(event["cat"], str)
            assert event["ts"] >= 0
            assert event["dur"] >= 0
    assert min(event["ts"] for event in events if event["ph"] == "X") == 0


def test_time_goes_forward_and_spans_nest(events: list[dict[str, Any]]) -> None:
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(tracks) == 2 * (2 + 60)  # per device two streams, and 60 blocks of one of them
    for track in tracks.values():
        assert [begin for begin, _ in track] == sorted(begin for begin, _ in track)
        enclosing: list[tuple[float, float]] = []
        for begin, end in track:
            while enclosing and enclosing[-1][1] <= begin + 1e-3:
                enclosing.pop()
            assert not enclosing or end <= enclosing[-1][1] + 1e-3  # timestamps are rounded to nanoseconds
            enclosing.append((begin, end))


def test_every_track_has_a_name(events: list[dict[str, Any]]) -> None:
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} == set(names)
    for device in (0, 1):
        (name,) = (e["args"]["name"] for e in events if e["name"] == "process_name" and e["pid"] == device)
        assert name.startswith(f"device {device} (process ")
        streams = {name.partition(",")[0] for (pid, _), name in names.items() if pid == device}
        assert len(streams) == 2


def test_launches_and_blocks(events: list[dict[str, Any]], rank: tuple[int, dict[str, Any]]) -> None:
    device, counted = rank
    launches = spans(events, device, "launch")
    assert [(e["name"], e["args"]["blocks"]) for e in launches] == [("relay", 1), ("copy", 60), ("meet", 8)]
    blocks = spans(events, device, "block")
    assert (len(launches), len(blocks)) == (counted["launches"], counted["blocks"]) == (3, 69)
    for launch in launches:
        of_it = [block for block in blocks if block["name"] == launch["name"]]
        assert len(of_it) == launch["args"]["blocks"]
        for block in of_it:
            assert launch["ts"] <= block["ts"]
            assert block["ts"] + block["dur"] <= launch["ts"] + launch["dur"] + 1e-3


def test_copies_are_the_traffic_that_was_counted(
    events: list[dict[str, Any]], rank: tuple[int, dict[str, Any]]
) -> None:
    device, counted = rank
    sums = {"read": [0, 0], "write": [0, 0]}
    for event in spans(events, device, "copy"):
        if "direction" in event["args"]:
            side = int(event["args"]["device"] != device)
            sums[event["args"]["direction"]][side] += event["args"]["bytes"]
    assert sums["read"] == counted["read"]
    assert sums["write"] == counted["written"]
    assert sums["read"][1] == 60 * 200  # the kernel `copy` reads the other device's memory


def test_waits_and_barriers(events: list[dict[str, Any]], rank: tuple[int, dict[str, Any]]) -> None:
    device, counted = rank
    polls = [event["args"] for event in spans(events, device, "wait") if event["name"] == "poll"]
    assert sum(poll["polls"] for poll in polls) == counted["polls"]
    assert sum(poll["bytes"] for poll in polls) == counted["polled"]
    barriers = spans(events, device, "barrier")
    assert len(barriers) == counted["sync_alls"] == 16  # 8 blocks of `meet`, twice each
    # Nobody leaves a barrier before all are there.
    by_track: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in barriers:
        by_track[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for meeting in zip(*by_track.values(), strict=True):
        assert max(begin for begin, _ in meeting) <= min(end for _, end in meeting)


def test_work_of_streams(events: list[dict[str, Any]], rank: tuple[int, dict[str, Any]]) -> None:
    device, _ = rank
    (copy,) = (event for event in spans(events, device, "copy") if "direction" not in event["args"])
    assert copy["args"] == {"bytes": 4321}
    (record,) = spans(events, device, "record")
    (wait,) = (event for event in spans(events, device, "wait") if event["name"] != "poll")
    assert record["name"] == f"record event {device}"
    assert wait["name"] == f"wait event {device}"
    assert record["tid"] != wait["tid"]
    assert wait["ts"] + wait["dur"] >= record["ts"]


RANKS = (
    START
    + """
rank = int(os.environ["RANK"])
acl.set_device(rank)
empty = acl.function(acl.load(Path(sys.argv[3])), "empty")
acl.ok(acl.launch(empty, 4, pack("Q", 0)))
acl.ok(acl.synchronize())
if rank == 1 and sys.argv[4] == "killed":
    os.kill(os.getpid(), 9)
acl.ok(acl.aclrtResetDevice(rank))  # the last device: what is recorded is written although exit handlers do not run
os._exit(0)
"""
)

LAUNCHER = """
import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], env={**os.environ, "RANK": str(rank)})
         for rank in range(2)]
sys.exit(max(abs(rank.wait()) for rank in ranks))
"""


def test_processes_become_one_timeline(toolkit: Path, kernels: Path, tmp_path: Path) -> None:
    output = tmp_path / "timeline.json"
    done = trace(output, LAUNCHER, RANKS, TESTS, toolkit, kernels, "ends")
    assert done.returncode == 0, done.stderr
    events = json.loads(output.read_text())["traceEvents"]
    for device in (0, 1):
        assert len(spans(events, device, "launch")) == 1
        assert len(spans(events, device, "block")) == 4
        (name,) = (e["args"]["name"] for e in events if e["name"] == "process_name" and e["pid"] == device)
        assert name.startswith(f"rank {device}, device {device} (process ")


def test_a_killed_process_is_named_and_left_out(toolkit: Path, kernels: Path, tmp_path: Path) -> None:
    output = tmp_path / "timeline.json"
    done = trace(output, LAUNCHER, RANKS, TESTS, toolkit, kernels, "killed")
    assert done.returncode == 9
    assert "no timeline of process " in done.stderr
    events = json.loads(output.read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {0}


def test_a_program_without_devices(tmp_path: Path) -> None:
    output = tmp_path / "timeline.json"
    for script, status in (("", 0), ("import sys; sys.exit(5)", 5)):
        done = trace(output, script)
        assert done.returncode == status
        assert "used no emulated device, so there is no timeline" in done.stderr
        assert not output.exists()


def test_places_that_do_not_exist(toolkit: Path, tmp_path: Path) -> None:
    done = trace(tmp_path / "no/timeline.json", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert "its folder does not exist" in done.stderr
    setting = {**os.environ, "AIVOPS_EMU_TRACE": str(tmp_path / "no")}
    script = START + "acl.set_device(0)"
    direct = subprocess.run(
        [sys.executable, "-c", script, TESTS, toolkit],
        env=setting,
        capture_output=True,
        text=True,
        check=False,
    )
    assert direct.returncode == 1
    assert f"AIVOPS_EMU_TRACE='{tmp_path / 'no'}': expected a folder that exists" in direct.stderr


MANY = (
    START
    + """
acl.set_device(0)
empty = acl.function(acl.load(Path(sys.argv[3])), "empty")
for _ in range(300):
    acl.ok(acl.launch(empty, 4000, pack("Q", 0)))
    acl.ok(acl.synchronize())
"""
)


@pytest.mark.long
def test_memory_is_bounded_and_what_is_missing_is_said(toolkit: Path, kernels: Path, tmp_path: Path) -> None:
    output = tmp_path / "timeline.json"
    done = trace(output, MANY, TESTS, toolkit, kernels)
    assert done.returncode == 0, done.stderr
    assert f"{300 * 4001 - MOST_EVENTS} events missing" in done.stderr
    events = json.loads(output.read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == MOST_EVENTS
