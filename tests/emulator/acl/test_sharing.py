"""Device memory shared by processes: keys, who may import, flags across processes, and peers that die."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from emulator.acl_api import Acl, pack

PARAM_INVALID, REMOTE_ERROR = 107000, 507057

# A process that owns a flag on its device, gives it away, and waits on its device for value 1, then answers with 2.
PEER = """
import ctypes, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(1)
relay = acl.function(acl.load(Path(sys.argv[3])), "relay")
flag = acl.malloc(64)
acl.write(flag, bytes(64))
key = ctypes.create_string_buffer(65)
acl.ok(acl.aclrtIpcMemGetExportKey(ctypes.c_void_p(flag), ctypes.c_size_t(64), key, ctypes.c_size_t(65),
                                   ctypes.c_uint64(int(sys.argv[4]))))
print(key.value.decode(), flush=True)
for line in sys.stdin:
    command, *values = line.split()
    if command == "allow":
        pids = (ctypes.c_int32 * 1)(int(values[0]))
        acl.ok(acl.aclrtIpcMemSetImportPid(key, pids, ctypes.c_size_t(1)))
        print("allowed", flush=True)
    elif command == "relay":
        for step in range(int(values[0])):
            acl.ok(acl.launch(relay, 1, pack("QQII", flag, flag + 32, 2 * step + 1, 2 * step + 2)))
        print(acl.synchronize(), acl.message(), flush=True)
    elif command == "end":
        break
"""

StartPeer: TypeAlias = Callable[..., tuple["subprocess.Popen[str]", bytes]]


@pytest.fixture(name="start_peer")
def peer_starter(toolkit: Path, kernels: Path) -> Iterator[StartPeer]:
    processes: list[subprocess.Popen[str]] = []

    def start(flags: int) -> tuple[subprocess.Popen[str], bytes]:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                PEER,
                str(Path(__file__).parents[2]),
                str(toolkit),
                str(kernels),
                str(flags),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process, answer(process).encode()

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], command: str) -> None:
    assert process.stdin is not None
    process.stdin.write(command + "\n")
    process.stdin.flush()


def import_key(acl: Acl, key: bytes, flags: int = 1) -> tuple[int, int]:
    pointer = ctypes.c_void_p()
    code = acl.aclrtIpcMemImportByKey(ctypes.byref(pointer), key, ctypes.c_uint64(flags))
    return code, pointer.value or 0


def test_keys_have_65_bytes_and_a_white_list(acl: Acl, start_peer: StartPeer) -> None:
    peer, key = start_peer(0)
    assert len(key) == 64
    with acl.device(0):
        assert import_key(acl, key)[0] == PARAM_INVALID
        assert f"does not allow process {os.getpid()}" in acl.message()
        pid = ctypes.c_int32()
        acl.ok(acl.aclrtDeviceGetBareTgid(ctypes.byref(pid)))
        tell(peer, f"allow {pid.value}")
        assert answer(peer) == "allowed"
        code, pointer = import_key(acl, key)
        assert (code, pointer % 64) == (0, 0)
        acl.ok(acl.aclrtIpcMemClose(key))
        assert acl.aclrtIpcMemClose(key) == PARAM_INVALID
        assert import_key(acl, b"0" * 64)[0] == PARAM_INVALID
        assert import_key(acl, b"short")[0] == PARAM_INVALID
        acl.ok(acl.aclrtDeviceDisablePeerAccess(1))


def test_flags_travel_between_kernels_of_two_processes(
    acl: Acl, start_peer: StartPeer, kernels: Path
) -> None:
    rounds = 100
    peer, key = start_peer(1)
    with acl.device(0):
        relay = acl.function(acl.load(kernels), "relay")
        code, pointer = import_key(acl, key)
        assert code == 0
        tell(peer, f"relay {rounds}")
        # Waits for the value that the peer wrote last, answers with the next.
        began = time.monotonic()
        for step in range(rounds):
            acl.ok(acl.launch(relay, 1, pack("QQII", pointer + 32, pointer, 2 * step, 2 * step + 1)))
        acl.ok(acl.synchronize())
        assert answer(peer) == "0"
        assert time.monotonic() - began < 5
        assert acl.read(pointer + 32, 4) == (2 * rounds).to_bytes(4, "little")
        acl.ok(acl.aclrtIpcMemClose(key))
        acl.ok(acl.aclrtDeviceDisablePeerAccess(1))


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV, None])
def test_a_peer_that_ends_ends_the_wait(
    acl: Acl, start_peer: StartPeer, kernels: Path, end: signal.Signals | None
) -> None:
    peer, key = start_peer(1)
    with acl.device(0):
        relay = acl.function(acl.load(kernels), "relay")
        code, pointer = import_key(acl, key)
        assert code == 0
        acl.ok(acl.launch(relay, 1, pack("QQII", pointer + 32, pointer, 1, 2)))
        if end is None:
            tell(peer, "end")
        else:
            peer.send_signal(end)
        began = time.monotonic()
        assert acl.synchronize() == REMOTE_ERROR
        assert time.monotonic() - began < 2
        message = acl.message()
        assert f"process {peer.pid} has ended" in message
        acl.ok(acl.aclrtIpcMemClose(key))
        acl.ok(acl.aclrtDeviceDisablePeerAccess(1))


def test_a_process_may_import_its_own_key(acl: Acl) -> None:
    with acl.device(0):
        memory = acl.malloc(64)
        key = ctypes.create_string_buffer(65)
        size = ctypes.c_size_t
        export = acl.aclrtIpcMemGetExportKey
        assert export(ctypes.c_void_p(memory), size(64), key, size(64), ctypes.c_uint64(0)) == PARAM_INVALID
        assert export(ctypes.c_void_p(memory), size(64), key, size(65), ctypes.c_uint64(2)) == PARAM_INVALID
        acl.ok(export(ctypes.c_void_p(memory), size(64), key, size(65), ctypes.c_uint64(0)))
        assert [import_key(acl, key.value) for _ in range(2)] == [(0, memory)] * 2
        assert [acl.aclrtIpcMemClose(key) for _ in range(4)] == [0, 0, 0, PARAM_INVALID]
