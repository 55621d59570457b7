"""Timeouts of kernels count in units: rounded up, at most 254 of them, and 0 is never."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulator.own_process import run_in_process

UNIT_US = 1000
SLACK_SECONDS = 1.0  # of a loaded machine

LAUNCH = """
import json, re, sys, time
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
relay = acl.function(acl.load(Path(sys.argv[3])), "relay")
flag = acl.malloc(32)
acl.write(flag, bytes(32))
found = []
for attributes in json.loads(sys.argv[4]):
    began = time.monotonic()
    acl.ok(acl.launch(relay, 1, pack("QQII", flag, flag, 1, 2), **attributes))
    code = acl.synchronize()
    found.append([code, acl.message(), time.monotonic() - began])
print(json.dumps(found))
"""

# Attributes of a launch, and the units that they come to.
REQUESTS = [
    ({"timeout_us": 1}, 1),
    ({"timeout_us": UNIT_US}, 1),
    ({"timeout_us": UNIT_US + 1}, 2),
    ({"timeout_us": 2 * UNIT_US}, 2),
    ({"timeout_us": 253 * UNIT_US + 1}, 254),
    ({"timeout_us": 254 * UNIT_US}, 254),
    ({"timeout_us": 255 * UNIT_US}, 254),
    ({"timeout_us": 1 << 32}, 254),  # nothing in the low word
    ({"timeout_us": (1 << 64) - 1}, 254),
    ({"timeout_s": 1}, 254),
    ({"timeout_s": 65535}, 254),
]


def test_requests_are_rounded_up_and_capped(toolkit: Path, kernels: Path) -> None:
    attributes = json.dumps([attribute for attribute, _ in REQUESTS])
    output = run_in_process(LAUNCH, toolkit, kernels, attributes, AIVOPS_EMU_TIMEOUT_INTERVAL_US=str(UNIT_US))
    for (attribute, units), (code, message, seconds) in zip(REQUESTS, json.loads(output), strict=True):
        limit = units * UNIT_US / 1e6
        assert code == 507034, attribute
        assert f"(limit {limit:g} s)" in message, (attribute, message)
        assert limit <= seconds < limit + SLACK_SECONDS, attribute


NEVER = """
import sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
relay = acl.function(acl.load(Path(sys.argv[3])), "relay")
flag, told = acl.malloc(32), acl.malloc(32)
stream = acl.create_stream()
for attributes in ({"timeout_us": 0}, {"timeout_s": 0}):
    acl.write(flag, bytes(32))
    acl.ok(acl.launch(relay, 1, pack("QQII", flag, told, 1, 2), stream, **attributes))
    waited = acl.aclrtSynchronizeStreamWithTimeout(stream, 500)  # twice what 254 units are
    acl.write(flag, (1).to_bytes(4, "little") + bytes(28))
    acl.ok(acl.synchronize(stream))
    print(waited, acl.read(told, 1)[0])
"""


def test_zero_is_never(toolkit: Path, kernels: Path) -> None:
    output = run_in_process(NEVER, toolkit, kernels, AIVOPS_EMU_TIMEOUT_INTERVAL_US=str(UNIT_US))
    assert output == "507046 2\n" * 2


PROGRESS = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
BLOCKS, STEP = 8, 0.1
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
flags = acl.malloc(32 * BLOCKS)
acl.write(flags, bytes(32 * BLOCKS))
def release():
    acl.set_device(0)
    for block in range(BLOCKS):
        time.sleep(STEP)
        acl.write(flags + 32 * block, (1).to_bytes(4, "little"))
thread = threading.Thread(target=release)
began = time.monotonic()
acl.ok(acl.launch(acl.function(acl.load(Path(sys.argv[3])), "wait_each"), BLOCKS, pack("Q", flags), timeout_us=1))
thread.start()
acl.ok(acl.synchronize())
thread.join()
print(time.monotonic() - began)
"""


def test_only_time_without_progress_counts(toolkit: Path, kernels: Path) -> None:
    """A launch that takes longer than its limit, and whose blocks never all stand still for so long."""
    output = run_in_process(PROGRESS, toolkit, kernels, AIVOPS_EMU_TIMEOUT_INTERVAL_US="500000")
    assert float(output) > 0.5


PROCESS_WIDE = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
interval, actual, milliseconds = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()
acl.ok(acl.aclrtGetOpTimeOutInterval(ctypes.byref(interval)))
acl.ok(acl.aclrtGetOpExecuteTimeout(ctypes.byref(milliseconds)))
found = [interval.value, milliseconds.value]
for request in map(int, sys.argv[3:]):
    acl.ok(acl.aclrtSetOpExecuteTimeOutV2(ctypes.c_uint64(request), ctypes.byref(actual)))
    found.append(actual.value)
acl.ok(acl.aclrtSetOpExecuteTimeOut(5))
acl.ok(acl.aclrtGetOpExecuteTimeout(ctypes.byref(milliseconds)))
found.append(milliseconds.value)
acl.ok(acl.aclrtSetOpExecuteTimeOutWithMs(1))
acl.ok(acl.aclrtGetOpExecuteTimeout(ctypes.byref(milliseconds)))
found.append(milliseconds.value)
print(*found)
"""


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        # The unit of hardware whose firmware names none is 2^32 ns; 254 of them are the default and the most.
        (
            "4294967.296",
            {
                "interval": 4294967,
                "default": 1090921,
                1: 4294967,
                4294968: 8589934,
                1090921693: 1090921693,
                1090921694: 1090921693,
                0: 1090921693,
                (1 << 64) - 1: (1 << 64) - 1,
                "5 s": 8589,
                "1 ms": 4294,
            },
        ),
        # Below 100 ms, 0 of the process means never.
        (
            "1000",
            {
                "interval": 1000,
                "default": 254,
                1: 1000,
                254001: 254000,
                0: (1 << 64) - 1,
                "5 s": 254,
                "1 ms": 1,
            },
        ),
    ],
)
def test_the_limit_of_the_process(toolkit: Path, interval: str, expected: dict[object, int]) -> None:
    requests = [request for request in expected if isinstance(request, int)]
    output = run_in_process(PROCESS_WIDE, toolkit, *requests, AIVOPS_EMU_TIMEOUT_INTERVAL_US=interval)
    assert dict(zip(expected, map(int, output.split()), strict=True)) == expected


RESET = """
import json, sys, threading, time
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
flag = acl.malloc(32)
acl.write(flag, bytes(32))
stream = acl.create_stream()
acl.ok(acl.launch(acl.function(binary, sys.argv[4]), 1, pack("QQII", flag, flag, 1, 2), stream, timeout_us=0))
found = []

def wait():
    acl.set_device(0)
    found.extend([acl.synchronize(stream), acl.message()])

waiter = threading.Thread(target=wait)
if sys.argv[5] == "waited":
    waiter.start()
    time.sleep(0.3)
began = time.monotonic()
code = acl.aclrtResetDeviceForce(0)
took = time.monotonic() - began
if sys.argv[5] == "waited":
    waiter.join()
acl.set_device(0)
empty = acl.function(acl.load(Path(sys.argv[3])), "empty")
acl.ok(acl.launch(empty, 4, pack("Q", 0)))
acl.ok(acl.synchronize())
print(json.dumps([code, took, found]))
"""


@pytest.mark.parametrize("kernel", ["relay", "endless"])
@pytest.mark.parametrize("how", ["waited", "alone"])
def test_a_forced_reset_ends_kernels_that_never_end(
    toolkit: Path, kernels: Path, kernel: str, how: str
) -> None:
    code, took, found = json.loads(run_in_process(RESET, toolkit, kernels, kernel, how))
    assert code == 0
    assert took < 5  # of a loaded machine; the kernels have no limit of their own
    if how == "waited":
        assert found[0] == 107022
        assert "device 0 was reset by aclrtResetDeviceForce before its work was done" in found[1]
