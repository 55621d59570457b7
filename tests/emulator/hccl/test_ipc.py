"""Device memory shared by key: who may import it, what both ends see, and which mistakes are refused."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time
from ctypes import c_size_t, c_uint64
from pathlib import Path

import numpy as np
import pytest
from emulator.hccl.ranks import run_ranks
from emulator.hccl.toolkit import CallError, Rank, call

MODULE = "emulator.hccl.test_ipc"
KEY_BYTES = 65
NO_PID_CHECK = 1
PARAM_INVALID = 107000
INVALID_PARAM = 100000
CONTEXT_NULL = 107002


def export(memory: ctypes.c_void_p, size: int, flags: int = 0) -> bytes:
    key = ctypes.create_string_buffer(KEY_BYTES)
    call("aclrtIpcMemGetExportKey", memory, c_size_t(size), key, c_size_t(KEY_BYTES), c_uint64(flags))
    return key.value


def import_key(key: bytes, flags: int = 1) -> ctypes.c_void_p:
    memory = ctypes.c_void_p()
    call("aclrtIpcMemImportByKey", ctypes.byref(memory), key, c_uint64(flags))
    return memory


def tell(name: str, content: bytes) -> None:
    """Leave a note for the other rank."""
    path = Path(os.environ["AIVOPS_TEST_FOLDER"]) / name
    path.with_suffix(".new").write_bytes(content)
    path.with_suffix(".new").rename(path)


def hear(name: str) -> bytes:
    path = Path(os.environ["AIVOPS_TEST_FOLDER"]) / name
    while not path.exists():
        time.sleep(0.002)
    return path.read_bytes()


def bare_tgid() -> int:
    pid = ctypes.c_int32()
    call("aclrtDeviceGetBareTgid", ctypes.byref(pid))
    return pid.value


def view(memory: ctypes.c_void_p, count: int) -> np.ndarray:
    """Emulated device memory as the process has it mapped."""
    assert memory.value is not None
    return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(memory.value))


def white_list(rank: Rank) -> None:
    content = np.arange(100000, dtype=np.uint32).view(np.uint8)
    if rank.rank == 0:
        memory = rank.upload(content)
        key = export(memory, content.nbytes)
        assert len(key) == KEY_BYTES - 1
        tell("key", key)
        pid = int(hear("pid"))
        hear("refused")
        call("aclrtIpcMemSetImportPid", key, (ctypes.c_int32 * 1)(pid), c_size_t(1))
        tell("allowed", b"")
        hear("written")
        assert view(memory, 4).tolist() == [1, 2, 3, 4]
        hear("closed")
        call("aclrtIpcMemClose", key)
        tell("withdrawn", b"")
        call("aclrtFree", memory)
    else:
        key = hear("key")
        with pytest.raises(CallError, match="does not allow process") as error:
            import_key(key)
        assert error.value.code == PARAM_INVALID
        tell("pid", str(bare_tgid()).encode())
        tell("refused", b"")
        hear("allowed")
        first, second = import_key(key), import_key(key, flags=0)
        assert first.value != second.value
        assert view(first, content.nbytes).tobytes() == content.tobytes()
        view(first, 4)[:] = [1, 2, 3, 4]
        assert view(second, 4).tolist() == [1, 2, 3, 4]
        tell("written", b"")
        # One mapping per call, the oldest first.
        call("aclrtIpcMemClose", key)
        assert view(second, 4).tolist() == [1, 2, 3, 4]
        call("aclrtIpcMemClose", key)
        tell("closed", b"")
        hear("withdrawn")
        with pytest.raises(CallError, match="neither exported nor imported"):
            call("aclrtIpcMemClose", key)
        with pytest.raises(CallError, match="offers no memory under this key"):
            import_key(key)


def test_only_processes_on_the_list_import(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:white_list", 2, tmp_path, AIVOPS_TEST_FOLDER=str(tmp_path))


def part_of_an_allocation(rank: Rank) -> None:
    if rank.rank == 0:
        memory = rank.upload(np.arange(20000, dtype=np.uint8))
        inside = ctypes.c_void_p((memory.value or 0) + 5001)
        tell("key", export(inside, 3000, NO_PID_CHECK))
        hear("done")
    else:
        memory = import_key(hear("key"))
        assert view(memory, 3000).tolist() == [(5001 + i) % 256 for i in range(3000)]
        tell("done", b"")


def test_a_part_is_what_the_importer_gets(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:part_of_an_allocation", 2, tmp_path, AIVOPS_TEST_FOLDER=str(tmp_path))


def own_key(rank: Rank) -> None:
    memory = rank.upload(np.arange(64, dtype=np.uint8))
    key = export(memory, 64)
    assert import_key(key).value == memory.value
    call("aclrtIpcMemClose", key)
    call("aclrtIpcMemClose", key)
    with pytest.raises(CallError, match="neither exported nor imported"):
        call("aclrtIpcMemClose", key)


def test_a_process_imports_its_own_memory_where_it_is(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:own_key", 1, tmp_path)


def refused(code: int, name: str, *arguments: object) -> None:
    with pytest.raises(CallError) as error:
        call(name, *arguments)
    assert error.value.code == code, error.value


def mistakes(rank: Rank) -> None:
    memory = rank.allocate(4096)
    outside = (ctypes.c_uint8 * 64)()
    buffer = ctypes.create_string_buffer(KEY_BYTES)
    target = ctypes.byref(ctypes.c_void_p())
    size, length, zero = c_size_t(4096), c_size_t(KEY_BYTES), c_uint64(0)
    export_call, import_call = "aclrtIpcMemGetExportKey", "aclrtIpcMemImportByKey"
    refused(INVALID_PARAM, export_call, None, size, buffer, length, zero)
    refused(INVALID_PARAM, export_call, memory, size, None, length, zero)
    refused(PARAM_INVALID, export_call, memory, size, buffer, c_size_t(64), zero)
    refused(PARAM_INVALID, export_call, memory, size, buffer, length, c_uint64(2))
    refused(PARAM_INVALID, export_call, memory, c_size_t(1 << 20), buffer, length, zero)
    refused(PARAM_INVALID, export_call, memory, c_size_t(0), buffer, length, zero)
    refused(PARAM_INVALID, export_call, ctypes.byref(outside), c_size_t(64), buffer, length, zero)
    key = export(memory, 4096)
    pids = (ctypes.c_int32 * 1)(1)
    refused(PARAM_INVALID, "aclrtIpcMemSetImportPid", key, pids, c_size_t(0))
    refused(INVALID_PARAM, "aclrtIpcMemSetImportPid", key, None, c_size_t(1))
    refused(PARAM_INVALID, "aclrtIpcMemSetImportPid", b"0" * 64, pids, c_size_t(1))
    refused(INVALID_PARAM, import_call, None, key, zero)
    refused(INVALID_PARAM, import_call, target, None, zero)
    refused(PARAM_INVALID, import_call, target, key, c_uint64(2))
    refused(PARAM_INVALID, import_call, target, b"", zero)
    refused(PARAM_INVALID, import_call, target, b"x" * 64, zero)
    refused(PARAM_INVALID, import_call, target, b"0" * 64, zero)
    # The right socket and a wrong secret.
    refused(PARAM_INVALID, import_call, target, key[:32] + b"0" * 32, zero)
    refused(INVALID_PARAM, "aclrtIpcMemClose", None)
    failed = []

    def without_context() -> None:
        try:
            refused(CONTEXT_NULL, import_call, target, key, zero)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=without_context)
    thread.start()
    thread.join()
    assert not failed


def test_mistakes_have_the_documented_codes(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:mistakes", 1, tmp_path)


def leaves_early(rank: Rank) -> None:
    """Rank 0 imports from two: one closes what it shares and ends, the other takes its time."""
    if rank.rank == 0:
        binary, function = ctypes.c_void_p(), ctypes.c_void_p()
        call(
            "aclrtBinaryLoadFromFile", os.environ["AIVOPS_TEST_KERNELS"].encode(), None, ctypes.byref(binary)
        )
        call("aclrtBinaryGetFunction", binary, b"relay", ctypes.byref(function))
        flags = [import_key(hear(f"key{peer}")) for peer in (1, 2)]
        own = rank.upload(np.zeros(32, np.uint8))
        tell("imported", b"")
        arguments = struct.pack("<QQII", flags[1].value or 0, own.value or 0, 7, 8)
        call(
            "aclrtLaunchKernelWithHostArgs",
            function,
            1,
            rank.stream,
            None,
            arguments,
            c_size_t(24),
            None,
            c_size_t(0),
        )
        rank.synchronize()
        tell("done", b"")
    else:
        memory = rank.upload(np.zeros(64, np.uint8))
        key = export(memory, 64, NO_PID_CHECK)
        tell(f"key{rank.rank}", key)
        hear("imported")
        if rank.rank == 1:
            call("aclrtIpcMemClose", key)
            os._exit(0)
        time.sleep(1.5)
        view(memory, 4)[:] = [7, 0, 0, 0]
        hear("done")


def test_a_process_that_closed_what_it_shared_may_end(kernels: Path, tmp_path: Path) -> None:
    names = {"AIVOPS_TEST_FOLDER": str(tmp_path), "AIVOPS_TEST_KERNELS": str(kernels)}
    run_ranks(f"{MODULE}:leaves_early", 3, tmp_path, **names)
