"""A small machine that runs kernel binaries in order, on the spot, and writes down what they asked for.

It knows the contract only, so the Ascend C headers are tested without the emulator's machine and its checks.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

Address = ctypes.c_void_p
U8, U16, U32, U64, I64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
EXECUTE = ctypes.CFUNCTYPE(None, Address, Address)


class Copy(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        *((name, U8) for name in ("direction", "element_bytes", "pad_left", "pad_right", "pad_defined")),
        *((name, U8) for name in ("compact", "byte_exact", "reserved")),
        ("block_count", U32),
        ("block_bytes", U32),
        ("gm_gap", I64),
        *((name, U32) for name in ("ub_gap", "ub_dst_gap", "ub", "ub_dst")),
        ("gm", U64),
        ("pad_value", U64),
    )


class Range(ctypes.Structure):
    _fields_ = (("ub", U32), ("bytes", U32), ("write", U8), ("align", U8), ("reserved", U8 * 2))


class Compute(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("pipe", U8),
        ("range_count", U8),
        ("parameter_bytes", U16),
        ("reserved", U32),
        ("ranges", ctypes.POINTER(Range)),
        ("execute", EXECUTE),
        ("parameters", Address),
    )


class Block(ctypes.Structure):
    _fields_ = (
        ("index", U32),
        ("count", U32),
        ("ub", Address),
        ("ub_bytes", U32),
        ("npu_arch", U32),
        ("pipe_object", Address),
        ("registers", U64 * 16),
    )


# The functions of the table in the contract's order, with what they take behind the block.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "copy": (None, ctypes.POINTER(Copy)),
    "compute": (None, ctypes.POINTER(Compute)),
    "ub_scalar": (Address, U32, U32, ctypes.c_int),
    "ub_invalidate": (None, U32, U32),
    "gm_load": (None, Address, Address, U32),
    "gm_store": (None, Address, Address, U32),
    "gm_load_uncached": (None, Address, Address, U32),
    "gm_store_uncached": (None, Address, Address, U32),
    "gm_atomic": (None, U32, U32, Address, Address, Address, Address),
    "cache_clean_invalidate": (None, Address, ctypes.c_int, U32),
    "memory_barrier": (None, U32),
    "set_atomic": (None, U32, U32),
    "pipe_barrier": (None, U32),
    "set_flag": (None, U32, U32, U32),
    "wait_flag": (None, U32, U32, U32),
    "sync_all": (None,),
    "cross_core_set": (None, U32, U32, U32),
    "cross_core_wait": (None, U32, U32, U32),
    "fault": (None, U32, ctypes.c_char_p),
    "warn": (None, U32, ctypes.c_char_p),
    "print": (None, ctypes.c_char_p, ctypes.c_size_t),
    "cycle": (U64,),
}
PROTOTYPES = {
    name: ctypes.CFUNCTYPE(result, ctypes.POINTER(Block), *arguments)
    for name, (result, *arguments) in FUNCTIONS.items()
}


class Table(ctypes.Structure):
    _fields_: ClassVar[Any] = (("contract_version", U32), ("table_bytes", U32), *PROTOTYPES.items())


class Binding(ctypes.Structure):
    _fields_ = (("table", ctypes.POINTER(Table)), ("block", ctypes.POINTER(Block)))


class Entry(ctypes.Structure):
    _fields_ = (("contract_version", U32), ("args_size", U32), ("call", ctypes.CFUNCTYPE(None, Address)))


def pattern(value: int, bytes_: int) -> bytes:
    return (value & (2 ** (8 * bytes_) - 1)).to_bytes(bytes_, "little")


class NaiveMachine:
    """One device that runs the blocks of a launch one after the other."""

    def __init__(self, binary: Path, ub_bytes: int = 256 * 1024) -> None:
        self.library = ctypes.CDLL(str(binary))
        self.ub = np.zeros(ub_bytes, np.uint8)
        self.log: list[tuple[Any, ...]] = []
        self.copies: list[Copy] = []
        self.ranges: list[tuple[str, list[tuple[int, int, int]]]] = []
        self.faults: list[str] = []
        self.warnings: list[str] = []
        self.text = ""
        callbacks = [self._callback(name) for name in FUNCTIONS]
        self.table = Table(1, ctypes.sizeof(Table), *callbacks)
        self.binding = Binding.in_dll(self.library, "__aivops_binding")

    def _callback(self, name: str) -> Any:
        method: Callable[..., Any] | None = getattr(self, f"_{name}", None)

        def call(_: Any, *arguments: Any) -> Any:
            if method is not None:
                return method(*arguments)
            self.log.append((name, *arguments))
            return 0

        return PROTOTYPES[name](call)

    def launch(self, kernel: str, *arguments: Any, blocks: int = 1, npu_arch: int = 2201) -> None:
        """Arguments are numpy arrays (passed by address), integers (8 bytes) or ctypes values."""
        packed = bytearray()
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                value: Any = U64(argument.ctypes.data)
            else:
                value = U64(argument) if isinstance(argument, int) else argument
            packed += bytes(-len(packed) % ctypes.alignment(value)) + bytes(value)
        memory = ctypes.create_string_buffer(bytes(packed), len(packed) + 8)
        entry = Entry.in_dll(self.library, f"__aivops_entry_{kernel}")
        for index in range(blocks):
            block = Block(index, blocks, self.ub.ctypes.data, len(self.ub), npu_arch)
            self.binding.table = ctypes.pointer(self.table)
            self.binding.block = ctypes.pointer(block)
            entry.call(memory)

    # ---- What the table does ----

    def _copy(self, pointer: Any) -> None:
        copy = Copy.from_buffer_copy(pointer.contents)
        self.copies.append(copy)
        size = copy.block_bytes if copy.byte_exact else copy.block_bytes // 32 * 32
        gm, ub, ub_dst = copy.gm, copy.ub, copy.ub_dst
        base = self.ub.ctypes.data
        left, right = copy.pad_left * copy.element_bytes, copy.pad_right * copy.element_bytes
        for _ in range(copy.block_count):
            padded = left + size + right
            in_ub = padded if copy.compact else (padded + 31) // 32 * 32
            if copy.direction == 0:
                first = ctypes.string_at(gm, copy.element_bytes)
                filler = (pattern(copy.pad_value, copy.element_bytes), first)[copy.pad_defined == 2]
                content = filler * copy.pad_left + ctypes.string_at(gm, size)
                content += (filler * 64)[: in_ub - len(content)]
                self.ub[ub : ub + in_ub] = np.frombuffer(content, np.uint8)
            elif copy.direction == 1:
                ctypes.memmove(gm, base + ub, size)
            else:
                ctypes.memmove(base + ub_dst, base + ub, size)
                ub_dst += size + copy.ub_dst_gap
            gm += size + copy.gm_gap
            ub += in_ub + copy.ub_gap

    def _compute(self, pointer: Any) -> None:
        compute = pointer.contents
        ranges = [(r.ub, r.bytes, r.write) for r in compute.ranges[: compute.range_count]]
        self.ranges.append((compute.name.decode(), ranges))
        before = self.ub.copy()
        compute.execute(self.ub.ctypes.data, compute.parameters)
        changed = before != self.ub
        for offset, size, write in ranges:
            if write:
                changed[offset : offset + size] = False
        assert not changed.any(), f"{compute.name}: wrote outside of what it had told"

    def _ub_scalar(self, offset: int, size: int, write: int) -> int:
        assert offset + size <= len(self.ub)
        return self.ub.ctypes.data + offset

    def _gm_load(self, gm: int, value: int, size: int) -> None:
        ctypes.memmove(value, gm, size)

    def _gm_store(self, gm: int, value: int, size: int) -> None:
        ctypes.memmove(gm, value, size)

    def _gm_load_uncached(self, gm: int, value: int, size: int) -> None:
        self.log.append(("gm_load_uncached", size))
        ctypes.memmove(value, gm, size)

    def _gm_store_uncached(self, gm: int, value: int, size: int) -> None:
        self.log.append(("gm_store_uncached", size))
        ctypes.memmove(gm, value, size)

    def _gm_atomic(self, operation: int, kind: int, *addresses: int) -> None:
        gm, operand, compare, old = addresses
        size = {1: 4, 4: 4, 7: 4, 8: 8, 9: 8}[kind]
        values = (ctypes.string_at(operand, size), ctypes.string_at(compare, size))
        self.log.append(("gm_atomic", operation, kind, *values))
        ctypes.memmove(old, gm, size)

    def _fault(self, category: int, message: bytes) -> None:
        self.faults.append(message.decode())

    def _warn(self, category: int, message: bytes) -> None:
        self.warnings.append(message.decode())

    def _print(self, text: bytes, size: int) -> None:
        assert len(text) == size
        self.text += text.decode()

    def _cycle(self) -> int:
        return 123456789
