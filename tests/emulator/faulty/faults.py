"""The table of the wrong kernels: what each does wrong, what strict mode says of it, and where it cannot go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).parent / "kernels"
TILE = 256  # elements, as in twins.h

Numbers = np.ndarray
FILL = 0xFFFF  # of every output before its call


@dataclass(frozen=True)
class Setup:
    """One way to run a kernel: its ranks, blocks and elements, and how many calls follow each other."""

    ranks: int
    blocks: int
    count: int
    calls: int = 3

    @property
    def share(self) -> int:
        """Elements of the first block, which has the most."""
        return -(-self.count // self.blocks)

    @property
    def tiles(self) -> int:
        return -(-self.share // TILE)


def of_all(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    total: Numbers = np.sum(inputs, axis=0, dtype=np.int32)
    return total


def same(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[rank]


def one_more(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[rank] + 1


def added(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[rank] + FILL


def summed(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    sums = np.full_like(inputs[rank], FILL)
    sums[:TILE] += setup.blocks * inputs[rank][:TILE]
    return sums


def of_next_rank(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[(rank + 1) % setup.ranks]


def of_next_rank_if_any(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[min(rank + 1, setup.ranks - 1)]


def of_rank_before(inputs: list[Numbers], rank: int, setup: Setup) -> Numbers:
    return inputs[(rank - 1) % setup.ranks]


@dataclass(frozen=True)
class Fault:
    """A kernel with a fault and its twin without."""

    name: str
    category: str
    says: tuple[str, ...]
    places: tuple[str, ...]  # marks in the sources; a race has two
    rule: str  # of the hardware, that it breaks
    result: Callable[[list[Numbers], int, Setup], Numbers] = same  # of the right twin
    shows: bool = False  # its results are wrong even when every instruction acts at once and in order
    # The fault is met from here on.
    blocks: int = 1
    ranks: int = 1
    share: int = 1
    tiles: int = 1
    steps: int = 1  # tiles through all calls
    more_blocks: int = 0  # of the wrong twin's launch: the fault

    def is_met(self, setup: Setup) -> bool:
        return (
            setup.blocks >= self.blocks
            and setup.ranks >= self.ranks
            and setup.share >= self.share
            and setup.tiles >= self.tiles
            and setup.tiles * setup.calls >= self.steps
        )

    @property
    def description(self) -> str:
        """The comment that the kernel begins with."""
        lines = (KERNELS / f"{self.name}.asc").read_text().split("#include")[0].splitlines()
        return " ".join(line.removeprefix("// ") for line in lines)

    def lines(self) -> list[str]:
        """Where the report must point, as `file:line`."""
        return [place_of(self.name, mark) for mark in self.places]


def place_of(kernel: str, mark: str) -> str:
    for file in (KERNELS / f"{kernel}.asc", KERNELS / "twins.h"):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(rf"// \[{mark}\]$", line):
                return f"{file.name}:{number}"
    raise AssertionError(f"{kernel}.asc has no mark [{mark}]")


UB_RACE = ("nothing orders two accesses to UB",)
GM_RACE = ("nothing orders two accesses to GM",)
WAITS = ("all that runs in this process waits", "where it finds 0x", "and goes on with 0x")
SAME_VALUE = ("cannot tell this call from the one before",)


def race(name: str, first: str, second: str, rule: str, **more: object) -> Fault:
    says = more.pop("says", UB_RACE)
    return Fault(name, "racecheck", says, (first, second), rule, **more)  # type: ignore[arg-type]


UNORDERED_PIPES = "pipes run concurrently; only an event, a queue or a barrier orders two of them"
UNORDERED_CORES = "nothing orders cores and ranks but flags behind barriers, and SyncAll"

FAULTS = (
    # Events and barriers between the pipes of a core.
    race("no_event_before_store", "load", "store", UNORDERED_PIPES),
    race("no_event_before_compute", "load", "compute", UNORDERED_PIPES, result=one_more),
    race("no_event_before_result_store", "compute", "store", UNORDERED_PIPES, result=one_more),
    race("no_event_before_reload", "store", "load", UNORDERED_PIPES, tiles=2),
    race("no_event_before_scalar_read", "load", "read", "GetValue does not wait for MTE2"),
    race(
        "no_event_after_scalar_write",
        "write",
        "store",
        "MTE3 does not wait for SetValue",
        result=one_more,
    ),
    race("event_of_wrong_pipes", "load", "store", UNORDERED_PIPES),
    race("event_swapped", "load", "store", UNORDERED_PIPES),
    Fault(
        "event_set_twice",
        "synccheck",
        ("event id 0 is already set",),
        ("set",),
        "a second SetFlag before a wait is undefined",
    ),
    Fault(
        "event_never_set",
        "deadlock",
        ("MTE2_S event id 1 was not set", "MTE2_S id 0 set and not waited for"),
        ("wait",),
        "WaitFlag stalls until the bit is 1",
    ),
    Fault(
        "event_left_set",
        "synccheck",
        ("MTE3_MTE2 id 0 set and not waited for",),
        ("set",),
        "pairs must match exactly",
    ),
    Fault(
        "event_id_too_large",
        "synccheck",
        ("the ids of a pair of pipes go from 0 to 7",),
        ("set",),
        "a pair of pipes has eight events",
    ),
    race(
        "no_barrier_between_computes",
        "first",
        "second",
        "V after V needs PipeBarrier<PIPE_V> on 2201",
        result=one_more,
    ),
    race("no_barrier_between_loads", "first", "second", "loads start in order and need not end in order"),
    # Queues.
    race("queue_bypassed", "load", "store", "EnQue and DeQue order MTE2 before MTE3"),
    Fault(
        "double_free",
        "memcheck",
        ("is free already",),
        ("free",),
        "FreeTensor is legal from any state but FREE",
    ),
    Fault(
        "use_after_free",
        "memcheck",
        ("of a tensor that FreeTensor gave back",),
        ("use",),
        "the buffer belongs to the queue again",
        one_more,
    ),
    Fault(
        "part_of_freed",
        "initcheck",
        ("the tensor was freed",),
        ("use",),
        "the buffer belongs to the queue again",
        one_more,
    ),
    Fault(
        "alloc_beyond_buffers",
        "deadlock",
        ("every buffer of the queue is in use",),
        ("alloc",),
        "with no free buffer AllocTensor spins for ever",
    ),
    Fault(
        "dequeue_empty",
        "synccheck",
        ("the queue is empty",),
        ("dequeue",),
        "DeQue of an empty queue is an error",
    ),
    Fault(
        "queue_left_full",
        "synccheck",
        ("was never taken from its queue",),
        ("end",),
        "event pairs must match exactly",
    ),
    Fault(
        "enqueue_beyond_depth",
        "synccheck",
        ("as many tensors as its depth allows",),
        ("enqueue",),
        "depth is how many tensors may sit in the queue",
    ),
    Fault(
        "freed_to_wrong_queue",
        "memcheck",
        ("belongs to no buffer of this queue",),
        ("free",),
        "states belong to the queue's own buffers",
        one_more,
    ),
    # Memory.
    Fault(
        "uninitialised_ub",
        "initcheck",
        ("where nothing was written",),
        ("use",),
        "content is unspecified",
        one_more,
        shows=True,
    ),
    Fault(
        "off_by_one_tail",
        "initcheck",
        ("where nothing was written",),
        ("use",),
        "content is unspecified",
        one_more,
        shows=True,
    ),
    Fault(
        "not_whole_units",
        "memcheck",
        ("whole units of 32 bytes",),
        ("store",),
        "DataCopy rounds down to 32 bytes",
        shows=True,
    ),
    Fault(
        "misaligned_ub",
        "memcheck",
        ("is not a multiple of 32",),
        ("load",),
        "the UB address is 32-byte aligned",
    ),
    Fault("ub_overflow", "memcheck", ("UB overflow",), ("load",), "192 KiB (2201), 256 KiB (3510)"),
    Fault(
        "buffer_overrun",
        "memcheck",
        ("leave their buffer of 32 bytes at offset 0",),
        ("load",),
        "a buffer has the bytes that InitBuffer gave it, and the next one begins behind them",
        one_more,
        share=9,
        shows=True,
    ),
    Fault(
        "no_buffer",
        "memcheck",
        ("the tensor has no buffer",),
        ("load",),
        "LocalTensor() has no address until a tensor is assigned",
    ),
    Fault("gm_overrun", "memcheck", ("beyond the end of the",), ("store",), "the allocation ends before it"),
    Fault(
        "freed_memory",
        "memcheck",
        ("in freed memory",),
        ("store",),
        "no allocation has that address any more",
    ),
    Fault(
        "gap_in_bytes",
        "initcheck",
        ("where nothing was written",),
        ("read",),
        "the gap in UB counts units of 32 bytes",
        share=16,
        shows=True,
    ),
    Fault(
        "repeat_stride_doubled",
        "initcheck",
        ("where nothing was written",),
        ("use",),
        "repeats of 256 bytes lie 8 units apart",
        one_more,
        shows=True,
    ),
    Fault(
        "overlapping_operands",
        "memcheck",
        ("overlaps the source at offset 0 in part",),
        ("compute",),
        "operands that overlap in part are undefined",
        one_more,
        share=9,
        shows=True,
    ),
    # The scalar unit's cache.
    Fault(
        "stale_line",
        "racecheck",
        ("a stale line", "DataCacheCleanAndInvalid"),
        ("read",),
        "a load may return a stale line until it is invalidated",
    ),
    Fault(
        "store_not_cleaned",
        "racecheck",
        ("a read past the data cache", "DataCacheCleanAndInvalid"),
        ("load",),
        "a store is not visible to MTE until it is cleaned",
    ),
    Fault(
        "shared_line",
        "racecheck",
        ("cache line",),
        ("store", "store"),
        "whole lines are written back",
        blocks=2,
    ),
    *(
        Fault(
            name,
            "racecheck",
            ("is not cleaned from its core's data cache", "DataCacheCleanAndInvalid"),
            ("store", read),
            "a store is not visible to other cores until it is cleaned",
            blocks=2,
        )
        for name, read in (
            ("store_kept_in_cache", "read"),
            ("cleaned_behind_barrier", "load"),
            ("cleaned_behind_word", "read"),
        )
    ),
    Fault(
        "cleaned_behind_flag",
        "racecheck",
        ("is not cleaned from its core's data cache", "DataCacheCleanAndInvalid"),
        ("store", "read"),
        "a store is not visible to other cores until it is cleaned",
        ranks=2,
    ),
    Fault(
        "read_past_own_store",
        "racecheck",
        ("a read past the data cache", "DataCacheCleanAndInvalid"),
        ("read",),
        "a load past the data cache does not find what it keeps",
    ),
    Fault(
        "flag_not_cleaned",
        "deadlock",
        (WAITS[0], "never cleaned from its core's data cache", "DataCacheCleanAndInvalid"),
        ("set", "poll"),
        "a store is not visible to MTE until it is cleaned",
        of_rank_before,
        ranks=2,
    ),
    Fault(
        "stale_neighbour",
        "racecheck",
        ("a stale line", "DataCacheCleanAndInvalid"),
        ("read",),
        "whole lines are cached",
        blocks=2,
    ),
    Fault(
        "stale_window",
        "racecheck",
        ("a stale line", "DataCacheCleanAndInvalid"),
        ("read",),
        "MTE does not fix up cached copies",
        of_next_rank,
        ranks=2,
        tiles=2,
    ),
    Fault(
        "copy_lost_under_line",
        "racecheck",
        ("a write past the data cache", "DataCacheCleanAndInvalid"),
        ("copy",),
        "whole lines are written back",
    ),
    Fault(
        "store_to_stale_line",
        "racecheck",
        ("a stale line", "DataCacheCleanAndInvalid"),
        ("store",),
        "whole lines are written back",
    ),
    Fault(
        "line_shared_with_copy",
        "racecheck",
        ("cache line",),
        ("store", "copy"),
        "whole lines are written back",
        blocks=2,
    ),
    # Atomics.
    Fault(
        "atomic_mode_left_on",
        "synccheck",
        ("with an atomic mode on",),
        ("on",),
        "the mode is sticky state of the core",
        added,
    ),
    Fault(
        "atomic_of_wrong_type",
        "memcheck",
        ("atomic",),
        ("store",),
        "each element of the mode's type is updated on its own",
        added,
        shows=True,
    ),
    race(
        "sum_without_atomics",
        "load",
        "store",
        "a read-modify-write of two blocks",
        says=GM_RACE,
        result=summed,
        blocks=2,
    ),
    race(
        "updates_of_two_operations",
        "store",
        "store",
        "updates come in any order",
        says=(*GM_RACE, "they update elements by different operations"),
        result=summed,
        blocks=2,
    ),
    # Blocks of a launch.
    race("no_sync_all", "store", "load", UNORDERED_CORES, says=GM_RACE, blocks=2, shows=True),
    Fault(
        "sync_all_in_branch",
        "synccheck",
        ("blocks wait in SyncAll",),
        ("sync",),
        "every block calls SyncAll the same number of times",
        blocks=2,
    ),
    Fault(
        "more_blocks_than_cores",
        "deadlock",
        ("blocks wait in SyncAll", "no core is free"),
        ("sync",),
        "all blocks of a SyncAll must be resident",
        more_blocks=1,
    ),
    race("overlapping_stores", "store", "store", UNORDERED_CORES, says=GM_RACE, blocks=2, share=2),
    Fault(
        "cross_core_flag_never_set",
        "deadlock",
        ("waits for the cross-core flag 0, which block 0 has not set",),
        ("wait",),
        "mode 0 counts the sets of all cores",
    ),
    Fault(
        "cross_core_flag_left_set",
        "synccheck",
        ("cross-core flag 0 unpaired", "has set it 2 times and waited for it 1 time"),
        ("again",),
        "the flags are counters of the cores",
    ),
    race(
        "cross_core_flag_of_pair",
        "store",
        "load",
        "mode 1 counts the sets of the two cores of a pair",
        says=GM_RACE,
        blocks=3,
    ),
    Fault(
        "cross_core_flag_of_sync_all",
        "synccheck",
        ("cross-core flags 11 to 14, which belong to SyncAll",),
        ("sync",),
        "SyncAll uses the flags 11 to 14",
    ),
    # Ranks.
    race(
        "no_barrier_before_flag",
        "fill",
        "take",
        "stores start in order and need not end in order",
        says=GM_RACE,
        result=of_next_rank,
        ranks=2,
    ),
    race(
        "flag_before_data",
        "fill",
        "take",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_next_rank,
        ranks=2,
    ),
    *(
        race(name, "fill", "take", UNORDERED_CORES, says=GM_RACE, result=of_next_rank, ranks=2, shows=True)
        for name in ("no_wait_for_peer", "small_data_not_awaited")
    ),
    race(
        "number_read_too_early",
        "number",
        "look",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_next_rank,
        ranks=2,
    ),
    race(
        "no_acknowledgement",
        "take",
        "fill",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_next_rank_if_any,
        ranks=2,
        steps=2,
        shows=True,
    ),
    race(
        "acknowledged_too_early",
        "take",
        "fill",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_next_rank,
        ranks=2,
        steps=2,
    ),
    Fault(
        "constant_tag",
        "synccheck",
        SAME_VALUE,
        ("tell", "poll"),
        "a poll cannot tell this call from the one before",
        of_next_rank,
        ranks=2,
        steps=2,
        shows=True,
    ),
    Fault(
        "tag_not_advanced",
        "synccheck",
        SAME_VALUE,
        ("tell", "poll"),
        "a poll cannot tell this tile from the one before",
        of_next_rank,
        ranks=2,
        tiles=2,
        shows=True,
    ),
    Fault(
        "older_launch_accepted",
        "synccheck",
        ("which it has gone on with before", *SAME_VALUE, *GM_RACE),
        ("poll", "tell", "fill", "take"),
        "a stale flag satisfies the poll",
        of_next_rank,
        ranks=2,
        steps=2,
        shows=True,
    ),
    race(
        "next_round_too_early",
        "store",
        "read",
        UNORDERED_CORES,
        says=GM_RACE,
        blocks=2,
    ),
    race(
        "counter_one_short",
        "fill",
        "take",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_all,
        ranks=2,
    ),
    race(
        "poll_without_barrier",
        "load",
        "read",
        "GetValue does not wait for MTE2",
        result=of_next_rank,
        ranks=2,
    ),
    race("window_overrun", "fill", "poll", UNORDERED_CORES, says=GM_RACE, result=of_next_rank, ranks=2),
    Fault(
        "flag_taken_back",
        "synccheck",
        ("is set back to 0", "may come too late to find it"),
        ("back", "poll"),
        UNORDERED_CORES,
        of_next_rank,
        ranks=2,
    ),
    Fault(
        "told_wrong_rank",
        "deadlock",
        WAITS,
        ("poll",),
        "nobody sets the flag that the rank polls",
        of_rank_before,
        ranks=2,
    ),
    Fault(
        "one_rank_too_many",
        "deadlock",
        WAITS,
        ("poll",),
        "nobody sets the flag of a rank that is not there",
        of_next_rank,
        ranks=2,
    ),
    race(
        "input_overwritten",
        "read",
        "write",
        UNORDERED_CORES,
        says=GM_RACE,
        result=of_next_rank,
        ranks=2,
        shows=True,
    ),
)
BY_NAME = {fault.name: fault for fault in FAULTS}
