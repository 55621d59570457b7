"""The emulated toolkit's ACL and HCCL over ctypes, as a Python program written against CANN calls them."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

import numpy as np

ROOT_INFO_BYTES = 4108

DATA_TYPES = {
    "int8": 0,
    "int16": 1,
    "int32": 2,
    "float16": 3,
    "float32": 4,
    "int64": 5,
    "uint64": 6,
    "uint8": 7,
    "uint16": 8,
    "uint32": 9,
    "float64": 10,
}
REDUCTIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}


@cache
def library(name: str) -> ctypes.CDLL:
    """A library of the emulated toolkit, loaded at its first use."""
    return ctypes.CDLL(f"{os.environ['AIVOPS_BUILD_DIR']}/toolkit/lib64/lib{name}.so")


def recent_message() -> str:
    """What the runtime has to say about the latest failure in this thread."""
    function = library("ascendcl").aclGetRecentErrMsg
    function.restype = ctypes.c_char_p
    text: bytes | None = function()
    return text.decode() if text else ""


class CallError(Exception):
    """A call that did not return 0, with what the runtime says about it."""

    def __init__(self, name: str, code: int) -> None:
        self.code = code
        self.message = recent_message()
        super().__init__(f"{name} returned {code}: {self.message}")


def call(name: str, *arguments: Any) -> None:
    """Call a function of ACL or HCCL and raise when it does not return 0."""
    code = getattr(library("ascendcl" if name.startswith("acl") else "hccl"), name)(*arguments)
    if code != 0:
        raise CallError(name, code)


def get_root_info() -> bytes:
    """A new root info; the calling thread has a device."""
    info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
    call("HcclGetRootInfo", info)
    return info.raw


class Rank:
    """One rank: its device, a stream, its communicator."""

    def __init__(self, rank: int, size: int, root: bytes, device: int | None = None) -> None:
        self.rank, self.size = rank, size
        call("aclrtSetDevice", rank if device is None else device)
        self.stream = ctypes.c_void_p()
        call("aclrtCreateStream", ctypes.byref(self.stream))
        self.comm = ctypes.c_void_p()
        call("HcclCommInitRootInfo", size, root, rank, ctypes.byref(self.comm))

    def allocate(self, size: int) -> ctypes.c_void_p:
        """Device memory."""
        memory = ctypes.c_void_p()
        call("aclrtMalloc", ctypes.byref(memory), ctypes.c_size_t(max(size, 1)), 0)
        return memory

    def upload(self, array: np.ndarray) -> ctypes.c_void_p:
        """Device memory with the content of an array."""
        memory = self.allocate(array.nbytes)
        count = ctypes.c_size_t(array.nbytes)
        call(
            "aclrtMemcpy",
            memory,
            count,
            np.ascontiguousarray(array).ctypes.data_as(ctypes.c_void_p),
            count,
            1,
        )
        return memory

    def download(self, memory: ctypes.c_void_p, shape: Any, dtype: Any) -> np.ndarray:
        """The content of device memory."""
        array = np.empty(shape, dtype)
        count = ctypes.c_size_t(array.nbytes)
        call("aclrtMemcpy", array.ctypes.data_as(ctypes.c_void_p), count, memory, count, 2)
        return array

    def run(self, name: str, *arguments: Any, wait: bool = True) -> None:
        """A collective on this rank's stream."""
        call(name, *arguments, self.comm, self.stream)
        if wait:
            self.synchronize()

    def synchronize(self) -> None:
        """Wait for the stream; raises what went wrong on it."""
        call("aclrtSynchronizeStream", self.stream)

    def close(self) -> None:
        """Give back communicator and stream."""
        call("HcclCommDestroy", self.comm)
        call("aclrtDestroyStream", self.stream)
