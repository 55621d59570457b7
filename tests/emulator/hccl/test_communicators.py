"""Communicators and their resources: what calls return, which mistakes have which codes, and what peers see."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from ctypes import byref, c_int32, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest
from emulator.hccl.ranks import run_ranks
from emulator.hccl.toolkit import (
    ROOT_INFO_BYTES,
    CallError,
    Rank,
    call,
    get_root_info,
    library,
)

MODULE = "emulator.hccl.test_communicators"

E_PARA, E_PTR, E_MEMORY, E_NOT_SUPPORT, E_NOT_FOUND, E_RUNTIME, E_AGAIN, E_REMOTE = 1, 2, 3, 5, 6, 15, 20, 21
AIV, CPU = 4, 0
HCCS, PCIE, SIO, UB_MEM = 0, 2, 3, 6


def refused(code: int, name: str, *arguments: object, text: str = "") -> None:
    with pytest.raises(CallError) as error:
        call(name, *arguments)
    assert error.value.code == code, error.value
    assert text in error.value.message, error.value


def facts(rank: Rank) -> None:
    size, number = c_uint32(), c_uint32()
    call("HcclGetRankSize", rank.comm, byref(size))
    call("HcclGetRankId", rank.comm, byref(number))
    assert (size.value, number.value) == (rank.size, rank.rank)
    name = ctypes.create_string_buffer(128)
    call("HcclGetCommName", rank.comm, name)
    assert name.value
    found = c_void_p()
    call("HcclCommGetHandleWithName", name, byref(found))
    assert found.value == rank.comm.value
    status = c_int32(-1)
    call("HcclCommGetStatus", name, byref(status))
    assert status.value == 0
    call("HcclCommGetStatus", b"no such name", byref(status))
    assert status.value == 254
    call("HcclGetCommAsyncError", rank.comm, byref(status))
    assert status.value == 0

    buffer, again, length = c_void_p(), c_void_p(), c_uint64()
    call("HcclGetHcclBuffer", rank.comm, byref(buffer), byref(length))
    assert length.value == 2 << 20  # HCCL_BUFFSIZE=1
    assert set(rank.download(buffer, 4096, "uint8")) != {0}, "the buffer is not zeroed"
    call("HcclGetHcclBuffer", rank.comm, byref(again), byref(length))
    assert again.value == buffer.value


@pytest.mark.parametrize("threads", [True, False])
def test_what_a_communicator_says_of_itself(tmp_path: Path, threads: bool) -> None:
    run_ranks(f"{MODULE}:facts", 2, tmp_path, threads)


class ConfigValue(ctypes.Structure):
    """HcclConfigValue."""

    _fields_ = [("value", c_int32)]


def settings(rank: Rank) -> None:
    comm, value, mode = rank.comm, ConfigValue(-1), c_int32(-1)
    call("HcclSetConfig", 0, ConfigValue(1))
    call("HcclGetConfig", 0, byref(value))
    assert value.value == 1
    refused(E_PARA, "HcclSetConfig", 0, ConfigValue(3))
    refused(E_PARA, "HcclSetConfig", 1, ConfigValue(1))
    refused(E_PTR, "HcclGetConfig", 0, None)
    call("HcclConfigGetInfo", comm, 0, 4, byref(mode))
    assert mode.value == 1  # AIV, from the environment
    refused(E_PARA, "HcclConfigGetInfo", comm, 0, 3, byref(mode))
    refused(E_PARA, "HcclConfigGetInfo", comm, 77, 4, byref(mode))
    call("HcclGetHeterogMode", comm, byref(mode))
    assert mode.value == 0  # homogeneous
    grouped = ctypes.c_bool(True)
    call("HcclGroupStatusGet", byref(grouped))
    assert not grouped.value
    topology = c_int32(-1)
    call("HcclRankGraphGetTopoTypeByLayer", comm, 0, byref(topology))
    assert topology.value == 1  # one dimension, all to all
    refused(E_PARA, "HcclRankGraphGetTopoTypeByLayer", comm, 3, byref(topology))
    text = library("hccl").HcclGetErrorString
    text.restype = ctypes.c_char_p
    texts = [text(code) for code in range(25)]
    assert len(set(texts)) == 25
    assert text(25) == b"unknown err"


def test_settings_of_process_and_communicator(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:settings", 2, tmp_path, HCCL_OP_EXPANSION_MODE="AIV")


def contexts(rank: Rank) -> None:
    comm, memory, length = rank.comm, c_void_p(), c_uint64()
    create, get, copy, destroy = (f"HcclEngineCtx{name}" for name in ("Create", "Get", "Copy", "Destroy"))
    # On A2 and A3 a miss is a wrong parameter.
    refused(E_PARA, get, comm, b"tag", AIV, byref(memory), byref(length))
    call(create, comm, b"tag", AIV, c_uint64(1000), byref(memory))
    assert set(rank.download(memory, 1000, "uint8")) != {0}, "device contexts are not zeroed"
    refused(E_PARA, create, comm, b"tag", AIV, c_uint64(1000), byref(memory))
    found = c_void_p()
    call(get, comm, b"tag", AIV, byref(found), byref(length))
    assert (found.value, length.value) == (memory.value, 1000)
    data = np.arange(100, dtype=np.uint8)
    call(copy, comm, AIV, b"tag", data.ctypes.data_as(c_void_p), c_uint64(100), c_uint64(900))
    assert rank.download(memory, 1000, "uint8")[900:].tolist() == data.tolist()
    refused(E_PARA, copy, comm, AIV, b"tag", data.ctypes.data_as(c_void_p), c_uint64(100), c_uint64(901))
    # The same tag for another engine is another context, in host memory and zeroed.
    call(create, comm, b"tag", CPU, c_uint64(64), byref(found))
    assert bytes((ctypes.c_uint8 * 64).from_address(found.value or 0)) == bytes(64)
    call(create, comm, None, AIV, c_uint64(64), byref(found))
    refused(E_PARA, create, comm, b"", AIV, c_uint64(64), byref(found))
    refused(E_PARA, create, comm, b"zero", AIV, c_uint64(0), byref(found))
    refused(E_PARA, create, comm, b"x" * 256, AIV, c_uint64(64), byref(found))
    call(create, comm, b"x" * 255, AIV, c_uint64(64), byref(found))
    refused(E_PTR, create, comm, b"null", AIV, c_uint64(64), None)
    refused(E_PARA, create, comm, b"engine", 9, c_uint64(64), byref(found))
    refused(E_MEMORY, create, comm, b"large", AIV, c_uint64(1 << 40), byref(found))
    call(destroy, comm, b"tag", AIV)
    refused(E_PARA, destroy, comm, b"tag", AIV)
    call(get, comm, b"tag", CPU, byref(found), byref(length))


def test_engine_contexts(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:contexts", 1, tmp_path)


class Memory(ctypes.Structure):
    """CommMem."""

    _fields_ = [("type", c_int32), ("address", c_void_p), ("size", c_uint64)]


class Descriptor(ctypes.Structure):
    """HcclChannelDesc."""

    _fields_ = [
        ("header", c_uint32 * 4),
        ("remote", c_uint32),
        ("protocol", c_int32),
        ("endpoints", ctypes.c_uint8 * 320),
        ("notifies", c_uint32),
        ("handles", ctypes.POINTER(c_void_p)),
        ("handle_count", c_uint32),
        ("attributes", ctypes.c_uint8 * 128),
    ]

    @classmethod
    def to(cls, peer: int, protocol: int, *handles: c_void_p) -> Descriptor:
        descriptor = cls((1, 0x0F0F0F0F, ctypes.sizeof(cls), 0), peer, protocol)
        descriptor.handles = (c_void_p * max(len(handles), 1))(*[handle.value for handle in handles])
        descriptor.handle_count = len(handles)
        return descriptor


def register(rank: Rank, tag: bytes, memory: c_void_p, size: int) -> c_void_p:
    handle = c_void_p()
    call("HcclCommMemReg", rank.comm, tag, byref(Memory(0, memory, size)), byref(handle))
    return handle


def channels(rank: Rank) -> None:
    comm, peers = rank.comm, [peer for peer in range(rank.size) if peer != rank.rank]
    shown = [rank.upload(np.full(500, 10 * rank.rank + i, np.uint8)) for i in range(2)]
    handles = [register(rank, f"window {i}".encode(), memory, 500) for i, memory in enumerate(shown)]
    # The same memory under the same tag is the same registration, other memory is a mistake.
    assert register(rank, b"window 0", shown[0], 500).value == handles[0].value
    other = byref(Memory(0, shown[1], 500))
    refused(E_PARA, "HcclCommMemReg", comm, b"window 0", other, byref(c_void_p()))
    refused(E_PARA, "HcclCommMemReg", comm, b"", other, byref(c_void_p()))
    refused(E_PARA, "HcclCommMemReg", comm, b"x" * 256, other, byref(c_void_p()))
    refused(E_PARA, "HcclCommMemReg", comm, b"new", byref(Memory(0, shown[0], 1 << 30)), byref(c_void_p()))
    refused(E_NOT_SUPPORT, "HcclCommMemReg", comm, b"new", byref(Memory(1, shown[0], 8)), byref(c_void_p()))

    wanted = (Descriptor * len(peers))(*[Descriptor.to(peer, HCCS, *handles) for peer in peers])
    acquired, again = (c_uint64 * len(peers))(), (c_uint64 * len(peers))()
    call("HcclChannelAcquire", comm, AIV, wanted, c_uint32(len(peers)), acquired)
    call("HcclChannelAcquire", comm, AIV, wanted, c_uint32(len(peers)), again)
    assert list(again) == list(acquired), "a second call finds the channels of the first"
    for peer, channel in zip(peers, acquired, strict=True):
        buffer, length = c_void_p(), c_uint64()
        call("HcclChannelGetHcclBuffer", comm, c_uint64(channel), byref(buffer), byref(length))
        assert length.value == 2 << 20
        count, memories, tags = c_uint32(), ctypes.POINTER(Memory)(), ctypes.POINTER(ctypes.c_char_p)()
        call("HcclChannelGetRemoteMems", comm, c_uint64(channel), byref(count), byref(memories), byref(tags))
        # A2 and A3: what the peer registered, in its order; every tag reads the same.
        assert count.value == 2
        assert [tags[i] for i in range(2)] == [b"HcclBuffer"] * 2
        for i in range(2):
            seen = (ctypes.c_uint8 * memories[i].size).from_address(memories[i].address)
            assert bytes(seen) == bytes([10 * peer + i] * 500)
    # Another list of handles is another channel.
    fewer = (Descriptor * len(peers))(*[Descriptor.to(peer, HCCS, handles[1]) for peer in peers])
    call("HcclChannelAcquire", comm, AIV, fewer, c_uint32(len(peers)), again)
    assert not set(again) & set(acquired)

    def wrong(code: int, descriptor: Descriptor, count: int = 1, engine: int = AIV) -> None:
        refused(code, "HcclChannelAcquire", comm, engine, byref(descriptor), c_uint32(count), again)

    wrong(E_PARA, Descriptor.to(rank.rank, HCCS))
    wrong(E_PARA, Descriptor.to(rank.size, HCCS))
    wrong(E_PARA, Descriptor.to(peers[0], HCCS), count=0)
    wrong(E_PARA, Descriptor.to(peers[0], HCCS, c_void_p(12345)))
    wrong(E_NOT_SUPPORT, Descriptor.to(peers[0], PCIE))
    wrong(E_NOT_SUPPORT, Descriptor.to(peers[0], HCCS), engine=CPU)
    spoilt = Descriptor.to(peers[0], HCCS)
    spoilt.header[1] = 0
    wrong(E_PARA, spoilt)
    crowded = Descriptor.to(peers[0], HCCS)
    crowded.notifies = 65
    wrong(E_PARA, crowded)
    refused(E_PARA, "HcclChannelGetHcclBuffer", comm, c_uint64(1), byref(c_void_p()), byref(c_uint64()))
    refused(E_NOT_SUPPORT, "HcclChannelDestroy", comm, acquired, c_uint32(len(peers)))
    refused(E_NOT_SUPPORT, "HcclChannelQuery", comm, AIV, wanted, c_uint32(len(peers)), again)
    refused(E_NOT_SUPPORT, "HcclGetHcclBufferCleared", comm, byref(c_void_p()), byref(c_uint64()))
    rank.run("HcclBarrier")


@pytest.mark.parametrize(("size", "threads"), [(2, True), (3, False)])
def test_channels(tmp_path: Path, size: int, threads: bool) -> None:
    run_ranks(f"{MODULE}:channels", size, tmp_path, threads)


def links(rank: Rank) -> None:
    expected = eval(os.environ["AIVOPS_TEST_LINKS"])  # {(rank, rank): protocol or None}
    comm, list_, count = rank.comm, ctypes.POINTER(c_uint32)(), c_uint32()
    call("HcclRankGraphGetLayers", comm, byref(list_), byref(count))
    assert [list_[i] for i in range(count.value)] == [0]
    call("HcclRankGraphGetRanksByLayer", comm, 0, byref(list_), byref(count))
    assert [list_[i] for i in range(count.value)] == list(range(rank.size))
    call("HcclRankGraphGetInstSizeListByLayer", comm, 0, byref(list_), byref(count))
    assert [list_[i] for i in range(count.value)] == [rank.size]
    call("HcclRankGraphGetRankSizeByLayer", comm, 0, byref(count))
    assert count.value == rank.size
    records = c_void_p()

    def query(layer: int, source: int, destination: int) -> int:
        call(
            "HcclRankGraphGetLinks",
            comm,
            c_uint32(layer),
            c_uint32(source),
            c_uint32(destination),
            byref(records),
            byref(count),
        )
        return count.value

    for (source, destination), protocol in expected.items():
        assert query(0, source, destination) == (0 if protocol is None else 1)
        if protocol is not None:
            record = bytes((ctypes.c_uint8 * 464).from_address(records.value or 0))
            assert int.from_bytes(record[336:340], "little") == protocol
            # The devices of both ends: EndpointLoc.device.devPhyId.
            ends = [int.from_bytes(record[at : at + 4], "little") for at in (16 + 44 + 4, 176 + 44 + 4)]
            assert ends == [source, destination]
    assert query(0, 0, 0) == 0
    assert query(2, 0, 1) == 0
    with pytest.raises(CallError) as error:
        query(3, 0, 1)
    assert error.value.code == E_PARA
    with pytest.raises(CallError):
        query(0, 0, rank.size)


@pytest.mark.parametrize(
    ("soc", "size", "expected"),
    [
        ("Ascend910B1", 2, {(0, 1): HCCS, (1, 0): HCCS}),
        ("Ascend910B1", 10, {(0, 7): HCCS, (0, 8): PCIE, (0, 9): None, (8, 9): HCCS}),
        ("Ascend910_9381", 4, {(0, 1): SIO, (1, 2): HCCS, (2, 3): SIO}),
        ("Ascend950PR_9599", 3, {(0, 1): UB_MEM, (2, 0): UB_MEM}),
    ],
)
def test_links_of_each_family(tmp_path: Path, soc: str, size: int, expected: object) -> None:
    run_ranks(
        f"{MODULE}:links",
        size,
        tmp_path,
        threads=True,
        AIVOPS_EMU_SOC=soc,
        AIVOPS_EMU_DEVICES="16",
        AIVOPS_TEST_LINKS=repr(expected),
    )


def mistakes(rank: Rank) -> None:
    root, comm, number = get_root_info(), c_void_p(), c_uint32()
    init = "HcclCommInitRootInfo"
    refused(E_PTR, "HcclGetRootInfo", None)
    refused(E_PARA, init, 0, root, 0, byref(comm))
    refused(E_PARA, init, 2, root, 2, byref(comm))
    refused(E_PTR, init, 2, None, 0, byref(comm))
    refused(E_PTR, init, 2, root, 0, None)
    refused(E_PARA, init, 1, bytes(ROOT_INFO_BYTES), 0, byref(comm), text="broadcast all of its bytes")
    # One root info makes one communicator.
    call(init, 1, root, 0, byref(comm))
    refused(E_PARA, init, 1, root, 0, byref(c_void_p()), text="has joined this communicator already")
    call("HcclCommDestroy", comm)
    refused(E_PARA, "HcclGetRankId", comm, byref(number), text="was destroyed")
    refused(E_PARA, "HcclCommDestroy", comm)
    refused(E_PTR, "HcclGetRankId", None, byref(number))
    call("HcclCommDestroy", None)

    uninitialised = bytes(2248)
    refused(E_PARA, "HcclCommInitRootInfoConfig", 1, get_root_info(), 0, uninitialised, byref(comm))
    refused(E_PTR, "HcclCommInitRootInfoConfig", 1, get_root_info(), 0, None, byref(comm))
    devices = (c_int32 * 2)(1, 1)
    refused(E_PARA, "HcclCommInitAll", 2, devices, (c_void_p * 2)(), text="listed twice")
    refused(E_PARA, "HcclCommInitAll", 1, (c_int32 * 1)(99), (c_void_p * 1)(), text="no device 99")
    refused(E_NOT_SUPPORT, "HcclCommSuspend", rank.comm, text="HcclCommSuspend")
    assert library("hccl").HcclGetCommConfigCapability() == 12

    failed = []

    def without_device() -> None:
        try:
            refused(E_RUNTIME, "HcclGetRootInfo", ctypes.create_string_buffer(ROOT_INFO_BYTES))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=without_device)
    thread.start()
    thread.join()
    assert not failed

    # Collectives.
    memory, small = rank.allocate(4096), rank.allocate(8)
    count, stream = c_uint64(1024), rank.stream
    host = np.zeros(1024, np.float32).ctypes.data_as(c_void_p)
    refused(E_PTR, "HcclAllReduce", memory, memory, count, 4, 0, rank.comm, None)
    refused(E_PTR, "HcclAllReduce", None, memory, count, 4, 0, rank.comm, stream)
    refused(E_PARA, "HcclAllReduce", host, memory, count, 4, 0, rank.comm, stream, text="not device memory")
    refused(
        E_PARA, "HcclAllReduce", small, memory, count, 4, 0, rank.comm, stream, text="the call needs 4096"
    )
    refused(E_PARA, "HcclAllReduce", memory, memory, count, 13, 0, rank.comm, stream)
    refused(E_PARA, "HcclAllReduce", memory, memory, count, 4, 9, rank.comm, stream)
    refused(E_NOT_SUPPORT, "HcclAllReduce", memory, memory, count, 12, 0, rank.comm, stream)
    refused(E_PARA, "HcclAllReduce", memory, memory, c_uint64(1 << 63), 4, 0, rank.comm, stream)
    refused(E_PARA, "HcclBroadcast", memory, count, 4, rank.size, rank.comm, stream)
    refused(E_PARA, "HcclSend", memory, count, 4, rank.rank, rank.comm, stream)
    call("HcclAllReduce", None, None, c_uint64(0), 4, 0, rank.comm, stream)
    other = c_void_p()
    call("aclrtSetDevice", 5)
    call("aclrtCreateStream", byref(other))
    refused(E_RUNTIME, "HcclBarrier", rank.comm, other, text="the communicator is on device 0")
    call("aclrtSetDevice", 0)


def test_mistakes_have_the_documented_codes(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:mistakes", 1, tmp_path)


def disagrees(rank: Rank) -> None:
    """All ranks must say the same number of ranks."""
    folder = Path(os.environ["AIVOPS_TEST_FOLDER"])
    if rank.rank == 0:
        (folder / "new").write_bytes(get_root_info())
        (folder / "new").rename(folder / "second")
    while not (folder / "second").exists():
        time.sleep(0.002)
    root = (folder / "second").read_bytes()
    if rank.rank == 0:
        while not (folder / "told").exists():
            time.sleep(0.002)
        refused(
            E_PARA,
            "HcclCommInitRootInfo",
            3,
            root,
            0,
            byref(c_void_p()),
            text="nRanks is 3, another rank said 2",
        )
    else:
        # The first one to say a number decides.
        waiter = threading.Thread(target=lambda: joins_and_fails(root, rank.rank), daemon=True)
        waiter.start()
        time.sleep(0.3)
        (folder / "told").touch()
        waiter.join(0.5)


def joins_and_fails(root: bytes, number: int) -> None:
    call("aclrtSetDevice", number)
    with pytest.raises(CallError):
        call("HcclCommInitRootInfo", 2, root, number, byref(c_void_p()))


def test_ranks_that_disagree_on_their_number(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:disagrees", 2, tmp_path, AIVOPS_TEST_FOLDER=str(tmp_path))


def splits(rank: Rank) -> None:
    members = [0, 2] if rank.rank % 2 == 0 else [1]
    config = ctypes.create_string_buffer(2248)
    ctypes.memmove(config, (c_uint64 * 1)(2248), 8)
    ctypes.memmove(ctypes.addressof(config) + 8, (c_uint32 * 2)(0xF0F0F0F0, 11), 8)
    for offset in (24, 28, 292, 296, 316, 2228, 2240):
        ctypes.memmove(ctypes.addressof(config) + offset, b"\xff" * 4, 4)
    ids = (c_uint32 * len(members))(*members)
    part = c_void_p()
    call(
        "HcclCreateSubCommConfig",
        byref(rank.comm),
        c_uint32(len(members)),
        ids,
        c_uint64(7),
        c_uint32(members.index(rank.rank)),
        config,
        byref(part),
    )
    size = c_uint32()
    call("HcclGetRankSize", part, byref(size))
    assert size.value == len(members)
    buffer = rank.upload(np.full(10, rank.rank + 1, np.int32))
    call("HcclAllReduce", buffer, buffer, c_uint64(10), 2, 0, part, rank.stream)
    rank.synchronize()
    assert set(rank.download(buffer, 10, "int32")) == {sum(member + 1 for member in members)}
    refused(
        E_PARA,
        "HcclCreateSubCommConfig",
        byref(part),
        c_uint32(1),
        ids,
        c_uint64(7),
        c_uint32(0),
        config,
        byref(c_void_p()),
    )
    nothing = (
        byref(rank.comm),
        c_uint32(0),
        None,
        c_uint64(0xFFFFFFFF),
        c_uint32(0),
        config,
        byref(c_void_p()),
    )
    call("HcclCreateSubCommConfig", *nothing)
    call("HcclCommDestroy", part)


@pytest.mark.parametrize("threads", [True, False])
def test_split(tmp_path: Path, threads: bool) -> None:
    run_ranks(f"{MODULE}:splits", 3, tmp_path, threads)


def busy(rank: Rank) -> None:
    buffer = rank.allocate(64)
    if rank.rank == 0:
        rank.run("HcclBroadcast", buffer, c_uint64(16), 2, c_uint32(1), wait=False)
        refused(E_AGAIN, "HcclCommDestroy", rank.comm)
        rank.synchronize()
    else:
        time.sleep(0.2)
        rank.run("HcclBroadcast", buffer, c_uint64(16), 2, c_uint32(1))


def test_a_busy_communicator_is_not_destroyed(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:busy", 2, tmp_path, threads=True)


def one_process_all_devices(rank: Rank) -> None:
    devices, comms = (c_int32 * 3)(2, 0, 1), (c_void_p * 3)()
    call("HcclCommInitAll", 3, devices, comms)
    for number, comm in enumerate(comms):
        found = c_uint32()
        call("HcclGetRankId", c_void_p(comm), byref(found))
        assert found.value == number
    streams, buffers = [], []
    for device in devices:
        call("aclrtSetDevice", device)
        stream = c_void_p()
        call("aclrtCreateStream", byref(stream))
        streams.append(stream)
        buffers.append(rank.upload(np.full(100, 1 << device, np.int32)))
    for comm, stream, buffer in zip(comms, streams, buffers, strict=True):
        call("HcclAllReduce", buffer, buffer, c_uint64(100), 2, 0, c_void_p(comm), stream)
    for device, comm, stream, buffer in zip(devices, comms, streams, buffers, strict=True):
        call("aclrtSetDevice", device)
        call("aclrtSynchronizeStream", stream)
        assert set(rank.download(buffer, 100, "int32")) == {7}
        call("HcclCommDestroy", c_void_p(comm))
    call("aclrtSetDevice", 0)


def test_all_devices_of_one_process(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:one_process_all_devices", 1, tmp_path)


def board_of_this_process() -> np.memmap:
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if "aivops-communicator" in str(entry.readlink()):
                return np.memmap(entry, np.uint64, "r+")
        except OSError:
            continue  # the descriptor of the listing itself
    raise AssertionError("no communicator is open")


def spoils_the_queues(rank: Rank) -> None:
    """Everything behind the header and the two slots gets a random value while nobody looks."""
    if rank.rank == 0:
        board = board_of_this_process()
        behind_slots = (4096 + 2 * 768) // 8
        random = np.random.default_rng(3)
        board[behind_slots:] = random.integers(0, 1 << 64, len(board) - behind_slots, np.uint64)
    else:
        time.sleep(0.5)
    buffer = rank.allocate(4096)
    with pytest.raises(CallError, match="is damaged"):
        rank.run("HcclAllReduce", buffer, buffer, c_uint64(1024), 4, 0)


def test_damaged_queues_are_an_error(tmp_path: Path) -> None:
    run_ranks(f"{MODULE}:spoils_the_queues", 2, tmp_path)
