"""Groups for the tests of collectives; one per size, since making one costs device memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import aivops
import pytest


@pytest.fixture(scope="session")
def group_of() -> Iterator[Callable[[int], aivops.LocalGroup]]:
    """`group_of(n)` is a group of n ranks with defaults, shared by all tests."""
    groups: dict[int, aivops.LocalGroup] = {}

    def get(size: int) -> aivops.LocalGroup:
        if size not in groups:
            groups[size] = aivops.LocalGroup(size)
        return groups[size]

    yield get
    for group in groups.values():
        group.close()
