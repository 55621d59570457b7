"""Threads, the GIL, fork, the end of the interpreter, leaks. Programs run in processes of their own, with a time limit that a
lost wake-up or a kept GIL would exceed."""

import re
from pathlib import Path

import pytest
from fixtures.python_process import run_python
from fixtures.stub_toolkit import make_stub_toolkit

PREPARE = """
import os, sys, threading, time
import numpy as np
import aivops

device = aivops.Device(0)
binary = aivops.Binary(sys.argv[1])
store, wait_for, nothing = (binary.get_kernel(name) for name in ("store", "wait_for", "nothing"))
one_block = aivops.LaunchConfig(blocks=1)

def make_flag():
    flag = aivops.Buffer(device, 1, "int32")
    flag.fill(0)
    return flag

ONE = np.ones(1, np.int32)
"""


# Of launches that the process left behind.
LOST = (
    r"aivops emulator: warning: device 0: \d+ launch(es)? had not ended when the process did, and nobody waited for "
    r"(it|them); synchronize the stream\n"
)


def run(program: str, kernels_path: Path, timeout: float = 60, says: str = "") -> str:
    """What the program prints; it must end well and say no more on stderr, where nanobind reports leaks."""
    done = run_python(PREPARE + program, kernels_path, AIVOPS_TOOLKIT="emulator", timeout=timeout)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(says, done.stderr), done.stderr
    return done.stdout


@pytest.mark.parametrize("wait", ["stream.synchronize()", "device.synchronize()", "event.synchronize()",
                                  "stream.synchronize(30.0)"])  # fmt: skip
def test_waiting_releases_the_gil(kernels_path: Path, wait: str) -> None:
    """The kernel ends when another Python thread writes the flag: with the GIL kept it never could."""
    run(
        f"""
flag = make_flag()
stream = aivops.Stream(device)
event = aivops.Event(device)
wait_for.launch(stream, flag, 1, config=one_block)
stream.record(event)
waiting = threading.Event()
def release():
    waiting.wait()
    time.sleep(0.1)
    flag.copy_from(ONE)
thread = threading.Thread(target=release)
thread.start()
waiting.set()
{wait}
thread.join()
stream.synchronize()
""",
        kernels_path,
    )


def test_a_full_queue_releases_the_gil(kernels_path: Path) -> None:
    """Far more launches than any queue holds, behind a kernel that another thread ends."""
    output = run(
        """
flag, target = make_flag(), make_flag()
stream = aivops.Stream(device)
wait_for.launch(stream, flag, 1, config=one_block)
count = 5000
def release():
    time.sleep(0.5)
    flag.copy_from(ONE)
thread = threading.Thread(target=release)
thread.start()
prepared = store.prepare(stream, target, 0, config=one_block)
for value in range(count):
    if value % 2:
        prepared[1] = value
        prepared()
    else:
        store.launch(stream, target, value, config=one_block)
thread.join()
stream.synchronize()
print(target.to_numpy()[0])
""",
        kernels_path,
    )
    assert output.split() == ["4999"]


def test_a_prepared_launch_belongs_to_one_thread_at_a_time(tmp_path: Path, kernels_path: Path) -> None:
    """On a stream that claims to be busy the GIL is given up, so threads do meet; then all but one are told."""
    program = """
import ctypes, os
stub = ctypes.CDLL(os.environ["AIVOPS_TOOLKIT"] + "/lib64/libacl_rt.so")
ctypes.c_int.in_dll(stub, "stub_stream_busy").value = 1
sys.setswitchinterval(1e-6)
stream = aivops.Stream(device)
prepared = nothing.prepare(stream)
for _ in range(600):
    prepared()
unexpected = []
def launch():
    for _ in range(2000):
        try:
            prepared()
        except aivops.InvalidValueError as error:
            if "another thread is launching it" not in str(error):
                unexpected.append(error)
threads = [threading.Thread(target=launch) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not unexpected, unexpected
"""
    toolkit = make_stub_toolkit(tmp_path / "stub")
    done = run_python(PREPARE + program, kernels_path, AIVOPS_TOOLKIT=toolkit)
    assert (done.returncode, done.stderr) == (0, "")


def test_many_threads_and_streams(kernels_path: Path) -> None:
    output = run(
        """
errors = []
def work(number):
    try:
        stream = aivops.Stream(device)
        target = aivops.Buffer(device, 1, "int32")
        for value in range(200):
            store.launch(stream, target, number * 1000 + value, config=one_block)
        stream.synchronize()
        if target.to_numpy()[0] != number * 1000 + 199:
            errors.append((number, target.to_numpy()[0]))
    except Exception as error:
        errors.append(error)
threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors)
""",
        kernels_path,
    )
    assert output.strip() == "[]"


GROWTH = """
import ctypes, os, resource
from concurrent.futures import ThreadPoolExecutor
stub = ctypes.CDLL(os.environ["AIVOPS_TOOLKIT"] + "/lib64/libacl_rt.so")
ctypes.c_int.in_dll(stub, "stub_recording").value = 1
target = make_flag()
streams = [aivops.Stream(device) for _ in range(8)]
def work(number):
    stream = streams[number % 8]
    prepared = store.prepare(stream, target, 1)
    for value in range(5000):
        store.launch(stream, target, value)
        prepared[1] = value
        prepared()
def run():
    with ThreadPoolExecutor(64) as pool:
        list(pool.map(work, range(64)))
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
run()
before = resident()
run()
print(ctypes.c_int.in_dll(stub, "stub_launches").value, resident() - before)
"""


def test_64_threads_times_10000_launches_without_growth(tmp_path: Path, kernels_path: Path) -> None:
    toolkit = make_stub_toolkit(tmp_path / "stub")
    done = run_python(PREPARE + GROWTH, kernels_path, AIVOPS_TOOLKIT=toolkit, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    launches, growth = map(int, done.stdout.split())
    assert launches == 2 * 64 * 10_000
    assert growth < 4 << 20


def test_a_forked_child_is_told(kernels_path: Path) -> None:
    output = run(
        """
stream = aivops.Stream(device)
target = make_flag()
prepared = store.prepare(stream, target, 1)
uses = [lambda: aivops.Device(0), lambda: aivops.Stream(device), lambda: store.launch(stream, target, 1), prepared,
        lambda: target.to_numpy(), lambda: stream.synchronize(), lambda: device.vector_cores]
child = os.fork()
if child == 0:
    told = 0
    for use in uses:
        try:
            use()
        except aivops.ForkError as error:
            told += "forked after its parent began to use devices" in str(error) and "spawn" in str(error)
    del stream, target, prepared, uses
    os._exit(told)
_, status = os.waitpid(child, 0)
store.launch(stream, target, 8)
stream.synchronize()
print(os.waitstatus_to_exitcode(status), target.to_numpy()[0])
""",
        kernels_path,
    )
    assert output.split() == ["7", "8"]


def test_a_child_forked_before_the_first_use_works(kernels_path: Path) -> None:
    program = """
import os, sys
import aivops
child = os.fork()
device = aivops.Device(0)
target = aivops.Buffer(device, 1, "int32")
stream = aivops.Stream(device)
aivops.Binary(sys.argv[1]).get_kernel("store").launch(stream, target, 5)
stream.synchronize()
assert target.to_numpy()[0] == 5
if child:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = run_python(program, kernels_path, AIVOPS_TOOLKIT="emulator")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0", "")


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "del device, binary", "import gc; gc.disable()"])
def test_the_interpreter_ends_with_work_in_flight(kernels_path: Path, ending: str) -> None:
    run(
        f"""
stream = aivops.Stream(device)
target = make_flag()
for value in range(300):
    store.launch(stream, target, value)
prepared = store.prepare(stream, target, 1)
prepared()
{ending}
""",
        kernels_path,
        timeout=30,
        says=f"({LOST})?",  # whether the last ones have ended by then is up to the machine
    )


NEVER_ENDING = """
flag = make_flag()
stream = aivops.Stream(device)
wait_for.launch(stream, flag, 1, config=one_block)
"""


def test_a_stream_is_dropped_without_waiting(kernels_path: Path) -> None:
    """The kernel goes on, with all it needs, and its stream is destroyed once it is idle."""
    run(
        NEVER_ENDING
        + """
target = make_flag()
other = aivops.Stream.borrow(device, stream.handle)
store.launch(other, target, 7, config=one_block)
handle = stream.handle
del stream, other
flag.copy_from(ONE)
device.synchronize()
assert target.to_numpy()[0] == 7
""",
        kernels_path,
        timeout=30,
    )


@pytest.mark.parametrize(
    "ending", ["", "del stream", "del stream, device, flag, binary, store, wait_for, nothing"]
)
def test_the_interpreter_ends_though_a_kernel_never_does(kernels_path: Path, ending: str) -> None:
    run(NEVER_ENDING + ending, kernels_path, timeout=30, says=LOST)


def test_the_interpreter_ends_while_threads_launch(kernels_path: Path) -> None:
    run(
        """
stream = aivops.Stream(device)
target = make_flag()
def work():
    while True:
        store.launch(stream, target, 1, config=one_block)
        stream.synchronize()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
sys.stdout.flush()
os._exit(0)
""",
        kernels_path,
        timeout=30,
    )


def test_cycles_leak_nothing(kernels_path: Path) -> None:
    run(
        """
class Holder:
    pass
holder = Holder()
holder.self = holder
holder.stream = aivops.Stream(device)
holder.prepared = store.prepare(holder.stream, make_flag(), 1)
holder.config = aivops.LaunchConfig(timeout=3)
holder.event = aivops.Event(device)
holder.parameters = store.parameters
""",
        kernels_path,
    )
