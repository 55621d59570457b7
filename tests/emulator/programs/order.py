"""What comes before what: the order of the hardware's pipes, worked out with sets and from the documents alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from emulator.programs.instructions import (
    ALL,
    CROSS_CORE_SET,
    POLL_BY_SCALAR,
    POLL_WITH_BARRIERS,
    SET_FLAG,
    SET_GM,
    SET_UB,
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
    Touch,
)

QUEUES = (Pipe.V, Pipe.MTE2, Pipe.MTE3)
Known = int  # a set of steps that are done, a bit each


@dataclass
class Queue:
    before: Known = 0  # whatever the pipe begins comes after these
    done: Known = 0  # and when all of the pipe is done, so are these


@dataclass
class Block:
    passed: Known = 0  # what the scalar unit has waited for or read: all that it issues comes after
    written: Known = 0  # what it has written: only itself comes after
    queues: dict[Pipe, Queue] = field(default_factory=lambda: {pipe: Queue() for pipe in QUEUES})
    events: dict[tuple[Pipe, Pipe, int], list[Known]] = field(default_factory=lambda: defaultdict(list))

    def everything(self) -> Known:
        known = self.passed | self.written
        for queue in self.queues.values():
            known |= queue.before | queue.done
        return known

    def wait_for_all(self) -> None:
        self.passed |= self.everything()


class Order:
    """`before[n]` are the steps that are done when step n begins, whatever the pipes and blocks do. With `generous`,
    whoever reads a small piece of GM is taken to have waited for all who wrote it, as for a flag.
    """

    def __init__(
        self, steps: list[Step], shape: Shape, *, vector_in_order: bool, generous: bool = False
    ) -> None:
        self.shape = shape
        self.vector_in_order = vector_in_order
        self.generous = generous
        self.before: dict[int, Known] = {}
        self.blocks = [Block() for _ in range(shape.all_blocks)]
        self.told: dict[tuple[int, int], Known] = {}  # by a flag
        self.small_writes: list[tuple[Touch, Known]] = []
        self.arrived: dict[tuple[int, Instruction], list[int]] = defaultdict(list)
        self.crossed: dict[tuple[int, Instruction], Known] = defaultdict(int)
        for step in steps:
            self.do(step)

    def do(self, step: Step) -> None:
        block, instruction = self.blocks[step.block], step.instruction
        device = self.shape.device_of(step.block)
        match instruction:
            case Event():
                self.event(block, instruction)
            case Barrier():
                if instruction.of == ALL:
                    block.wait_for_all()
                else:
                    queue = block.queues[Pipe(instruction.of)]
                    queue.before |= queue.done
            case SyncAll():
                arrived = self.arrived[device, instruction]
                arrived.append(step.block)
                if len(arrived) == self.shape.blocks:
                    known = 0
                    for each in arrived:
                        known |= self.blocks[each].everything()
                    for each in arrived:
                        self.blocks[each].passed |= known
                    arrived.clear()
            case CrossCore():
                self.cross_core(device, block, instruction)
            case Poll():
                self.poll(block, instruction)
            case _:
                self.access(step, block, instruction)

    @staticmethod
    def event(block: Block, event: Event) -> None:
        tokens = block.events[event.source, event.destination, event.id]
        if event.operation == SET_FLAG:
            if event.source == Pipe.S:
                tokens.append(block.passed | block.written)
            else:
                queue = block.queues[event.source]
                tokens.append(queue.before | queue.done)
        elif event.destination == Pipe.S:
            block.passed |= tokens.pop(0)
        else:
            queue = block.queues[event.destination]
            queue.before |= tokens.pop(0)
            queue.done |= queue.before

    def cross_core(self, device: int, block: Block, flag: CrossCore) -> None:
        """All blocks of a device set it, and then all wait."""
        key = device, CrossCore(CROSS_CORE_SET, flag.id)
        if flag.operation == CROSS_CORE_SET:
            queue = block.queues[Pipe.MTE3]
            self.crossed[key] |= queue.before | queue.done | block.passed
        else:
            block.passed |= self.crossed[key]

    def poll(self, block: Block, poll: Poll) -> None:
        told = self.told.get((poll.device, poll.at), 0)
        if poll.operation != POLL_BY_SCALAR:
            queue = block.queues[Pipe.MTE2]
            queue.done |= told | queue.before
            block.passed |= queue.done
            if poll.operation == POLL_WITH_BARRIERS:
                block.wait_for_all()
        block.passed |= told

    def access(self, step: Step, block: Block, instruction: Instruction) -> None:
        own = 1 << step.number
        pipe = instruction.pipe
        known = block.passed | (block.written if pipe == Pipe.S else block.queues[pipe].before)
        if pipe == Pipe.V and self.vector_in_order:
            known |= block.queues[pipe].done
        if self.generous and instruction.small:
            known |= self.looked_at(instruction)
        self.before[step.number] = known
        if pipe != Pipe.S:
            block.queues[pipe].done |= known | own
        elif isinstance(instruction, Scalar) and instruction.operation in {SET_UB, SET_GM}:
            block.written |= own
            block.passed |= known & ~block.written
        else:
            block.passed |= (known | own) & ~block.written
        if instruction.small:
            for touch in instruction.touches:
                if touch.device is not None and touch.write:
                    self.small_writes.append((touch, known | own))
                    if isinstance(instruction, Scalar):
                        self.told[touch.device, instruction.at] = known | own
                    elif isinstance(instruction, Copy):
                        self.told[touch.device, instruction.gm] = known | own

    def looked_at(self, instruction: Instruction) -> Known:
        known = 0
        for read in instruction.touches:
            if read.device is not None and not read.write:
                for touch, told in self.small_writes:
                    if touch.device == read.device and touch.mask & read.mask:
                        known |= told
        return known


@dataclass(frozen=True)
class Clash:
    """Two accesses to the same bytes that nothing orders."""

    first: Step
    second: Step
    one: Touch
    other: Touch


def clashes(steps: list[Step], shape: Shape, order: Order, *, surely: bool) -> list[Clash]:
    """Accesses that clash by the hardware's units; or those only whose very bytes do, and which are both too large
    for a flag.
    """
    found = []
    accesses = [(step, step.instruction.touches) for step in steps if step.number in order.before]
    for at, (second, touches) in enumerate(accesses):
        known = order.before[second.number]
        for first, earlier in accesses[:at]:
            if known >> first.number & 1:
                continue
            for one in earlier:
                for other in touches:
                    if one.device != other.device or (one.device is None and first.block != second.block):
                        continue
                    if not surely and one.conflicts(other):
                        found.append(Clash(first, second, one, other))
                    elif surely and one.surely_conflicts(other):
                        may_be_flag = first.instruction.small or second.instruction.small
                        if one.device is None or not may_be_flag:
                            found.append(Clash(first, second, one, other))
    return found
