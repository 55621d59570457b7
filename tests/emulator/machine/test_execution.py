"""Kernels on emulated devices: the right bytes, the right order, the right state."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from emulator.acl_api import Acl, pack
from emulator.own_process import run_in_process

pytestmark = pytest.mark.usefixtures("acl")


@pytest.mark.parametrize("blocks", [1, 7, 48, 100])
def test_every_block_copies_its_part(acl: Acl, kernels: Path, blocks: int) -> None:
    with acl.device(0):
        copy = acl.function(acl.load(kernels), "copy")
        data = np.random.default_rng(1).integers(0, 256, blocks * 999, dtype=np.uint8).tobytes()
        source, target = acl.malloc(len(data)), acl.malloc(len(data))
        acl.write(source, data)
        acl.ok(acl.launch(copy, blocks, pack("QQI", target, source, 999)))
        acl.ok(acl.synchronize())
        assert acl.read(target, len(data)) == data


def test_sync_all_orders_all_blocks(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        meet = acl.function(acl.load(kernels), "meet")
        target = acl.malloc(48 * 32)
        acl.ok(acl.launch(meet, 48, pack("Q", target), batch=1))
        acl.ok(acl.synchronize())
        words = np.frombuffer(acl.read(target, 48 * 32), np.uint32)[::8]
        assert words.tolist() == [*range(2, 49), 1]


def test_blocks_of_two_devices_meet_through_flags(acl: Acl, kernels: Path) -> None:
    """One thread launches on both devices and then waits for the one whose kernel waits for the other's."""
    with acl.device(0), acl.device(1):
        binary = acl.load(kernels)
        flags = {}
        for device in (0, 1):
            acl.set_device(device)
            flags[device] = acl.malloc(32)
            acl.write(flags[device], bytes(32))
            acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
        acl.set_device(0)
        acl.ok(acl.launch(acl.function(binary, "relay"), 1, pack("QQII", flags[0], flags[1], 2, 3)))
        acl.set_device(1)
        relay = acl.function(binary, "relay")
        acl.ok(acl.launch(relay, 1, pack("QQII", flags[1], flags[1], 0, 1)))
        acl.ok(acl.launch(relay, 1, pack("QQII", flags[1], flags[0], 1, 2)))
        acl.set_device(0)
        acl.ok(acl.synchronize())
        acl.set_device(1)
        acl.ok(acl.synchronize())
        assert np.frombuffer(acl.read(flags[1], 4), np.uint32)[0] == 3
        for device in (0, 1):
            acl.set_device(device)
            acl.ok(acl.aclrtDeviceDisablePeerAccess(1 - device))
            acl.ok(acl.aclrtResetDevice(device))


def test_work_gets_done_without_anyone_waiting(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        copy = acl.function(acl.load(kernels), "copy")
        source, target = acl.malloc(64), acl.malloc(64)
        acl.write(source, b"x" * 64)
        acl.write(target, bytes(64))
        acl.ok(acl.launch(copy, 1, pack("QQI", target, source, 64)))
        for _ in range(1000):
            if acl.read(target, 64) == b"x" * 64:
                break
            ctypes.CDLL(None).usleep(1000)
        assert acl.read(target, 64) == b"x" * 64
        acl.ok(acl.synchronize())


def test_atomic_copies_of_all_blocks_add_up(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        target = acl.malloc(32)
        acl.write(target, bytes(32))
        acl.ok(acl.launch(acl.function(acl.load(kernels), "sum"), 48, pack("QI", target, 0)))
        acl.ok(acl.synchronize())
        assert np.frombuffer(acl.read(target, 32), np.int32).tolist() == [48] * 8


def test_kernel_globals_are_per_device(acl: Acl, kernels: Path) -> None:
    with acl.device(0), acl.device(1):
        binary = acl.load(kernels)
        seen = []
        for device in (0, 1, 0):
            acl.set_device(device)
            target = acl.malloc(4)
            acl.ok(acl.launch(acl.function(binary, "count_launches"), 1, pack("Q", target)))
            acl.ok(acl.synchronize())
            seen.append(int.from_bytes(acl.read(target, 4), "little"))
            acl.ok(acl.aclrtResetDevice(device))
        assert seen == [1, 1, 2]


def test_arguments_are_a_natural_struct(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        target = acl.malloc(16)
        function = acl.function(acl.load(kernels), "struct_by_value")
        acl.ok(acl.launch(function, 1, pack("QBQ", target, 7, 1 << 60)))
        acl.ok(acl.synchronize())
        assert np.frombuffer(acl.read(target, 16), np.uint64).tolist() == [7, 1 << 60]


def test_remote_bytes_are_counted_by_owner_and_exact(acl: Acl, kernels: Path) -> None:
    with acl.device(2), acl.device(3):
        acl.set_device(3)
        remote = acl.malloc(8 * 1000)
        acl.set_device(2)
        local = acl.malloc(8 * 1000)
        copy = acl.function(acl.load(kernels), "copy")
        acl.ok(acl.aclrtDeviceEnablePeerAccess(3, 0))
        acl.ok(acl.aivopsEmuResetCounters(2))
        for launches in (1, 2):
            acl.ok(acl.launch(copy, 8, pack("QQI", local, remote, 1000)))
            acl.ok(acl.synchronize())
            counters = acl.counters(2)
            assert counters.remote.readBytes == launches * 8000
            assert counters.local.writtenBytes == launches * 8000
            assert counters.remote.writtenBytes == counters.local.readBytes == 0
            assert (counters.launches, counters.blocks) == (launches, launches * 8)
        acl.ok(acl.aclrtDeviceDisablePeerAccess(3))


@pytest.mark.parametrize(("rows", "row_bytes"), [(1, 256), (2, 32), (4, 128)])
def test_a_wait_by_wide_reads_lets_others_run(acl: Acl, kernels: Path, rows: int, row_bytes: int) -> None:
    with acl.device(0):
        flags = acl.malloc(1024)
        acl.write(flags, bytes(1024))
        wide_poll = acl.function(acl.load(kernels), "wide_poll")
        acl.ok(acl.launch(wide_poll, 2, pack("QII", flags, rows, row_bytes)))
        acl.ok(acl.synchronize())
        assert acl.read(flags, 4) == b"\x01\0\0\0"


HELD = """
import sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from emulator.own_process import run_in_process
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
flags = acl.malloc(1024)
acl.write(flags, bytes(1024))
poll = acl.function(acl.load(Path(sys.argv[3])), sys.argv[4])
acl.ok(acl.launch(poll, 2, pack("QII", flags, *map(int, sys.argv[5:])), batch=1, timeout_us=500000))
acl.ok(acl.synchronize())
print(acl.read(flags, 4).hex())
"""


@pytest.mark.parametrize("arguments", [("wide_poll", 2, 256), ("line_poll", 1, 8)])
@pytest.mark.parametrize("held", range(1, 6))
def test_a_wait_ends_what_a_sweep_holds_back(
    toolkit: Path, kernels: Path, held: int, arguments: tuple[object, ...]
) -> None:
    """Instructions of the kernel, in the order in which its blocks come to them: one of them is the store."""
    settings = {"AIVOPS_EMU_CHECK": "late", "AIVOPS_EMU_DEVICES": "1", "AIVOPS_EMU_SCHEDULE": f"sweep:{held}"}
    interval = {"AIVOPS_EMU_TIMEOUT_INTERVAL_US": "50000"}
    assert run_in_process(HELD, toolkit, kernels, *arguments, **settings, **interval) == "01000000\n"


def test_polls_are_counted_apart_from_data(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        flag, told = acl.malloc(32), acl.malloc(32)
        acl.write(flag, bytes(32))
        stream = acl.create_stream()
        relay = acl.function(acl.load(kernels), "relay")
        acl.ok(acl.aivopsEmuResetCounters(0))
        acl.ok(acl.launch(relay, 1, pack("QQII", flag, told, 5, 6), stream))
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 20) == 507046
        acl.write(flag, (5).to_bytes(4, "little") + bytes(28))
        acl.ok(acl.synchronize(stream))
        local = acl.counters(0).local
        assert local.readBytes == local.smallReadBytes == 32
        assert local.polls >= 1
        assert local.pollBytes == 32 * local.polls
        assert local.writtenBytes == local.smallWrittenBytes == 32


def test_instructions_are_counted_by_name(acl: Acl, kernels: Path) -> None:
    with acl.device(0):
        binary = acl.load(kernels)
        target = acl.malloc(4 * 32)
        acl.ok(acl.aivopsEmuResetCounters(0))
        assert acl.instructions(0) == {}
        acl.ok(acl.launch(acl.function(binary, "meet"), 4, pack("Q", target), batch=1))
        acl.ok(acl.synchronize())
        assert acl.instructions(0) == {"SetValue": (8, 0, 32), "GetValue": (4, 16, 0)}
        assert acl.aivopsEmuGetInstructions(0, None, ctypes.c_size_t(2), None) == 100000
        assert (
            acl.aivopsEmuGetInstructions(99, None, ctypes.c_size_t(0), ctypes.byref(ctypes.c_size_t()))
            == 107001
        )
