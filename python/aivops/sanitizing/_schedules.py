"""Orders of events that the emulator can be told to try: one per seed, and a sweep that holds things back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ._reports import Sweepable

# More than a process has: nothing is held back, and every instruction is counted.
HOLD_NOTHING = 1 << 32


@dataclass(frozen=True)
class Schedule:
    """One order of events, which the same variables give again."""

    seed: int = 0
    held: int | None = None
    """Of a sweep: the device, or behind the last device the instruction, that is as late as it may be."""

    @property
    def variables(self) -> dict[str, str]:
        how = "seed" if self.held is None else f"sweep:{self.held}"
        return {
            "AIVOPS_EMU_CHECK": "strict",
            "AIVOPS_EMU_SEED": str(self.seed),
            "AIVOPS_EMU_SCHEDULE": how,
        }

    @property
    def options(self) -> list[str]:
        """Of ``aivops sanitize``, which run this one alone."""
        if self.held is None:
            return ["--seed", str(self.seed)]
        return ["--hold", "nothing" if self.held == HOLD_NOTHING else str(self.held)]


def seeded(seeds: Iterable[int]) -> Iterator[Schedule]:
    return (Schedule(seed) for seed in seeds)


def sweep(what: Sweepable) -> Iterator[Schedule]:
    """Every device that was used, then every instruction."""
    yield from (Schedule(held=device) for device in sorted(what.devices))
    yield from (Schedule(held=what.all_devices + number) for number in range(what.instructions))
