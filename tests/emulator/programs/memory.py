"""What memory holds when a program is done, by numpy: its steps one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from emulator.programs.instructions import (
    GET_GM,
    GET_UB,
    LOAD,
    SET_GM,
    SET_UB,
    SIZES,
    STORE,
    Copy,
    Instruction,
    Scalar,
    Shape,
    Step,
    Vector,
)

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[Any]
LARGEST_HALF = 65504


class NoNumberError(Exception):
    """Arithmetic would leave the finite numbers, where types differ in what they do."""


def first_content(shape: Shape, seed: int) -> list[Bytes]:
    """Bytes that are finite and moderate numbers in every type, and a place for flags that are not set."""
    random = np.random.default_rng(seed)
    memories = []
    for _ in range(shape.devices):
        content = random.integers(0, 96, shape.gm_bytes, dtype=np.uint8)
        content |= random.integers(0, 2, shape.gm_bytes, dtype=np.uint8) << 7
        content[shape.flags :] = 0
        memories.append(content)
    return memories


class Memory:
    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape = shape
        self.gm = first_content(shape, seed)
        self.begin()

    def begin(self) -> None:
        """Blocks start with nothing."""
        self.ub = [np.zeros(self.shape.poll_scratch, np.uint8) for _ in range(self.shape.all_blocks)]
        self.registers = [[0] * 4 for _ in range(self.shape.all_blocks)]

    def launch(self, steps: list[Step]) -> None:
        self.begin()
        for step in steps:
            self.do(step.block, step.instruction)

    def do(self, block: int, instruction: Instruction) -> None:
        if isinstance(instruction, Copy):
            self.copy(self.ub[block], instruction)
        elif isinstance(instruction, Vector):
            self.compute(self.ub[block], instruction)
        elif isinstance(instruction, Scalar):
            self.scalar(block, instruction)

    def copy(self, ub: Bytes, copy: Copy) -> None:
        rows = []
        for row in range(copy.rows):
            if copy.operation == LOAD:
                at = copy.gm_row(row)
                data = self.gm[copy.device][at : at + copy.bytes]
                whole = self.filled(copy, data)
                at = copy.ub_row(row)
                ub[at : at + len(whole)] = whole
            else:
                at = copy.ub_row(row)
                rows.append(ub[at : at + copy.bytes].copy())
        for row, data in enumerate(rows):
            if copy.operation == STORE:
                at = copy.gm_row(row)
                self.store(self.gm[copy.device][at : at + copy.bytes], data, copy)
            else:
                at = copy.ub_to_row(row)
                ub[at : at + copy.bytes] = data

    @staticmethod
    def filled(copy: Copy, data: Bytes) -> Bytes:
        """A row with its padding; the rest of the last unit takes the padding's value or the first element."""
        pads = copy.left or copy.right
        element = (
            np.frombuffer(copy.pad.to_bytes(4, "little"), np.uint8)[: copy.element]
            if pads
            else data[: copy.element]
        )
        left = np.tile(element, copy.left)
        behind = copy.row_bytes_in_ub - len(left) - len(data)
        return np.concatenate([left, data, np.tile(element, behind // copy.element + 1)[:behind]])

    @staticmethod
    def store(to: Bytes, data: Bytes, copy: Copy) -> None:
        if copy.atomic == 0:
            to[:] = data
            return
        dtype = np.int16 if copy.element == 2 else np.int32
        before, operand = to.copy().view(dtype), data.view(dtype)
        after = before + operand if copy.atomic == 1 else np.maximum(before, operand)
        to[:] = after.view(np.uint8)

    @staticmethod
    def computed(vector: Vector, wide: list[Numbers], exact: type[np.float32 | np.int64]) -> Numbers:
        result = wide[0] if wide else np.full(vector.count, vector.scalar, exact)
        match vector.name:
            case "Adds":
                result = result + exact(vector.scalar)
            case "Muls":
                result = result * exact(vector.scalar)
            case "Add":
                result = result + wide[1]
            case "Max":
                result = np.maximum(result, wide[1])
        return result

    def compute(self, ub: Bytes, vector: Vector) -> None:
        size = vector.count * SIZES[vector.type]
        sources = [ub[at : at + size].copy().view(vector.type) for at in vector.sources]
        exact = np.float32 if vector.type.startswith("float") else np.int64
        wide = [source.astype(exact) for source in sources]
        if not all(np.isfinite(source).all() for source in wide):
            raise NoNumberError
        with np.errstate(over="ignore"):
            result = self.computed(vector, wide, exact)
        if vector.to_type.startswith("float"):
            limit = LARGEST_HALF if vector.to_type == "float16" else float(np.finfo(np.float32).max)
            if not (np.abs(result) < limit).all():
                raise NoNumberError
        stored = result.astype(vector.to_type).view(np.uint8)
        ub[vector.to : vector.to + len(stored)] = stored

    def scalar(self, block: int, scalar: Scalar) -> None:
        memory = self.ub[block] if scalar.operation in {GET_UB, SET_UB} else self.gm[scalar.device]
        word = memory[scalar.at : scalar.at + 4].view(np.uint32)
        registers = self.registers[block]
        if scalar.operation in {GET_UB, GET_GM}:
            registers[scalar.register] = int(word[0])
        elif scalar.operation in {SET_UB, SET_GM}:
            base = registers[scalar.register] if scalar.register >= 0 else 0
            word[0] = (base + scalar.add) & 0xFFFFFFFF
