"""One rank's view of a group: its number, the size of the group and the collectives."""

from __future__ import annotations

from typing import Any

from . import _arrays, _core
from ._arrays import Array


class Communicator:
    """Made by a group, one per rank; every rank makes the same calls in the same order.

    Arrays are numpy arrays or whatever `numpy.asarray` takes; those that are not contiguous are copied first.
    `timeout` is in seconds: None means the group's, `inf` never.
    """

    def __init__(self, core: _core.Communicator) -> None:
        self._core = core

    @property
    def rank(self) -> int:
        """This rank's number, 0 … size-1."""
        return self._core.rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._core.size

    def __repr__(self) -> str:
        return f"<aivops.Communicator rank {self.rank} of {self.size}>"

    def all_gather(
        self, x: Any, *, out: Array | None = None, dtype: str | None = None, timeout: float | None = None
    ) -> Array:
        """Every rank's `x`, stacked in rank order: shape `(size, *x.shape)`.

        Shapes and types must be equal on all ranks.
        """
        source = _arrays.operand("all_gather()", x, dtype)
        result = _arrays.result("all_gather()", (self.size, *source.array.shape), source, out)
        self._run("all_gather", source, result, source.array.size, timeout=timeout)
        return result

    def _run(
        self,
        operation: str,
        source: _arrays.Operand,
        result: Array,
        count: int,
        *,
        op: str = "sum",
        root: int = 0,
        timeout: float | None,
    ) -> None:
        self._core.run(
            operation,
            source.element_type,
            count,
            input=_arrays.address(source.array),
            output=_arrays.address(result),
            reduction=op,
            root=root,
            timeout=timeout,
        )
