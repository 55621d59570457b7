"""Codes and rules of the ACL calls, as the reference of the runtime states them."""

from __future__ import annotations

import ctypes
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import aivops
import numpy as np
import pytest
from emulator.acl_api import Acl, LaunchAttribute, LaunchConfig, PlaceHolder, pack

INVALID_PARAM, REPEAT_INITIALIZE, INVALID_FILE, REPEAT_FINALIZE = 100000, 100002, 100003, 100037
PARAM_INVALID, INVALID_DEVICE, CONTEXT_NULL, STREAM_CONTEXT, INVALID_HANDLE = (
    107000,
    107001,
    107002,
    107003,
    107017,
)
NOT_SUPPORTED, OUT_OF_MEMORY = 207000, 207001


@pytest.fixture(name="device")
def current_device(acl: Acl) -> Iterator[None]:
    with acl.device(0):
        yield
    acl.message()
    acl.aclrtGetLastError(0)


def test_aivops_works_in_the_same_process(acl: Acl) -> None:
    """Whichever comes first: with one worker all subjects' tests are one process."""
    with acl.device(0):
        assert aivops.Buffer.from_host(aivops.Device(0), np.arange(3)).to_numpy().tolist() == [0, 1, 2]


def in_new_thread(function: object) -> object:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(function()))  # type: ignore[operator]
    thread.start()
    thread.join()
    return results[0]


def test_initialisation_is_counted(acl: Acl) -> None:
    assert [acl.aclInit(None) for _ in range(3)] == [0, REPEAT_INITIALIZE, REPEAT_INITIALIZE]
    left = ctypes.c_uint64()
    assert acl.aclFinalizeReference(ctypes.byref(left)) == 0
    assert left.value == 2
    assert acl.aclFinalize() == 0
    assert acl.aclFinalize() == REPEAT_FINALIZE


def test_a_configuration_must_be_a_file(acl: Acl, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.json"):
        assert acl.aclInit(str(path).encode()) == INVALID_FILE
        assert f"{path}: cannot be read" in acl.message()


def test_devices_are_counted_and_belong_to_threads(acl: Acl) -> None:
    device = ctypes.c_int32(-1)
    assert in_new_thread(lambda: acl.aclrtGetDevice(ctypes.byref(device))) == CONTEXT_NULL
    assert acl.aclrtSetDevice(8) == INVALID_DEVICE
    assert acl.aclrtSetDevice(-1) == INVALID_DEVICE
    acl.ok(acl.aclrtSetDevice(1))
    acl.ok(acl.aclrtSetDevice(1))
    acl.ok(acl.aclrtResetDevice(1))
    assert acl.aclrtGetDevice(ctypes.byref(device)) == 0
    assert device.value == 1
    acl.ok(acl.aclrtResetDevice(1))
    assert acl.aclrtGetDevice(ctypes.byref(device)) == CONTEXT_NULL


@pytest.mark.usefixtures("device")
def test_contexts_and_streams(acl: Acl, kernels: Path) -> None:
    context, own = ctypes.c_void_p(), ctypes.c_void_p()
    acl.ok(acl.aclrtGetCurrentContext(ctypes.byref(own)))
    stream = acl.create_stream()
    acl.ok(acl.aclrtCreateContext(ctypes.byref(context), 0))
    function = acl.function(acl.load(kernels), "empty")
    assert acl.launch(function, 1, pack("Q", 0), stream) == STREAM_CONTEXT
    acl.ok(acl.synchronize(stream))  # a stream of another context may be waited for
    acl.ok(acl.aclrtDestroyContext(context))
    assert acl.aclrtDestroyContext(context) == INVALID_HANDLE
    acl.ok(acl.aclrtSetCurrentContext(own))
    acl.ok(acl.launch(function, 1, pack("Q", 0), stream))
    acl.ok(acl.aclrtDestroyStream(stream))
    assert acl.launch(function, 1, pack("Q", 0), stream) == INVALID_HANDLE
    assert acl.aclrtDestroyContext(own) == PARAM_INVALID


@pytest.mark.usefixtures("device")
def test_memory_rules(acl: Acl) -> None:
    pointer = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(0), 0) == INVALID_PARAM
    assert acl.aclrtMalloc(None, ctypes.c_size_t(1), 0) == INVALID_PARAM
    assert acl.aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 50), 0) == OUT_OF_MEMORY
    assert "has no 1125899906842624 bytes left" in acl.message()
    assert acl.aclrtFree(None) == INVALID_PARAM
    sizes = [1, 31, 32, 4096, 1 << 20]
    blocks = [acl.malloc(size) for size in sizes]
    assert all(block % 64 == 0 for block in blocks)
    assert len(set(acl.read(blocks[4], 4096))) == 1
    assert acl.read(blocks[4], 1) != b"\0"
    assert acl.aclrtMemcpy(ctypes.c_void_p(blocks[0]), 1, b"xx", 2, 1) == PARAM_INVALID
    assert acl.aclrtMemcpy(None, 0, None, 0, 1) == 0
    assert acl.aclrtMemcpy(ctypes.c_void_p(blocks[0]), 1, b"x", 1, 6) == INVALID_PARAM
    assert acl.aclrtMemcpy(ctypes.c_void_p(blocks[0]), 1, b"x", 1, 2) == PARAM_INVALID
    acl.ok(acl.aclrtMemset(ctypes.c_void_p(blocks[3]), ctypes.c_size_t(4096), 0x5A, ctypes.c_size_t(4095)))
    assert acl.read(blocks[3], 4096)[-2:] == b"\x5a" + bytes([acl.read(blocks[3], 4096)[-1]])
    for block in blocks:
        acl.free(block)
    assert acl.aclrtFree(ctypes.c_void_p(blocks[0])) == PARAM_INVALID
    assert "in freed memory" in acl.message()


@pytest.mark.usefixtures("device")
def test_memory_comes_back(acl: Acl) -> None:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    acl.ok(acl.aclrtGetMemInfo(1, ctypes.byref(free), ctypes.byref(total)))
    before = free.value
    half = before // 2
    for _ in range(5):
        block = acl.malloc(half)
        pointer = ctypes.c_void_p()
        size = ctypes.c_size_t(half + (1 << 20))
        assert acl.aclrtMalloc(ctypes.byref(pointer), size, 0) == OUT_OF_MEMORY
        acl.free(block)
    acl.ok(acl.aclrtGetMemInfo(1, ctypes.byref(free), ctypes.byref(total)))
    assert free.value == before


def damaged(good: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "text": b"not an ELF file at all, but longer than a header of sixty-four bytes is",
        "short": good[:63],
        "cut": good[: len(good) // 2],
        "32-bit": good[:4] + b"\x01" + good[5:],
        "other machine": good[:18] + (0x1029).to_bytes(2, "little") + good[20:],
        "no sections": good[:60] + bytes(2) + good[62:],
        "other contract": good.replace(b"AIVEMU\0\0\1\0\0\0", b"AIVEMU\0\0\7\0\0\0"),
    }


@pytest.mark.usefixtures("device")
def test_every_bad_binary_is_107000_with_a_reason(acl: Acl, kernels: Path, tmp_path: Path) -> None:
    binary = ctypes.c_void_p()
    reasons = {
        "empty": "is empty",
        "text": "not an ELF file",
        "short": "not an ELF file",
        "cut": "ends inside",
        "32-bit": "64-bit",
        "other machine": "machine 4137",
        "no sections": "section headers",
        "other contract": "version 7 of the emulator's contract; this emulator runs version 1",
    }
    for name, content in damaged(kernels.read_bytes()).items():
        path = tmp_path / "bad.o"
        path.write_bytes(content)
        assert acl.aclrtBinaryLoadFromFile(str(path).encode(), None, ctypes.byref(binary)) == PARAM_INVALID
        message = acl.message()
        assert str(path) in message, name
        assert reasons[name] in message, message
    assert acl.aclrtBinaryLoadFromFile(str(tmp_path).encode(), None, ctypes.byref(binary)) == PARAM_INVALID
    assert f"{tmp_path}: not a regular file" in acl.message()
    assert acl.aclrtBinaryLoadFromFile(b"/nowhere", None, ctypes.byref(binary)) == PARAM_INVALID
    assert acl.aclrtBinaryLoadFromFile(None, None, ctypes.byref(binary)) == INVALID_PARAM


@pytest.mark.usefixtures("device")
def test_registration_is_per_device_and_ends_with_a_reset(acl: Acl, kernels: Path) -> None:
    with acl.device(1):
        acl.set_device(0)
        binary = acl.load(kernels)
        function = acl.function(binary, "empty")
        acl.ok(acl.launch(function, 1, pack("Q", 0)))
        acl.ok(acl.aclrtResetDevice(0))
        acl.set_device(1)
        assert acl.launch(function, 1, pack("Q", 0)) == INVALID_HANDLE
        assert "not registered on device 1" in acl.message()
        assert acl.function(binary, "empty").value == function.value
        acl.ok(acl.launch(function, 1, pack("Q", 0)))
        acl.ok(acl.synchronize())
        for _ in range(2):  # it was set twice
            acl.ok(acl.aclrtResetDevice(1))
        acl.set_device(1)
        assert acl.launch(function, 1, pack("Q", 0)) == INVALID_HANDLE
    acl.set_device(0)
    unknown = ctypes.c_void_p(1)
    assert acl.aclrtBinaryGetFunction(binary, b"nothing", ctypes.byref(unknown)) == PARAM_INVALID
    assert unknown.value is None
    assert "it has: copy, count_launches, empty" in acl.message()
    acl.ok(acl.aclrtBinaryUnLoad(binary))
    assert acl.launch(function, 1, pack("Q", 0)) == INVALID_HANDLE
    assert acl.aclrtBinaryUnLoad(binary) == INVALID_HANDLE


@pytest.mark.usefixtures("device")
def test_launch_checks_in_their_order(acl: Acl, kernels: Path) -> None:
    function = acl.function(acl.load(kernels), "empty")
    host_args = acl.aclrtLaunchKernelWithHostArgs
    block = ctypes.create_string_buffer(16)
    size = ctypes.c_size_t
    assert host_args(None, 0, None, None, block, size(0), None, size(0)) == INVALID_PARAM
    assert host_args(function, 0, None, None, None, size(0), None, size(0)) == INVALID_PARAM
    assert host_args(ctypes.c_void_p(64), 0, None, None, block, size(0), None, size(0)) == INVALID_HANDLE
    assert host_args(function, 1, ctypes.c_void_p(64), None, block, size(8), None, size(0)) == INVALID_HANDLE
    assert host_args(function, 1, None, None, block, size(0), None, size(0)) == PARAM_INVALID
    assert host_args(function, 0, None, None, block, size(8), None, size(0)) == PARAM_INVALID
    assert host_args(function, 1, None, None, block, size(8), None, size(1)) == PARAM_INVALID
    for addr, data in ((16, 0), (0, 16), (9, 0)):
        holder = PlaceHolder(addr, data)
        assert (
            host_args(function, 1, None, None, block, size(16), ctypes.byref(holder), size(1))
            == PARAM_INVALID
        )
    code = in_new_thread(lambda: acl.launch(function, 1, pack("Q", 0)))
    assert code == CONTEXT_NULL


def attributes(*entries: tuple[int, int]) -> LaunchConfig:
    array = (LaunchAttribute * max(len(entries), 1))()
    for slot, (id_, value) in zip(array, entries, strict=False):
        slot.id, slot.value[0] = id_, value
    return LaunchConfig(array, len(entries))


@pytest.mark.usefixtures("device")
def test_attribute_rules(acl: Acl, kernels: Path) -> None:
    function = acl.function(acl.load(kernels), "empty")

    def launch(cfg: LaunchConfig) -> int:
        block = ctypes.create_string_buffer(8)
        size = ctypes.c_size_t
        code: int = acl.aclrtLaunchKernelWithHostArgs(
            function, 1, None, ctypes.byref(cfg), block, size(8), None, size(0)
        )
        return code

    assert launch(LaunchConfig(None, 0)) == PARAM_INVALID
    assert launch(attributes()) == 0
    assert launch(attributes((1, 2))) == PARAM_INVALID
    assert launch(attributes((1, 1), (1, 0))) == 0
    assert launch(attributes((99, 0))) == PARAM_INVALID
    assert launch(attributes((7, 1), (8, 1))) == PARAM_INVALID
    assert launch(attributes((3, 77))) == 0  # the engine type is never checked
    assert launch(attributes((2, 64))) == PARAM_INVALID
    for id_ in (5, 6, 9):
        assert launch(attributes((id_, 1))) == 0
        assert launch(attributes((id_, 2))) == PARAM_INVALID
    acl.ok(acl.synchronize())


@pytest.mark.usefixtures("device")
def test_the_last_of_equal_attributes_wins(acl: Acl, kernels: Path) -> None:
    function = acl.function(acl.load(kernels), "empty")
    stream = acl.create_stream()
    block, size = ctypes.create_string_buffer(8), ctypes.c_size_t
    for modes, batch in (((1, 0), False), ((0, 1), True)):
        cfg = attributes(*((1, mode) for mode in modes))
        acl.message()
        acl.ok(
            acl.aclrtLaunchKernelWithHostArgs(
                function, 49, stream, ctypes.byref(cfg), block, size(8), None, size(0)
            )
        )
        assert ("49 blocks in batch mode can never start" in acl.message()) == batch
        if batch:
            acl.ok(acl.aclrtStreamAbort(stream))
        acl.ok(acl.synchronize(stream))


@pytest.mark.usefixtures("device")
def test_placeholders_are_patched_in_the_callers_buffer(acl: Acl, kernels: Path) -> None:
    target = acl.malloc(64)
    function = acl.function(acl.load(kernels), "copy")
    block = ctypes.create_string_buffer(pack("QQI4x", target, 0, 64) + b"d" * 64, 24 + 64)
    holder = PlaceHolder(8, 24)
    size = ctypes.c_size_t
    acl.ok(
        acl.aclrtLaunchKernelWithHostArgs(
            function, 1, None, None, block, size(len(block)), ctypes.byref(holder), size(1)
        )
    )
    assert int.from_bytes(block.raw[8:16], "little") != 0
    acl.ok(acl.synchronize())
    assert acl.read(target, 64) == b"d" * 64


@pytest.mark.usefixtures("device")
def test_argument_handles(acl: Acl, kernels: Path) -> None:
    binary = acl.load(kernels)
    target = acl.malloc(64)
    function = acl.function(binary, "copy")
    handle, again, parameter = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    size = ctypes.c_size_t
    acl.ok(acl.aclrtKernelArgsInit(function, ctypes.byref(handle)))
    acl.ok(acl.aclrtKernelArgsInit(function, ctypes.byref(again)))
    assert handle.value == again.value
    acl.ok(acl.aclrtKernelArgsAppend(handle, pack("Q", target), size(8), ctypes.byref(parameter)))
    acl.ok(acl.aclrtKernelArgsAppendPlaceHolder(handle, ctypes.byref(parameter)))
    last, buffer = ctypes.c_void_p(), ctypes.c_void_p()
    acl.ok(acl.aclrtKernelArgsAppend(handle, pack("I", 64), size(4), ctypes.byref(last)))
    acl.ok(acl.aclrtKernelArgsGetPlaceHolderBuffer(handle, parameter, size(64), ctypes.byref(buffer)))
    ctypes.memmove(buffer, b"h" * 64, 64)
    assert acl.aclrtKernelArgsAppend(handle, b"x", size(1), ctypes.byref(last)) == NOT_SUPPORTED
    assert acl.aclrtLaunchKernelWithConfig(function, 1, None, None, handle, None) == PARAM_INVALID
    acl.ok(acl.aclrtKernelArgsFinalize(handle))
    assert acl.aclrtLaunchKernelWithConfig(function, 0, None, None, handle, None) == INVALID_PARAM
    assert acl.aclrtLaunchKernelWithConfig(function, 1, None, None, handle, handle) == INVALID_PARAM
    acl.ok(acl.aclrtLaunchKernelWithConfig(function, 1, None, None, handle, None))
    acl.ok(acl.synchronize())
    assert acl.read(target, 64) == b"h" * 64


@pytest.mark.usefixtures("device")
def test_argument_arrays_and_device_arguments(acl: Acl, kernels: Path) -> None:
    binary = acl.load(kernels)
    source, target = acl.malloc(64), acl.malloc(64)
    acl.write(source, b"a" * 64)
    function = acl.function(binary, "copy")
    values = [ctypes.c_uint64(target), ctypes.c_uint64(source), ctypes.c_uint32(64)]
    array = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    acl.ok(acl.aclrtLaunchKernelWithArgsArray(function, 1, None, None, array))
    acl.ok(acl.synchronize())
    assert acl.read(target, 64) == b"a" * 64
    acl.write(source, b"b" * 64)
    arguments = acl.malloc(24)
    acl.write(arguments, pack("QQI4x", target, source, 64))
    acl.ok(acl.aclrtLaunchKernel(function, 1, ctypes.c_void_p(arguments), ctypes.c_size_t(24), None))
    acl.ok(acl.synchronize())
    assert acl.read(target, 64) == b"b" * 64
    block = ctypes.create_string_buffer(24)
    assert acl.aclrtLaunchKernel(function, 1, block, ctypes.c_size_t(24), None) == PARAM_INVALID


@pytest.mark.usefixtures("device")
def test_what_hardware_does_silently_is_said_aloud(acl: Acl, kernels: Path) -> None:
    function = acl.function(acl.load(kernels), "empty")
    acl.message()
    acl.ok(acl.launch(function, 65537, pack("Q", 0)))
    assert "65537 blocks are cut to 16 bits: 1" in acl.message()
    acl.ok(acl.launch(function, 1, b"x"))
    assert "takes 8 bytes of arguments and gets 1" in acl.message()
    acl.ok(acl.synchronize())


@pytest.mark.usefixtures("device")
def test_core_limits(acl: Acl) -> None:
    value = ctypes.c_uint32()

    def in_thread() -> int:
        acl.ok(acl.aclrtGetResInCurrentThread(1, ctypes.byref(value)))
        return value.value

    assert in_thread() == 48
    stream = acl.create_stream()
    acl.ok(acl.aclrtSetStreamResLimit(stream, 1, 12))
    assert in_thread() == 48
    acl.ok(acl.aclrtUseStreamResInCurrentThread(stream))
    assert in_thread() == 12
    acl.ok(acl.aclrtGetStreamResLimit(stream, 1, ctypes.byref(value)))
    assert value.value == 12
    acl.ok(acl.aclrtResetStreamResLimit(stream))
    assert in_thread() == 48
    acl.ok(acl.aclrtUnuseStreamResInCurrentThread(stream))
    acl.ok(acl.aclrtSetDeviceResLimit(0, 1, 0))
    assert in_thread() == 0
    acl.ok(acl.aclrtGetDeviceResLimit(0, 1, ctypes.byref(value)))
    assert value.value == 0
    acl.ok(acl.aclrtResetDeviceResLimit(0))
    assert in_thread() == 48
    assert acl.aclrtSetDeviceResLimit(0, 1, 49) == PARAM_INVALID
    assert acl.aclrtGetResInCurrentThread(2, ctypes.byref(value)) == PARAM_INVALID
    assert acl.aclrtGetResInCurrentThread(1, None) == INVALID_PARAM
    assert in_new_thread(lambda: acl.aclrtGetResInCurrentThread(1, ctypes.byref(value))) == CONTEXT_NULL


@pytest.mark.usefixtures("device")
def test_events_order_streams_and_tell_time(acl: Acl, kernels: Path) -> None:
    binary = acl.load(kernels)
    first, second = acl.create_stream(), acl.create_stream()
    flag, told = acl.malloc(32), acl.malloc(32)
    acl.write(flag, bytes(32))
    acl.write(told, bytes(32))
    events = [ctypes.c_void_p() for _ in range(2)]
    for event in events:
        acl.ok(acl.aclrtCreateEvent(ctypes.byref(event)))
    relay = acl.function(binary, "relay")
    acl.ok(acl.aclrtRecordEvent(events[0], first))
    acl.ok(acl.launch(relay, 1, pack("QQII", flag, told, 1, 2), first))
    acl.ok(acl.aclrtRecordEvent(events[1], first))
    acl.ok(acl.aclrtStreamWaitEvent(second, events[1]))
    acl.ok(acl.launch(relay, 1, pack("QQII", told, told, 2, 3), second))
    status = ctypes.c_int()
    acl.ok(acl.aclrtQueryEventStatus(events[1], ctypes.byref(status)))
    assert status.value == 0
    assert acl.aclrtSynchronizeEventWithTimeout(events[1], 5) == 507047
    acl.write(flag, (1).to_bytes(4, "little") + bytes(28))
    acl.ok(acl.synchronize(second))
    assert acl.read(told, 1) == b"\3"
    acl.ok(acl.aclrtQueryEventStatus(events[1], ctypes.byref(status)))
    assert status.value == 1
    elapsed = ctypes.c_float()
    acl.ok(acl.aclrtEventElapsedTime(ctypes.byref(elapsed), *events))
    assert 5 <= elapsed.value < 5000
    for event in events:
        acl.ok(acl.aclrtDestroyEvent(event))
    assert acl.aclrtDestroyEvent(events[0]) == INVALID_HANDLE


@pytest.mark.usefixtures("device")
def test_stop_on_failure_drops_what_follows(acl: Acl, kernels: Path) -> None:
    context = ctypes.c_void_p()
    acl.ok(acl.aclrtCreateContext(ctypes.byref(context), 0))
    binary = acl.load(kernels)
    target = acl.malloc(4)
    acl.write(target, bytes(4))
    stream = acl.create_stream()
    acl.ok(acl.aclrtSetStreamFailureMode(stream, 1))
    assert acl.aclrtSetStreamFailureMode(stream, 0) == PARAM_INVALID
    acl.ok(acl.launch(acl.function(binary, "trap_here"), 1, pack("Q", 0), stream))
    acl.ok(acl.launch(acl.function(binary, "count_launches"), 1, pack("Q", target), stream))
    assert [acl.synchronize(stream) for _ in range(3)] == [507036] * 3
    assert acl.read(target, 4) == bytes(4)
    acl.ok(acl.aclrtDestroyContext(context))


@pytest.mark.usefixtures("device")
def test_exception_callbacks_know_the_task(acl: Acl, kernels: Path) -> None:
    binary = acl.load(kernels)
    function = acl.function(binary, "trap_here")
    seen: list[tuple[int, ...]] = []

    def on_exception(info: int) -> None:
        found = ctypes.c_void_p()
        acl.aclrtGetFuncHandleFromExceptionInfo(ctypes.c_void_p(info), ctypes.byref(found))
        seen.append(
            (
                acl.aclrtGetTaskIdFromExceptionInfo(ctypes.c_void_p(info)),
                acl.aclrtGetDeviceIdFromExceptionInfo(ctypes.c_void_p(info)),
                acl.aclrtGetErrorCodeFromExceptionInfo(ctypes.c_void_p(info)),
                found.value or 0,
            )
        )

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(on_exception)
    assert acl.aclrtExceptionInfoCallbackRegister(None) == PARAM_INVALID
    acl.ok(acl.aclrtExceptionInfoCallbackRegister(callback))
    acl.ok(acl.launch(function, 1, pack("Q", 0)))
    task = ctypes.c_uint32()
    acl.ok(acl.aclrtGetThreadLastTaskId(ctypes.byref(task)))
    assert acl.synchronize() == 507036
    acl.ok(acl.aclrtExceptionInfoCallbackUnregister(callback))
    assert seen == [(task.value, 0, 507036, function.value)]


@pytest.mark.usefixtures("device")
def test_a_failure_is_told_once_its_callbacks_are_done(acl: Acl, kernels: Path) -> None:
    """Also when another thread ran the kernel, and is in the callback now, where the stream's context is the current one."""
    function = acl.function(acl.load(kernels), "trap_here")
    begun = threading.Event()
    seen: list[str] = []
    launched_in, called_in = ctypes.c_void_p(), ctypes.c_void_p()
    acl.ok(acl.aclrtGetCurrentContext(ctypes.byref(launched_in)))

    def on_exception(_: int) -> None:
        begun.set()
        acl.ok(acl.aclrtGetCurrentContext(ctypes.byref(called_in)))
        time.sleep(0.3)
        seen.append("done")

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(on_exception)
    acl.ok(acl.aclrtExceptionInfoCallbackRegister(callback))
    acl.ok(acl.launch(function, 1, pack("Q", 0)))
    assert begun.wait(60)
    assert acl.synchronize() == 507036
    assert seen == ["done"]
    assert called_in.value == launched_in.value
    acl.ok(acl.aclrtExceptionInfoCallbackUnregister(callback))


@pytest.mark.usefixtures("device")
def test_a_callback_may_synchronize(acl: Acl, kernels: Path) -> None:
    function = acl.function(acl.load(kernels), "trap_here")
    seen: list[int] = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: seen.append(acl.synchronize()))
    acl.ok(acl.aclrtExceptionInfoCallbackRegister(callback))
    acl.ok(acl.launch(function, 1, pack("Q", 0)))
    codes = {acl.synchronize(), *seen}
    acl.ok(acl.aclrtExceptionInfoCallbackUnregister(callback))
    assert len(seen) == 1
    assert codes == {0, 507036}  # one of the two is told


@pytest.mark.usefixtures("device")
def test_last_error_and_messages(acl: Acl) -> None:
    acl.message()
    acl.aclrtGetLastError(0)
    assert acl.aclrtFree(None) == INVALID_PARAM
    assert acl.aclrtPeekAtLastError(0) == 0  # ACL's own checks are not recorded
    assert acl.aclrtFree(ctypes.c_void_p(64)) == PARAM_INVALID
    assert [acl.aclrtPeekAtLastError(0), acl.aclrtGetLastError(0), acl.aclrtGetLastError(0)] == [
        PARAM_INVALID
    ] * 2 + [0]
    assert acl.aclrtGetLastError(1) == INVALID_PARAM
    first, second, third = acl.message().splitlines()
    assert first.startswith("aclrtGetLastError")
    assert second.startswith("aclrtFree")
    assert third == "aclrtFree: devPtr is NULL [100000 ACL_ERROR_INVALID_PARAM]"
    assert acl.aclGetRecentErrMsg() is None


@pytest.mark.usefixtures("device")
def test_peer_access_has_a_direction(acl: Acl) -> None:
    status = ctypes.c_int32()
    assert acl.aclrtDeviceEnablePeerAccess(0, 0) == INVALID_PARAM
    assert acl.aclrtDeviceEnablePeerAccess(1, 1) == 200006
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1, 0))
    acl.ok(acl.aclrtDevicePeerAccessStatus(0, 1, ctypes.byref(status)))
    assert status.value == 1
    acl.ok(acl.aclrtDevicePeerAccessStatus(1, 0, ctypes.byref(status)))
    assert status.value == 0
    acl.ok(acl.aclrtDeviceDisablePeerAccess(1))


@pytest.mark.parametrize("library", ["libacl_rt.so", "libascendcl.so"])
def test_functions_that_are_not_provided_say_their_name(
    toolkit: Path, repository: Path, library: str
) -> None:
    opened = Acl(toolkit, library)
    source = (repository / "host/emulator/acl/not_provided.cpp").read_text()
    names = re.findall(r"^AIVOPS_NOT_PROVIDED\((\w+)\)$", source, re.MULTILINE)
    assert names
    for name in names:
        assert getattr(opened, name)() == NOT_SUPPORTED, name
        assert f"{name}: the emulated toolkit does not provide this function" in opened.message()
