"""What kernels do wrong becomes an ACL error where the result is waited for, and the device goes on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

EXCEPTION, TIMEOUT, TRAP, CUBE_EXCEPTION = 507035, 507034, 507036, 507015

KERNEL_FAULTS = [
    ("wild_pointer", pack("Q", 0x10), EXCEPTION, ["touches an address that it must not", "0x10"]),
    ("trap_here", pack("Q", 0), TRAP, ["trap"]),
    ("recurse", pack("Q", 10000), EXCEPTION, ["overflows its stack"]),
    ("large_frame", pack("Q", 0), EXCEPTION, ["overflows its stack"]),
    ("set_twice", pack("Q", 0), EXCEPTION, ["synccheck", "MTE2_V event id 0 is already set"]),
    ("miss", pack("Q", 0), TIMEOUT, ["synccheck", "3 of 4 blocks wait in SyncAll"]),
    ("silent", pack("Q", 0), CUBE_EXCEPTION, [".ascend.meta.silent", "cube core"]),
]


def run_after_fault(acl: Acl, binary: object) -> None:
    acl.ok(acl.launch(acl.function(binary, "empty"), 48, pack("Q", 0), batch=1))  # type: ignore[arg-type]
    acl.ok(acl.synchronize())


@pytest.mark.parametrize("fault", KERNEL_FAULTS, ids=[fault[0] for fault in KERNEL_FAULTS])
def test_fault_is_reported_once_and_the_device_goes_on(
    acl: Acl, kernels: Path, fault: tuple[str, bytes, int, list[str]]
) -> None:
    kernel, arguments, code, words = fault
    with acl.device(0):
        binary = acl.load(kernels)
        acl.ok(acl.launch(acl.function(binary, kernel), 4, arguments, batch=1))
        assert acl.synchronize() == code
        message = acl.message()
        for word in [f"kernel {kernel} on device 0", *words]:
            assert word in message, message
        acl.ok(acl.synchronize())
        run_after_fault(acl, binary)


def test_device_memory_is_guarded(acl: Acl, kernels: Path) -> None:
    with acl.device(0), acl.device(1):
        acl.set_device(1)
        foreign = acl.malloc(64)
        acl.set_device(0)
        binary = acl.load(kernels)
        copy = acl.function(binary, "copy")
        own, freed = acl.malloc(64), acl.malloc(64)
        acl.free(freed)
        for source, words in [
            (own + 64, ["reads 64 bytes", "beyond its end"]),
            (freed, ["in freed memory"]),
            (foreign, ["has no access to device 1", "aclrtDeviceEnablePeerAccess(1, 0)"]),
            (0x1000, ["not device memory"]),
        ]:
            acl.ok(acl.launch(copy, 1, pack("QQI", own, source, 64)))
            assert acl.synchronize() == EXCEPTION
            message = acl.message()
            for word in ["memcheck", "block 0 of 1", "copy+0x", *words]:
                assert word in message, message
        # The page behind an allocation stops raw pointers as well.
        wild = acl.function(binary, "wild_pointer")
        acl.ok(acl.launch(wild, 1, pack("Q", own + 4096)))
        assert acl.synchronize() == EXCEPTION
        run_after_fault(acl, binary)


def test_unified_buffer_may_be_reserved_but_not_touched_beyond_its_size(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        source = acl.malloc(32)
        function = acl.function(acl.load(kernels), "overflow_ub")
        physical = 192 * 1024
        acl.ok(acl.launch(function, 1, pack("QII", source, physical + 4096, physical - 32)))
        acl.ok(acl.synchronize())
        acl.ok(acl.launch(function, 1, pack("QII", source, physical + 4096, physical)))
        assert acl.synchronize() == EXCEPTION
        assert "UB overflow" in acl.message()


def test_a_length_that_32_bits_do_not_hold_is_too_long(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        target = acl.malloc(64)
        acl.write(target, bytes(64))
        acl.ok(acl.launch(acl.function(acl.load(kernels), "huge_count"), 1, pack("Q", target)))
        assert acl.synchronize() == EXCEPTION
        assert "1 block of 4294967295 bytes; one instruction takes at most" in acl.message()
        assert acl.read(target, 64) == bytes(64)


def test_every_operand_of_an_instruction_is_checked_however_many_its_pieces(acl: Acl, kernels: Path) -> None:
    operand = 199 * 9 * 32 + 256
    with acl.device(0):
        function = acl.function(acl.load(kernels), "strided_add")
        last_place = (192 * 1024 - operand) // 32 * 32
        acl.ok(acl.launch(function, 1, pack("I", last_place)))
        acl.ok(acl.synchronize())
        acl.ok(acl.launch(function, 1, pack("I", last_place + 32)))
        assert acl.synchronize() == EXCEPTION
        assert "Add: UB overflow" in acl.message()


def test_sync_all_with_more_blocks_than_cores_is_a_reported_deadlock(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        target = acl.malloc(49 * 32)
        acl.ok(acl.launch(acl.function(acl.load(kernels), "meet"), 49, pack("Q", target)))
        assert acl.synchronize() == TIMEOUT
        assert "the launch has 49 and no core is free" in acl.message()


def test_batch_mode_above_the_cores_says_so_at_once(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        stream = acl.create_stream()
        acl.ok(acl.launch(acl.function(acl.load(kernels), "empty"), 49, pack("Q", 0), stream, batch=1))
        assert "49 blocks in batch mode can never start on 48 vector cores" in acl.message()
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 10) == 507046
        acl.ok(acl.aclrtStreamAbort(stream))
        acl.ok(acl.synchronize(stream))


TIMEOUTS = """
import sys, time
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
for kernel, blocks, arguments, options, words in [
    ("endless", 1, pack("Q", 0), {"timeout_us": 20000}, "never comes back"),
    ("empty", 49, pack("Q", 0), {"timeout_us": 20000, "batch": 1}, "needs 49 free vector cores of 48"),
    ("relay", 1, None, {"timeout_us": 20000}, "block 0 polls 0x"),
    ("relay", 1, None, {"timeout_s": 1}, "limit 0.254 s"),
    ("wide_poll", 1, "wide", {"timeout_us": 20000}, "nothing moved"),
]:
    if arguments == "wide":
        flags = acl.malloc(256)
        acl.write(flags, bytes(256))
        arguments = pack("QII", flags, 1, 256)
    elif arguments is None:
        flag = acl.malloc(32)
        acl.write(flag, bytes(32))
        arguments = pack("QQII", flag, flag, 1, 2)
    began = time.monotonic()
    acl.ok(acl.launch(acl.function(binary, kernel), blocks, arguments, **options))
    code = acl.synchronize()
    took = time.monotonic() - began
    message = acl.message()
    assert code == 507034, (kernel, code, message)
    assert words in message, message
    assert took < 2, took
    acl.ok(acl.launch(acl.function(binary, "empty"), 48, pack("Q", 0), batch=1))
    acl.ok(acl.synchronize())
print("done")
"""


def test_timeouts_end_kernels_that_wait_and_kernels_that_do_not(toolkit: Path, kernels: Path) -> None:
    output = run_in_process(TIMEOUTS, toolkit, kernels, AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000")
    assert output == "done\n"


CONTAINMENT = """
import sys, os, threading
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
def state():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
empty = acl.function(binary, "empty")
for round in range(int(sys.argv[4])):
    for kernel, value, code in [("wild_pointer", 0x10, 507035), ("trap_here", 0, 507036), ("recurse", 1 << 20, 507035),
                                ("endless", 0, 507034)]:
        acl.ok(acl.launch(acl.function(binary, kernel), 1, pack("Q", value), timeout_us=1000))
        found = acl.synchronize()
        assert found == code, (kernel, found, acl.message())
        acl.message()
        acl.ok(acl.launch(empty, 48, pack("Q", 0), batch=1))
        acl.ok(acl.synchronize())
    if round == 20:
        before = state()
after = state()
assert after[0] - before[0] < 512 and after[1:] == before[1:], (before, after)
print("done")
"""


INTERRUPTED = """
import sys, signal, threading
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
over = threading.Event()
def interrupt():  # the thread that drives the device, as the watchdog does when a kernel must end
    while not over.is_set():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGURG)
threading.Thread(target=interrupt).start()
for round in range(int(sys.argv[4])):
    acl.ok(acl.launch(acl.function(binary, "endless"), 1, pack("Q", 0), timeout_us=1000))
    found = acl.synchronize()
    assert found == 507034, (round, found, acl.message())
    acl.message()
    acl.ok(acl.launch(acl.function(binary, "empty"), 48, pack("Q", 0), batch=1))
    acl.ok(acl.synchronize())
over.set()
print("done")
"""


LAUNCHES = """
import sys, os
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
empty = acl.function(binary, "empty")
def state():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
for launch in range(int(sys.argv[4])):
    acl.ok(acl.launch(empty, 48, pack("Q", 0), batch=1))
    if launch % 10 == 0:
        acl.ok(acl.synchronize())
    if launch == 1000:
        before = state()
acl.ok(acl.synchronize())
after = state()
assert after[0] - before[0] < 512 and after[1:] == before[1:], (before, after)
print("done")
"""


@pytest.mark.parametrize("launches", [2000, pytest.param(100000, marks=pytest.mark.long)])
def test_launches_leave_nothing_behind(toolkit: Path, kernels: Path, launches: int) -> None:
    assert run_in_process(LAUNCHES, toolkit, kernels, launches) == "done\n"


@pytest.mark.parametrize("rounds", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_faulting_and_endless_kernels_leave_nothing_behind(toolkit: Path, kernels: Path, rounds: int) -> None:
    output = run_in_process(CONTAINMENT, toolkit, kernels, rounds, AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000")
    assert output == "done\n"


@pytest.mark.parametrize("rounds", [60, pytest.param(1000, marks=pytest.mark.long)])
def test_a_kernel_that_must_end_may_be_told_so_more_than_once(
    toolkit: Path, kernels: Path, rounds: int
) -> None:
    output = run_in_process(INTERRUPTED, toolkit, kernels, rounds, AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000")
    assert output == "done\n"


@pytest.mark.parametrize(
    ("cxx", "kernel", "line_text"),
    [
        ("g++", "set_twice", "SetFlag<HardEvent::MTE2_V>(0);"),
        ("g++", "wild_pointer", "(volatile __gm__ uint32_t*)address = 1"),
        ("clang++", "wild_pointer", "(volatile __gm__ uint32_t*)address = 1"),
    ],
)
def test_reports_name_the_authors_line(
    compiler: KernelCompiler, tmp_path: Path, acl: Acl, *, cxx: str, kernel: str, line_text: str
) -> None:
    source = tmp_path / "kernels.asc"
    lines = (Path(__file__).parents[1] / "kernels.asc").read_text().splitlines(keepends=True)
    source.write_text("".join(lines))
    with_cxx = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    with acl.device(0):
        binary = acl.load(with_cxx.build(source, "-g"))
        acl.ok(acl.launch(acl.function(binary, kernel), 1, pack("Q", 0x10)))
        assert acl.synchronize() == EXCEPTION
        place = re.search(r"at [\w+]+ \((\S+):(\d+)\)", message := acl.message())
        assert place is not None, message
        assert place[1] == str(source)
        assert line_text in "".join(lines[int(place[2]) - 1 : int(place[2]) + 1]), message
