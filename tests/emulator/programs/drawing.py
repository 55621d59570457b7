"""Draws programs that are right: accesses at random, and between them the order that they need and hardly more."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from emulator.programs.instructions import (
    ALL,
    CASTS,
    CROSS_CORE_SET,
    CROSS_CORE_WAIT,
    FLAGS,
    GET_GM,
    GET_UB,
    GRANULE,
    LINE,
    LOAD,
    POLL,
    POLL_BY_SCALAR,
    POLL_WITH_BARRIERS,
    SET_FLAG,
    SET_GM,
    SET_UB,
    SIZES,
    STORE,
    VECTOR_NAMES,
    WAIT_FLAG,
    WITHIN,
    Barrier,
    Copy,
    CrossCore,
    Event,
    Instruction,
    Pipe,
    Poll,
    Scalar,
    Shape,
    Step,
    SyncAll,
    Vector,
    round_up,
)
from emulator.programs.memory import Memory, NoNumberError
from emulator.programs.order import QUEUES, Order

LENGTHS = (1, 4, 7, 31, 32, 33, 64, 96, 100, 128, 129, 160, 255, 512, 1000, 1024, 1056, 2048, 3000, 4096)
EVENT_IDS = range(6)
CROSS_CORE_IDS = range(10)


@dataclass(frozen=True)
class Program:
    seed: int
    shape: Shape
    vector_in_order: bool
    steps: list[Step]

    def without(self, group: int) -> Program:
        return replace(self, steps=[step for step in self.steps if step.group != group])

    @property
    def groups(self) -> list[int]:
        """What orders; each can be left out on its own."""
        return sorted({step.group for step in self.steps} - {0})


@dataclass
class Drawer:
    shape: Shape
    seed: int
    vector_in_order: bool
    scale: int
    memory: Memory
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.numbers = 0
        self.groups = 0
        self.flags = [0] * self.shape.devices
        self.flags_of_block = [0] * self.shape.all_blocks
        self.recent_ub: list[list[int]] = [[] for _ in range(self.shape.all_blocks)]
        self.looks: list[set[tuple[int | None, int]]] = [set() for _ in range(self.shape.all_blocks)]
        self.recent_gm: list[tuple[int, int]] = []

    # ---- steps, and the order that they need ----

    def insert(self, at: int, block: int, instruction: Instruction, group: int = 0) -> None:
        self.steps.insert(at, Step(self.numbers, block, instruction, group))
        self.numbers += 1

    def new_group(self) -> int:
        self.groups += 1
        return self.groups

    def place(self, block: int, instruction: Instruction, behind: int = 0) -> None:
        """Adds an access, behind everything that it clashes with and behind the steps of the set `behind`."""
        self.memory.do(block, instruction)
        needed = behind | self.clashing(block, instruction)
        while missing := needed & ~self.known(block, instruction):
            earlier = self.dice.choice([step for step in self.steps if missing >> step.number & 1])
            if earlier.block == block:
                self.order_in_block(earlier, instruction.pipe)
            else:
                self.order_blocks(earlier, block, missing)
        self.insert(len(self.steps), block, instruction)

    def clashing(self, block: int, instruction: Instruction) -> int:
        found = 0
        for touch in instruction.touches:
            for step in self.steps:
                if touch.device is None and step.block != block:
                    continue
                for other in step.instruction.touches:
                    if touch.device == other.device and touch.conflicts(other):
                        found |= 1 << step.number
        return found

    def known(self, block: int, instruction: Instruction) -> int:
        candidate = Step(self.numbers, block, instruction)
        order = Order([*self.steps, candidate], self.shape, vector_in_order=self.vector_in_order)
        return order.before[candidate.number]

    def order_in_block(self, earlier: Step, pipe: Pipe) -> None:
        """One way or another from the pipe of a step to what a pipe does from now on."""
        source = earlier.instruction.pipe
        ways: list[Callable[[], None]] = [lambda: self.barrier(earlier, ALL)]
        if source == pipe:
            ways += [lambda: self.barrier(earlier, pipe)] * 4
        else:
            ways += [lambda: self.event(earlier, source, pipe)] * 5
        if Pipe.S not in {source, pipe}:
            ways.append(lambda: self.event(earlier, source, Pipe.S))
        if source != Pipe.S:
            for between in set(QUEUES) - {source, pipe}:

                def passing_through(between: Pipe = between) -> None:
                    self.event(earlier, source, between)
                    self.event(self.steps[-1], between, pipe)

                ways.append(passing_through)
        self.dice.choice(ways)()

    def barrier(self, earlier: Step, of: int) -> None:
        at = len(self.steps) if self.dice.random() < 0.5 else self.behind(earlier)
        self.insert(at, earlier.block, Barrier(of), self.new_group())

    def behind(self, earlier: Step) -> int:
        return self.dice.randint(self.steps.index(earlier) + 1, len(self.steps))

    def event(self, earlier: Step, source: Pipe, destination: Pipe) -> None:
        """Set somewhere behind the step, with an id that is free from there on, and waited for now."""
        at = self.behind(earlier)

        def taken(id: int) -> bool:
            return any(
                isinstance(step.instruction, Event)
                and step.block == earlier.block
                and (step.instruction.source, step.instruction.destination, step.instruction.id)
                == (source, destination, id)
                for step in self.steps[at:]
            )

        free = [id for id in EVENT_IDS if not taken(id)]
        if not free:
            at, free = len(self.steps), list(EVENT_IDS)
        id = self.dice.choice(free)
        group = self.new_group()
        self.insert(at, earlier.block, Event(SET_FLAG, source, destination, id), group)
        self.insert(len(self.steps), earlier.block, Event(WAIT_FLAG, source, destination, id), group)

    def order_blocks(self, earlier: Step, block: int, missing: int) -> None:
        same_device = self.shape.device_of(earlier.block) == self.shape.device_of(block)
        if same_device and (self.dice.random() < 0.25 or self.flags_of_block[earlier.block] == FLAGS):
            self.sync_all(self.shape.device_of(block))
        elif same_device and self.dice.random() < 0.1:
            self.cross_core(earlier)
        else:
            others = [
                step.number
                for step in self.steps
                if step.block == earlier.block and missing >> step.number & 1
            ]
            behind = others if self.dice.random() < 0.5 else [earlier.number]
            self.tell(earlier.block, block, sum(1 << number for number in behind))

    def blocks_of(self, device: int) -> range:
        return range(device * self.shape.blocks, (device + 1) * self.shape.blocks)

    def sync_all(self, device: int) -> None:
        group = self.new_group()
        for block in self.blocks_of(device):
            self.insert(len(self.steps), block, SyncAll(), group)

    def cross_core(self, earlier: Step) -> None:
        """Says that the pipe MTE3 of all blocks is done, and what it has waited for."""
        group = self.new_group()
        if earlier.instruction.pipe == Pipe.S:
            self.insert(len(self.steps), earlier.block, Barrier(ALL), group)
        elif earlier.instruction.pipe != Pipe.MTE3:
            self.order_in_block(earlier, Pipe.S)
        id = self.dice.choice(CROSS_CORE_IDS)
        blocks = self.blocks_of(self.shape.device_of(earlier.block))
        for operation in (CROSS_CORE_SET, CROSS_CORE_WAIT):
            for block in blocks:
                self.insert(len(self.steps), block, CrossCore(operation, id), group)

    def tell(self, teller: int, listener: int, behind: int) -> None:
        """A flag in GM, set behind those steps."""
        devices = [device for device, flags in enumerate(self.flags) if flags < FLAGS]
        if not devices or self.flags_of_block[teller] == FLAGS:
            raise NoRoomError
        device = self.dice.choice(devices)
        at = self.shape.flags + self.flags[device] * LINE
        self.flags[device] += 1
        value = self.dice.randint(1, 2**31)
        if self.dice.random() < 0.7:
            ub = self.shape.ub + self.flags_of_block[teller] * GRANULE
            self.flags_of_block[teller] += 1
            self.place(teller, Scalar(SET_UB, -1, ub, add=value))
            self.place(teller, Copy(STORE, 2, ub, GRANULE, device=device, gm=at), behind)
        else:
            self.place(teller, Scalar(SET_GM, -1, at, device, value), behind)
        operation = self.dice.choice((POLL, POLL, POLL_WITH_BARRIERS, POLL_BY_SCALAR))
        poll = Poll(operation, device, at, self.shape.poll_scratch, value)
        self.insert(len(self.steps), listener, poll, self.new_group())

    # ---- accesses ----

    def begin(self) -> None:
        """Every block has numbers in its UB, and zeros where it makes flags."""
        for block in range(self.shape.all_blocks):
            device = self.shape.device_of(block)
            self.place(block, Copy(LOAD, 2, 0, self.shape.ub, device=device, gm=self.shape.gm))
            zeros = FLAGS * GRANULE // 4
            self.place(block, Vector("Duplicate", "int32", "int32", self.shape.ub, 0, 0, 0, zeros))

    def length(self, limit: int) -> int:
        return min(self.dice.choice(LENGTHS) * self.dice.choice((1, self.scale)), limit)

    def ub_place(self, block: int, bytes: int) -> int:
        """Often where something has been before."""
        last = (self.shape.ub - round_up(bytes)) // GRANULE
        recent = [at for at in self.recent_ub[block][-6:] if at // GRANULE <= last]
        at = (
            self.dice.choice(recent)
            if recent and self.dice.random() < 0.6
            else self.dice.randint(0, last) * GRANULE
        )
        self.recent_ub[block].append(at)
        return at

    def gm_place(self, block: int, bytes: int, element: int) -> tuple[int, int]:
        last = self.shape.gm - bytes
        recent = [(device, at) for device, at in self.recent_gm[-8:] if at <= last]
        if recent and self.dice.random() < 0.4:
            device, at = self.dice.choice(recent)
        else:
            own = self.shape.device_of(block)
            device = own if self.dice.random() < 0.7 else self.dice.randrange(self.shape.devices)
            share = self.shape.gm // self.shape.blocks
            first = block % self.shape.blocks * share if self.dice.random() < 0.7 else 0
            at = min(first + self.dice.randint(0, share - 1), last)
        at -= at % element
        self.recent_gm.append((device, at))
        return device, at

    def copy(self, block: int, operation: int) -> Copy:
        rows = 1 if self.dice.random() < 0.75 else self.dice.randint(2, 5)
        form = self.dice.choice((0, 0, 1, 2 if rows == 1 else 1))
        element = self.dice.choice((1, 1, 2, 4)) if form != 1 or operation == LOAD else 1
        length = self.length(self.shape.ub // 2 // rows - 2 * GRANULE)
        unit = GRANULE if form else element
        length = max(length // unit * unit, unit)
        gaps = (0, 0) if rows == 1 else (self.dice.randint(0, 70), self.dice.randint(0, 3) * GRANULE)
        gm_gap = gaps[0] // GRANULE * GRANULE if form else gaps[0] // element * element
        copy = Copy(operation, form, 0, length, rows, element=element, gm_gap=gm_gap, ub_gap=gaps[1])
        if operation == LOAD and form == 0 and self.dice.random() < 0.25:
            room = min(GRANULE // element, 8)
            copy = replace(
                copy,
                left=self.dice.randint(0, room),
                right=self.dice.randint(0, room),
                pad=self.dice.randint(0, (96 << (8 * element - 8)) - 1),
            )
        if operation == STORE and element > 1 and self.dice.random() < 0.5:
            copy = replace(copy, atomic=self.dice.choice((1, 2)))
        device, at = self.gm_place(block, copy.end_in_gm, element)
        return replace(copy, device=device, gm=at, ub=self.ub_place(block, copy.end_in_ub))

    def copy_within(self, block: int) -> Copy | None:
        rows = 1 if self.dice.random() < 0.7 else self.dice.randint(2, 4)
        length = round_up(self.length(self.shape.ub // 4 // rows - 2 * GRANULE))
        form = 1 if rows > 1 else self.dice.choice((1, 2))
        gaps = (0, 0) if rows == 1 else (self.dice.randint(0, 2), self.dice.randint(0, 2))
        copy = Copy(WITHIN, form, 0, length, rows, ub_gap=gaps[0] * GRANULE, ub_to_gap=gaps[1] * GRANULE)
        copy = replace(
            copy, ub=self.ub_place(block, copy.end_in_ub), ub_to=self.ub_place(block, copy.end_in_ub_to)
        )
        size, to_size = copy.end_in_ub - copy.ub, copy.end_in_ub_to - copy.ub_to
        return None if copy.ub < copy.ub_to + to_size and copy.ub_to < copy.ub + size else copy

    def vector(self, block: int) -> Vector | None:
        name = self.dice.choice((*VECTOR_NAMES, "Cast"))
        types = ("int16", "int32") if name == "Max" else ("int16", "int32", "float16", "float32")
        to_type, type = self.dice.choice(CASTS) if name == "Cast" else (self.dice.choice(types),) * 2
        count = max(self.length(self.shape.ub // 4) // 4, 1)
        to = self.ub_place(block, count * SIZES[to_type])
        left = self.ub_place(block, count * SIZES[type])
        right = self.ub_place(block, count * SIZES[type])
        vector = Vector(name, to_type, type, to, left, right, self.dice.randint(-3, 5), count)
        size, to_size = round_up(count * SIZES[type]), round_up(count * SIZES[to_type])
        for source in vector.sources:
            in_place = source == to and to_type == type
            if not in_place and source < to + to_size and to < source + size:
                return None
        return vector

    def scalar(self, block: int) -> Scalar:
        operation = self.dice.choice((GET_UB, GET_UB, SET_UB, SET_UB, GET_GM, SET_GM))
        register = self.dice.randrange(4)
        add = self.dice.randint(0, 100)
        if operation in {GET_UB, SET_UB}:
            at = self.ub_place(block, GRANULE) + self.dice.randrange(8) * 4
            return Scalar(operation, register, at, add=add)
        device, at = self.gm_place(block, 4, 4)
        return Scalar(operation, register, at, device, add)

    def rereads(self, block: int, instruction: Instruction) -> bool:
        """A small piece of GM that the block has read before, as a poll would."""
        if not instruction.small:
            return False
        looks = {
            (touch.device, touch.mask)
            for touch in instruction.touches
            if touch.device is not None and not touch.write
        }
        again = not looks.isdisjoint(self.looks[block])
        self.looks[block] |= looks
        return again

    def draw(self, block: int) -> Instruction | None:
        kind = self.dice.random()
        if kind < 0.25:
            return self.copy(block, LOAD)
        if kind < 0.5:
            return self.copy(block, STORE)
        if kind < 0.6:
            return self.copy_within(block)
        if kind < 0.85:
            return self.vector(block)
        return self.scalar(block)


class NoRoomError(Exception):
    """The program has as many flags as there is room for."""


def draw_shape(seed: int, scale: int) -> Shape:
    dice = random.Random(seed)
    return Shape(dice.choice((1, 1, 2)), dice.choice((1, 1, 2, 3)), 8192 * scale, 4096 * scale)


def draw(
    seed: int,
    architecture: str,
    *,
    scale: int = 1,
    polls_data: bool = False,
    memory: Memory | None = None,
) -> Program:
    """A right program, for what is in memory if that is given. `scale` makes its memory and its copies so many times
    larger. Where it `polls_data` it may read a small piece of GM again, which strict mode takes for a wait.
    """
    dice = random.Random(seed)
    shape = memory.shape if memory else draw_shape(seed, scale)
    memory = memory or Memory(shape, seed)
    drawer = Drawer(shape, seed, architecture == "dav-c310-vec", scale, memory)
    drawer.begin()
    block = 0
    try:
        for _ in range(dice.randint(4, 40)):
            if dice.random() < 0.4:
                block = dice.randrange(shape.all_blocks)
            instruction = drawer.draw(block)
            if instruction is not None and (polls_data or not drawer.rereads(block, instruction)):
                try:
                    drawer.place(block, instruction)
                except NoNumberError:
                    continue
    except NoRoomError:
        pass
    return Program(seed, shape, drawer.vector_in_order, drawer.steps)


def draw_launches(seed: int, architecture: str, count: int) -> list[Program]:
    """Right programs that one device does one after the other: what orders them is their stream."""
    launches: list[Program] = []
    shape = replace(draw_shape(seed, 1), devices=1)
    for turn in range(count):
        memory = Memory(shape, seed)
        for program in launches:
            memory.launch(program.steps)
        memory.begin()
        launches.append(draw(seed + turn, architecture, memory=memory))
    return launches
