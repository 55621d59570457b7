"""Beside another user of ACL in the same process: its context, its streams and its reference counts stay as they were."""

from pathlib import Path

from aivops._locations import get_toolkit_dir
from fixtures.python_process import run_python

NEIGHBOUR = f"""
import ctypes, sys
import numpy as np

acl = ctypes.CDLL({str(get_toolkit_dir() / "lib64/libacl_rt.so")!r})

def call(name, *arguments):
    code = getattr(acl, name)(*arguments)
    assert code == 0, (name, code)

own, current, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
call("aclInit", None)
call("aclrtCreateContext", ctypes.byref(own), 1)
call("aclrtCreateStream", ctypes.byref(stream))

import aivops

def still_mine():
    call("aclrtGetCurrentContext", ctypes.byref(current))
    return current.value == own.value
"""


def run(program: str, kernels_path: Path) -> list[str]:
    done = run_python(NEIGHBOUR + program, kernels_path, AIVOPS_TOOLKIT="emulator")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_context_of_another_user_stays(kernels_path: Path) -> None:
    lines = run(
        """
device = aivops.Device(0)
seen = [still_mine()]
target = aivops.Buffer(device, 1, "int32")
mine = aivops.Stream(device)
kernel = aivops.Binary(sys.argv[1]).get_kernel("store")
kernel.launch(mine, target, 3)
seen.append(still_mine())
mine.synchronize()
event = aivops.Event(device)
mine.record(event)
device.synchronize()
seen.append(still_mine())
value = target.to_numpy()[0]
del event, mine, target, device
seen.append(still_mine())
print(value, seen)
# Its stream still works, and so does its device after ours is gone.
call("aclrtSynchronizeStream", stream)
""",
        kernels_path,
    )
    assert lines == ["3 [True, True, True, True]"]


def test_its_finalize_does_not_end_us(kernels_path: Path) -> None:
    lines = run(
        """
device = aivops.Device(0)
target = aivops.Buffer(device, 1, "int32")
kernel = aivops.Binary(sys.argv[1]).get_kernel("store")
call("aclrtDestroyContext", own)
call("aclFinalize")
ours = aivops.Stream(device)
kernel.launch(ours, target, 3)
ours.synchronize()
print(target.to_numpy()[0])
""",
        kernels_path,
    )
    assert lines == ["3"]


def test_a_reset_of_the_device_is_survived(kernels_path: Path) -> None:
    """Someone sets and resets the device; our reference keeps it, and a launch works afterwards."""
    lines = run(
        """
device = aivops.Device(0)
target = aivops.Buffer(device, 1, "int32")
ours = aivops.Stream(device)
kernel = aivops.Binary(sys.argv[1]).get_kernel("store")
kernel.launch(ours, target, 3)
for _ in range(3):
    call("aclrtSetDevice", 0)
    call("aclrtResetDevice", 0)
kernel.launch(ours, target, 4)
ours.synchronize()
print(target.to_numpy()[0])
""",
        kernels_path,
    )
    assert lines == ["4"]


def test_a_stream_of_another_user_takes_our_launches(kernels_path: Path) -> None:
    lines = run(
        """
call("aclrtSetDevice", 0)
theirs = ctypes.c_void_p()
call("aclrtCreateStream", ctypes.byref(theirs))
device = aivops.Device(0)
target = aivops.Buffer(device, 1, "int32")
kernel = aivops.Binary(sys.argv[1]).get_kernel("store")
kernel.launch(aivops.Stream.borrow(device, theirs.value), target, 5)
call("aclrtSynchronizeStream", theirs)
print(target.to_numpy()[0])
""",
        kernels_path,
    )
    assert lines == ["5"]
