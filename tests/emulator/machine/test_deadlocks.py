"""Deadlocks are told from timeouts, and the report says who waits for what: flag, found and expected value, line."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

# One flag of 64 bytes on each of two devices. Prints what each wait says, or that it ended.
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
flags = []
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
    flags.append(acl.malloc(64))
binary = acl.load(Path(sys.argv[3]))
kernel, held, tags = sys.argv[4], sys.argv[5].split(","), sys.argv[6].split(",")
for device in (0, 1):
    acl.set_device(device)
    acl.write(flags[device], int(held[device]).to_bytes(4, "little") + bytes(60))
for device, tag in enumerate(tags):
    acl.set_device(device)
    told = flags[1 - device]
    acl.ok(acl.launch(acl.function(binary, kernel), 1, pack("QQI", told, flags[device], int(tag)), timeout_us=50000))
for device in range(len(tags)):
    acl.set_device(device)
    print(acl.synchronize(), acl.message())
"""


@pytest.fixture(scope="module", name="waits")
def waiting_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("deadlock") / "deadlock.asc"
    shutil.copy(Path(__file__).parent / "deadlock.asc", source)
    return compiler.build(source, "-g")


def line_of(mark: str) -> str:
    lines = (Path(__file__).parent / "deadlock.asc").read_text().splitlines()
    return f"deadlock.asc:{next(n for n, line in enumerate(lines, 1) if line.endswith(f'[{mark}]'))})"


@pytest.mark.parametrize("check", ["on", "late", "strict"])
@pytest.mark.parametrize(
    ("kernel", "held", "tags", "finds", "goes_on", "mark"),
    [
        # Alone: nobody else tells anything.
        ("meet", "0,0", "1", "0x0", "with 0x1", "poll"),
        ("meet", "4,0", "5", "0x4", "with 0x5", "poll"),
        ("meet", "1,0", "123456", "0x1", "with 0x1e240", "poll"),  # far away, and what it tells others
        ("meet", "7,0", "0", "0x7", "with 0x0", "poll"),
        ("meet_by_scalars", "2,0", "9", "0x2", "with 0x9", "scalar poll"),
        # A flag that is set goes on to one that is not.
        ("wait_for_both", "0,3", "3", "0x0", "with 0x3", "either"),
        # What it waits for has nothing to do with what it finds, or tells.
        ("wait_for_both", "0,123456", "123456", "0x0", "with none of 0x1 to 0x10", "either"),
    ],
)
def test_what_a_poll_waits_for(
    toolkit: Path,
    waits: Path,
    check: str,
    kernel: str,
    held: str,
    tags: str,
    finds: str,
    goes_on: str,
    mark: str,
) -> None:
    printed = run_in_process(
        RUN,
        toolkit,
        waits,
        kernel,
        held,
        tags,
        AIVOPS_EMU_CHECK=check,
        AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000",
    )
    assert printed.startswith("507034 "), printed
    assert re.search(r"\bdeadlock: nothing moved for 0\.\d+ s \(limit 0\.050 s\)", printed), printed
    assert "and all that runs in this process waits; block 0 polls 0x" in printed
    assert "(device 0, byte 0 of " in printed
    assert f"where it finds {finds} " in printed
    assert f"goes on {goes_on}" in printed
    assert line_of(mark) in printed


@pytest.mark.parametrize("check", ["on", "strict"])
def test_two_devices_that_wait_for_each_other(toolkit: Path, waits: Path, check: str) -> None:
    """They tell each other 1 and 2, and each waits for its own number."""
    printed = run_in_process(
        RUN,
        toolkit,
        waits,
        "meet",
        "0,0",
        "1,2",
        AIVOPS_EMU_CHECK=check,
        AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000",
    )
    first, second = printed.splitlines()
    assert first.startswith("507034 ")
    assert second.startswith("507034 ")
    assert "deadlock: " in first
    assert "where it finds 0x2 " in first
    assert "goes on with 0x1" in first
    assert "where it finds 0x1 " in second
    assert "goes on with 0x2" in second
    if check == "strict":
        assert "set last by DataCopy writing in kernel meet on device 1, block 0" in first
        assert "set last by DataCopy writing in kernel meet on device 0, block 0" in second


def test_the_device_works_afterwards_and_memory_is_as_it_was(toolkit: Path, waits: Path) -> None:
    """What a poll is shown goes nowhere, and a block that is asked does nothing more."""
    script = (
        RUN
        + """
acl.set_device(0)
print([int.from_bytes(acl.read(flags[0], 4), "little"), int.from_bytes(acl.read(flags[1], 4), "little")])
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.launch(acl.function(binary, kernel), 1, pack("QQI", flags[1 - device], flags[device], 77)))
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.synchronize())
print("again")
"""
    )
    printed = run_in_process(
        script, toolkit, waits, "meet", "0,0", "1", AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000"
    )
    assert printed.splitlines()[1:] == ["[0, 1]", "again"]


SHARED = """
import ctypes, subprocess, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
flag, told = acl.malloc(64), acl.malloc(64)
acl.write(flag, bytes(64))
key = ctypes.create_string_buffer(65)
no_credentials = 1
acl.ok(acl.aclrtIpcMemGetExportKey(ctypes.c_void_p(flag), ctypes.c_size_t(64), key, ctypes.c_size_t(65),
                                   ctypes.c_uint64(no_credentials)))
importing = '''
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
pointer = ctypes.c_void_p()
acl.ok(acl.aclrtIpcMemImportByKey(ctypes.byref(pointer), sys.argv[3].encode(), ctypes.c_uint64(0)))
'''
subprocess.run([sys.executable, "-c", importing, sys.argv[1], sys.argv[2], key.value.decode()], check=True)
acl.ok(acl.launch(acl.function(acl.load(Path(sys.argv[3])), "meet"), 1, pack("QQI", told, flag, 1), timeout_us=50000))
print(acl.synchronize(), acl.message())
"""


def test_what_another_process_may_still_set_is_a_timeout(toolkit: Path, waits: Path) -> None:
    printed = run_in_process(SHARED, toolkit, waits, AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000")
    assert printed.startswith("507034 ")
    assert "timeout: nothing moved for 0." in printed
    assert "all that runs in this process waits" not in printed
    assert "goes on with 0x1" in printed
