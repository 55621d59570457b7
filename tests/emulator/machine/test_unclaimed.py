"""What a program leaves behind without waiting for it is said on standard error, once, and nothing else is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from emulator.own_process import TESTS

START = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
def launch(name, layout, *values, stream=None):
    acl.ok(acl.launch(acl.function(binary, name), 1, pack(layout, *values), stream=stream))
def wait_without_asking():
    while acl.counters(0).launches < 1:
        time.sleep(0.01)
    time.sleep(0.2)
"""


def said(script: str, toolkit: Path, kernels: Path, check: str = "on") -> str:
    ran = subprocess.run(
        [sys.executable, "-c", START + script, str(TESTS), str(toolkit), str(kernels)],
        env={**os.environ, "AIVOPS_EMU_CHECK": check},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


@pytest.mark.parametrize("check", ["on", "strict"])
def test_a_failure_that_nobody_waited_for(toolkit: Path, kernels: Path, check: str) -> None:
    script = "launch('trap_here', 'Q', 0); wait_without_asking()"
    (line,) = said(script, toolkit, kernels, check).splitlines()
    assert line.startswith(
        "aivops emulator: warning: a launch failed, and nobody waited for it: kernel trap_here on device 0: "
    )


@pytest.mark.parametrize(
    "end",
    [
        "acl.ok(acl.aclrtResetDevice(0))",
        "acl.ok(acl.aclrtDestroyStream(stream))",
    ],
)
def test_a_stream_that_goes_takes_its_failure_along(toolkit: Path, kernels: Path, end: str) -> None:
    script = f"stream = acl.create_stream(); launch('trap_here', 'Q', 0, stream=stream); {end}"
    assert said(script, toolkit, kernels).count("nobody waited for it: kernel trap_here on device 0") == 1


def test_launches_that_never_ended(toolkit: Path, kernels: Path) -> None:
    script = """
flag = acl.malloc(64)
acl.write(flag, bytes(64))
for _ in range(2):
    launch("relay", "QQII", flag, flag, 1, 2)
"""
    (line,) = said(script, toolkit, kernels).splitlines()
    assert line == (
        "aivops emulator: warning: device 0: 2 launches had not ended when the process did, and nobody waited "
        "for them; synchronize the stream"
    )


@pytest.mark.parametrize(
    "script",
    [
        "launch('empty', 'Q', 0); acl.ok(acl.synchronize())",
        "launch('empty', 'Q', 0); wait_without_asking()",
        "launch('trap_here', 'Q', 0); assert acl.synchronize() != 0",
        "launch('trap_here', 'Q', 0); assert acl.synchronize() != 0; acl.ok(acl.aclrtResetDevice(0))",
        "",
    ],
)
def test_nothing_is_said_of_what_was_waited_for(toolkit: Path, kernels: Path, script: str) -> None:
    assert said(script, toolkit, kernels) == ""


def test_a_forked_child_says_nothing(toolkit: Path, kernels: Path) -> None:
    script = """
launch('trap_here', 'Q', 0)
wait_without_asking()
child = os.fork()
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    assert said(script, toolkit, kernels).count("nobody waited for it") == 1


DROPPED = """
import sys, time, aivops
from pathlib import Path
kernel = aivops.Binary(Path(sys.argv[1])).get_kernel("trap_here")
stream = aivops.Stream(aivops.Device(0))
kernel.launch(stream, 0, config=aivops.LaunchConfig(blocks=1))
"""


WAITS = """
try:
    stream.synchronize()
except aivops.AclError as error:
    assert str(error).startswith("Stream on device 0: kernel trap_here on device 0: block 0"), error
"""


@pytest.mark.parametrize(
    ("end", "warnings"), [("time.sleep(0.3)", 1), ("del stream; time.sleep(0.3)", 1), (WAITS, 0)]
)
def test_streams_of_python(kernels: Path, end: str, warnings: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DROPPED + end, str(kernels)],
        env={**os.environ, "AIVOPS_TOOLKIT": "emulator"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stderr.splitlines()
    assert len(lines) == warnings
    for line in lines:
        assert re.match(
            r"aivops(?: emulator)?: warning: .*nobody waited for .*kernel trap_here on device 0", line
        )
