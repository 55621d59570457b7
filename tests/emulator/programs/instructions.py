"""What a block of a drawn program does: how interpreter.asc is told, which bytes it touches, and what a report calls it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

GRANULE = 32  # bytes of the unit of UB
LINE = 64  # bytes of the scalar unit's cache
SMALL = 128  # bytes that a flag may have
WORDS = 18  # of one instruction


class Pipe(IntEnum):
    V, MTE2, MTE3, S = range(4)


ALL = 3  # a barrier of every pipe
PAIRS = [
    (Pipe.S, Pipe.V),
    (Pipe.S, Pipe.MTE2),
    (Pipe.S, Pipe.MTE3),
    (Pipe.V, Pipe.S),
    (Pipe.V, Pipe.MTE2),
    (Pipe.V, Pipe.MTE3),
    (Pipe.MTE2, Pipe.S),
    (Pipe.MTE2, Pipe.V),
    (Pipe.MTE2, Pipe.MTE3),
    (Pipe.MTE3, Pipe.S),
    (Pipe.MTE3, Pipe.V),
    (Pipe.MTE3, Pipe.MTE2),
]

# Operations of interpreter.asc.
(
    LOAD,
    STORE,
    WITHIN,
    VECTOR,
    GET_UB,
    SET_UB,
    GET_GM,
    SET_GM,
    SET_FLAG,
    WAIT_FLAG,
    BARRIER,
    SYNC_ALL,
    CROSS_CORE_SET,
    CROSS_CORE_WAIT,
    POLL,
    POLL_WITH_BARRIERS,
    POLL_BY_SCALAR,
) = range(17)


def bits(begin: int, count: int) -> int:
    return ((1 << count) - 1) << begin


def granules(begin: int, count: int) -> int:
    first = begin // GRANULE
    return bits(first, (begin + count - 1) // GRANULE - first + 1)


def round_up(count: int) -> int:
    return -(-count // GRANULE) * GRANULE


@dataclass(frozen=True)
class Touch:
    """Bytes of GM of a device, or granules of the block's own UB where there is no device. `unit` is what the hardware
    reads or writes with them, and `kind` tells atomic updates that may happen in any order.
    """

    device: int | None
    mask: int
    unit: int
    write: bool
    kind: str = ""

    def conflicts(self, other: Touch) -> bool:
        """The same piece of memory is meant."""
        return (
            (self.write or other.write)
            and not (self.kind and self.kind == other.kind)
            and bool(self.unit & other.unit)
        )

    def surely_conflicts(self, other: Touch) -> bool:
        return (self.write or other.write) and not (self.kind and other.kind) and bool(self.mask & other.mask)


@dataclass(frozen=True)
class Instruction:
    def words(self) -> tuple[int, ...]:
        """As the interpreter takes it. Every kind has its own; ABC would take the field `register` for its method."""
        raise NotImplementedError

    @property
    def pipe(self) -> Pipe:
        return Pipe.S

    @property
    def touches(self) -> list[Touch]:
        return []

    @property
    def names(self) -> tuple[str, str]:
        """In reports, of what reads and of what writes."""
        return "", ""

    @property
    def small(self) -> bool:
        """Its accesses to GM may be those of a flag."""
        return False


@dataclass(frozen=True)
class Copy(Instruction):
    operation: int
    form: int  # 0: DataCopyPad, 1: DataCopy with parameters, 2: DataCopy of a count
    ub: int
    bytes: int  # of a row
    rows: int = 1
    device: int = 0
    gm: int = 0
    ub_to: int = 0
    element: int = 1
    gm_gap: int = 0
    ub_gap: int = 0
    ub_to_gap: int = 0
    left: int = 0
    right: int = 0
    pad: int = 0
    atomic: int = 0  # 1: add, 2: max

    def words(self) -> tuple[int, ...]:
        return (
            self.operation,
            self.form,
            self.element,
            self.device,
            self.gm,
            self.ub,
            self.ub_to,
            self.rows,
            self.bytes,
            self.gm_gap,
            self.ub_gap,
            self.ub_to_gap,
            self.left,
            self.right,
            self.pad,
            self.atomic,
        )

    @property
    def pipe(self) -> Pipe:
        return {LOAD: Pipe.MTE2, STORE: Pipe.MTE3, WITHIN: Pipe.V}[self.operation]

    @property
    def row_bytes_in_ub(self) -> int:
        return round_up((self.left + self.right) * self.element + self.bytes)

    def gm_row(self, row: int) -> int:
        return self.gm + row * (self.bytes + self.gm_gap)

    def ub_row(self, row: int) -> int:
        return self.ub + row * (self.row_bytes_in_ub + self.ub_gap)

    def ub_to_row(self, row: int) -> int:
        return self.ub_to + row * (self.bytes + self.ub_to_gap)

    @property
    def end_in_ub(self) -> int:
        return self.ub_row(self.rows - 1) + self.row_bytes_in_ub

    @property
    def end_in_ub_to(self) -> int:
        return self.ub_to_row(self.rows - 1) + self.bytes

    @property
    def end_in_gm(self) -> int:
        return self.gm_row(self.rows - 1) + self.bytes

    @property
    def touches(self) -> list[Touch]:
        ub = gm = to = 0
        for row in range(self.rows):
            ub |= granules(self.ub_row(row), self.row_bytes_in_ub if self.operation == LOAD else self.bytes)
            gm |= bits(self.gm_row(row), self.bytes)
            to |= granules(self.ub_to_row(row), self.bytes)
        if self.operation == WITHIN:
            return [Touch(None, ub, ub, False), Touch(None, to, to, True)]
        kind = f"{self.atomic}{self.element}" if self.atomic else ""
        writes_ub = self.operation == LOAD
        return [Touch(None, ub, ub, writes_ub), Touch(self.device, gm, gm, not writes_ub, kind)]

    @property
    def names(self) -> tuple[str, str]:
        name = "DataCopy" if self.form else "DataCopyPad"
        return name, name

    @property
    def small(self) -> bool:
        return self.rows == 1 and self.bytes <= SMALL


VECTOR_NAMES = ("Adds", "Muls", "Add", "Max", "Duplicate")
VECTOR_TYPES = ("int16", "int32", "float16", "float32")
CASTS = (("float32", "float16"), ("float16", "float32"), ("float32", "int32"))  # to, from
SIZES = {"int16": 2, "float16": 2, "int32": 4, "float32": 4}


@dataclass(frozen=True)
class Vector(Instruction):
    name: str  # of VECTOR_NAMES or Cast
    to_type: str
    type: str
    to: int
    left: int
    right: int
    scalar: int
    count: int

    def words(self) -> tuple[int, ...]:
        if self.name == "Cast":
            operation, kind = 0, len(VECTOR_TYPES) + CASTS.index((self.to_type, self.type))
        else:
            operation, kind = VECTOR_NAMES.index(self.name), VECTOR_TYPES.index(self.type)
        return VECTOR, operation, kind, self.to, self.left, self.right, self.scalar, self.count

    @property
    def pipe(self) -> Pipe:
        return Pipe.V

    @property
    def sources(self) -> list[int]:
        return [self.left, self.right][: {"Duplicate": 0, "Add": 2, "Max": 2}.get(self.name, 1)]

    @property
    def touches(self) -> list[Touch]:
        read = 0
        for source in self.sources:
            read |= granules(source, self.count * SIZES[self.type])
        written = granules(self.to, self.count * SIZES[self.to_type])
        return [Touch(None, read, read, False), Touch(None, written, written, True)]

    @property
    def names(self) -> tuple[str, str]:
        return self.name, self.name


@dataclass(frozen=True)
class Scalar(Instruction):
    """A word is read into a register, or a register and a number are written; without a register the number alone."""

    operation: int
    register: int
    at: int
    device: int = 0
    add: int = 0

    def words(self) -> tuple[int, ...]:
        place = (self.at,) if self.operation in {GET_UB, SET_UB} else (self.device, self.at)
        number = (self.add,) if self.operation in {SET_UB, SET_GM} else ()
        return self.operation, self.register, *place, *number

    @property
    def touches(self) -> list[Touch]:
        write = self.operation in {SET_UB, SET_GM}
        if self.operation in {GET_UB, SET_UB}:
            mask = granules(self.at, 4)
            return [Touch(None, mask, mask, write)]
        return [Touch(self.device, bits(self.at, 4), bits(self.at // LINE * LINE, LINE), write)]

    @property
    def names(self) -> tuple[str, str]:
        ub = self.operation in {GET_UB, SET_UB}
        return ("GetValue", "SetValue") if ub else ("scalar load", "scalar store")

    @property
    def small(self) -> bool:
        return self.operation in {GET_GM, SET_GM}


@dataclass(frozen=True)
class Event(Instruction):
    operation: int
    source: Pipe
    destination: Pipe
    id: int

    def words(self) -> tuple[int, ...]:
        return self.operation, PAIRS.index((self.source, self.destination)), self.id


@dataclass(frozen=True)
class Barrier(Instruction):
    of: int

    def words(self) -> tuple[int, ...]:
        return BARRIER, self.of


@dataclass(frozen=True)
class SyncAll(Instruction):
    """Of all blocks of the device."""

    def words(self) -> tuple[int, ...]:
        return (SYNC_ALL,)


@dataclass(frozen=True)
class CrossCore(Instruction):
    """Every block sets the flag behind its pipe MTE3, and its scalar unit waits for all."""

    operation: int
    id: int

    def words(self) -> tuple[int, ...]:
        return self.operation, self.id


@dataclass(frozen=True)
class Poll(Instruction):
    """Until the flag has the value."""

    operation: int
    device: int
    at: int
    ub: int
    value: int

    def words(self) -> tuple[int, ...]:
        return self.operation, self.device, self.at, self.ub, self.value


@dataclass(frozen=True)
class Step:
    """One instruction of one block. A program is a list of steps, in an order in which one processor could do them."""

    number: int
    block: int
    instruction: Instruction
    group: int = 0  # of what orders: steps that mean nothing without one another


@dataclass(frozen=True)
class Shape:
    devices: int
    blocks: int  # of each device
    gm: int  # bytes that instructions share
    ub: int

    @property
    def all_blocks(self) -> int:
        return self.devices * self.blocks

    def device_of(self, block: int) -> int:
        return block // self.blocks

    # Behind what instructions share: what UB starts with, and the flags.
    @property
    def flags(self) -> int:
        return self.gm + self.ub

    @property
    def gm_bytes(self) -> int:
        return self.flags + FLAGS * LINE

    # Behind what instructions share: a unit for each flag that the block sets, and one to poll with.
    @property
    def poll_scratch(self) -> int:
        return self.ub + FLAGS * GRANULE


FLAGS = 32  # that one block may set, and that a device has


def encode(steps: list[Step], shape: Shape, device: int) -> bytes:
    """For the blocks of one device."""
    lists: list[list[Instruction]] = [[] for _ in range(shape.blocks)]
    for step in steps:
        if shape.device_of(step.block) == device:
            lists[step.block % shape.blocks].append(step.instruction)
    starts, at = [], 2 * shape.blocks
    for each in lists:
        starts.append(at)
        at += WORDS * len(each)
    words = [*starts, *(len(each) for each in lists)]
    for each in lists:
        for instruction in each:
            own = instruction.words()
            words += [*own, *(0 for _ in range(WORDS - len(own)))]
    return struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words))
