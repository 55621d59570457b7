"""Ctrl-C while a call waits for the device: KeyboardInterrupt comes at once, and the device goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

# Shells start programs in the background with the signal ignored, and children inherit that.
HEARS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""

START = (
    HEARS
    + """
import os, sys, threading, time
import numpy as np
import aivops

def interrupted(wait):
    sent = []
    def send():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send).start()
    try:
        wait()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
"""
)

# A kernel that waits for a flag, until the host writes it.
DEVICE = (
    START
    + """
device = aivops.Device(0)
flag = aivops.Buffer(device, 1, "int32")
flag.copy_from(np.zeros(1, np.int32))
stream = aivops.Stream(device)
event = aivops.Event(device)
kernels = aivops.Binary(sys.argv[1])
kernels.get_kernel("wait_for").launch(stream, flag, 1)
stream.record(event)
took = [interrupted(wait) for wait in (stream.synchronize, event.synchronize, device.synchronize)]
took.append(interrupted(lambda: stream.synchronize(timeout=100)))
flag.copy_from(np.ones(1, np.int32))
stream.synchronize()
kernels.get_kernel("store").launch(stream, flag, 5)
stream.synchronize()
print(max(took), flag.to_numpy()[0])
"""
)

RUN = (
    START
    + """
with aivops.LocalGroup(3) as group:
    took = interrupted(lambda: group.run(lambda comm: comm.rank == 0 and time.sleep(2) or comm.barrier()))
    print(took, *group.run(lambda comm: comm.all_reduce(np.ones(1, np.float32))[0]))
"""
)


def run(program: str, *arguments: object) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "AIVOPS_TOOLKIT": "emulator"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_waits_for_the_device(kernels_path: Path) -> None:
    took, value = run(DEVICE, kernels_path)
    assert took < 0.5  # 0.05 s and what a loaded machine adds
    assert value == 5


def test_a_group_is_ready_again() -> None:
    took, *sums = run(RUN)
    assert took < 5  # the rank that sleeps is waited for
    assert sums == [3, 3, 3]


def test_a_program_that_does_not_catch_it_ends(kernels_path: Path) -> None:
    """As any other Python program: a traceback, and the status of the signal."""
    program = """
import sys
import numpy as np
import aivops
device = aivops.Device(0)
flag = aivops.Buffer(device, 1, "int32")
flag.copy_from(np.zeros(1, np.int32))
stream = aivops.Stream(device)
aivops.Binary(sys.argv[1]).get_kernel("wait_for").launch(stream, flag, 1)
print("waiting", flush=True)
stream.synchronize()
"""
    command = [sys.executable, "-c", HEARS + program, str(kernels_path)]
    with subprocess.Popen(
        command,
        env={**os.environ, "AIVOPS_TOOLKIT": "emulator"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_ranks_that_are_processes(tmp_path: Path) -> None:
    """Rank 0 never comes, so rank 1 waits in the main thread of its process."""
    program = """
import os, signal, threading, time
import numpy as np
import aivops
with aivops.Communicator.from_env() as comm:
    if comm.rank == 1:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            comm.barrier()
        except KeyboardInterrupt:
            print(time.monotonic() - began, flush=True)
    else:
        time.sleep(1.5)
        comm.barrier()
"""
    source = tmp_path / "rank.py"
    source.write_text(HEARS + program)
    done = subprocess.run(
        [sys.executable, "-m", "aivops", "run", "--no-prefix", "-n", "2", sys.executable, source],
        env={**os.environ, "AIVOPS_TOOLKIT": "emulator"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.3 + 0.5
