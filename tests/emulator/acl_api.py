"""The emulated libacl_rt.so through ctypes, as a program that opens it with dlopen would call it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
SCHEM_MODE, TIMEOUT_S, TIMEOUT_US = 1, 7, 8


class AclCallError(AssertionError):
    """A call that was to succeed did not."""


class LaunchAttribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("value", ctypes.c_uint32 * 4))


class LaunchConfig(ctypes.Structure):
    _fields_ = (("attrs", ctypes.POINTER(LaunchAttribute)), ("numAttrs", ctypes.c_size_t))


class PlaceHolder(ctypes.Structure):
    _fields_ = (("addrOffset", ctypes.c_uint32), ("dataOffset", ctypes.c_uint32))


class Traffic(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            "readBytes",
            "writtenBytes",
            "smallReads",
            "smallReadBytes",
            "smallWrites",
            "smallWrittenBytes",
            "polls",
            "pollBytes",
        )
    )


class Counters(ctypes.Structure):
    _fields_ = (
        ("local", Traffic),
        ("remote", Traffic),
        *((name, ctypes.c_uint64) for name in ("launches", "blocks", "syncAlls", "atomics")),
    )


class Instruction(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 32),
        *((name, ctypes.c_uint64) for name in ("issued", "readBytes", "writtenBytes")),
    )


def config(**attributes: int) -> LaunchConfig:
    """Launch attributes by name: batch (0 or 1), timeout_us, timeout_s."""
    ids = {"batch": SCHEM_MODE, "timeout_us": TIMEOUT_US, "timeout_s": TIMEOUT_S}
    array = (LaunchAttribute * max(len(attributes), 1))()
    for slot, (name, value) in zip(array, attributes.items(), strict=False):
        slot.id = ids[name]
        slot.value[0] = value & 0xFFFFFFFF
        slot.value[1] = value >> 32
    return LaunchConfig(array, len(attributes))


class Acl:
    """Thin calls; each returns the ACL code. `ok` turns a code that is not 0 into an exception with ACL's message."""

    def __init__(self, toolkit: Path, library: str = "libacl_rt.so") -> None:
        self.library = ctypes.CDLL(str(toolkit / "lib64" / library))
        for name in ("aclGetRecentErrMsg", "aclrtGetSocName", "aivopsEmuDescribeSettings"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.aclrtCreateBinary.restype = ctypes.c_void_p

    def __getattr__(self, name: str) -> Any:
        return getattr(self.library, name)

    def message(self) -> str:
        text: bytes | None = self.library.aclGetRecentErrMsg()
        return "" if text is None else text.decode()

    def ok(self, code: int) -> None:
        if code != 0:
            raise AclCallError(f"{code}: {self.message()}")

    def malloc(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        self.ok(self.library.aclrtMalloc(ctypes.byref(pointer), ctypes.c_size_t(size), 0))
        assert pointer.value is not None
        return pointer.value

    def free(self, pointer: int) -> None:
        self.ok(self.library.aclrtFree(ctypes.c_void_p(pointer)))

    def write(self, pointer: int, data: bytes) -> None:
        size = ctypes.c_size_t(len(data))
        self.ok(self.library.aclrtMemcpy(ctypes.c_void_p(pointer), size, data, size, HOST_TO_DEVICE))

    def read(self, pointer: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        count = ctypes.c_size_t(size)
        self.ok(self.library.aclrtMemcpy(data, count, ctypes.c_void_p(pointer), count, DEVICE_TO_HOST))
        return data.raw

    def set_device(self, device: int) -> None:
        self.ok(self.library.aclrtSetDevice(device))

    def create_stream(self) -> ctypes.c_void_p:
        stream = ctypes.c_void_p()
        self.ok(self.library.aclrtCreateStream(ctypes.byref(stream)))
        return stream

    def load(self, path: Path) -> ctypes.c_void_p:
        binary = ctypes.c_void_p()
        self.ok(self.library.aclrtBinaryLoadFromFile(str(path).encode(), None, ctypes.byref(binary)))
        return binary

    def function(self, binary: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self.ok(self.library.aclrtBinaryGetFunction(binary, name.encode(), ctypes.byref(function)))
        return function

    def launch(
        self,
        function: ctypes.c_void_p,
        blocks: int,
        arguments: bytes,
        stream: ctypes.c_void_p | None = None,
        **attributes: int,
    ) -> int:
        block = ctypes.create_string_buffer(arguments, max(len(arguments), 1))
        cfg = config(**attributes)
        code: int = self.library.aclrtLaunchKernelWithHostArgs(
            function,
            blocks,
            stream,
            ctypes.byref(cfg) if attributes else None,
            block,
            ctypes.c_size_t(len(block)),
            None,
            ctypes.c_size_t(0),
        )
        return code

    def synchronize(self, stream: ctypes.c_void_p | None = None) -> int:
        code: int = self.library.aclrtSynchronizeStream(stream)
        return code

    def counters(self, device: int) -> Counters:
        counters = Counters()
        self.ok(self.library.aivopsEmuGetCounters(device, ctypes.byref(counters)))
        return counters

    def instructions(self, device: int) -> dict[str, tuple[int, int, int]]:
        """Times issued, bytes read and written, by name."""
        count = ctypes.c_size_t()
        self.ok(self.library.aivopsEmuGetInstructions(device, None, ctypes.c_size_t(0), ctypes.byref(count)))
        found = (Instruction * count.value)()
        self.ok(self.library.aivopsEmuGetInstructions(device, found, count, ctypes.byref(count)))
        return {one.name.decode(): (one.issued, one.readBytes, one.writtenBytes) for one in found}

    @contextmanager
    def device(self, index: int) -> Iterator[None]:
        """Sets a device, and releases it at the end however often it was set meanwhile."""
        self.set_device(index)
        try:
            yield
        finally:
            self.library.aclrtResetDeviceForce(index)


def pack(layout: str, *values: int) -> bytes:
    """Arguments as a natural C struct."""
    return struct.pack("@" + layout, *values)
