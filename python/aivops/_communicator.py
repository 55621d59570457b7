"""One rank's view of a group: its number, the size of the group and the collectives."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrays, _core
from ._arrays import Array
from .errors import InvalidValueError


class Communicator:
    """Made by a group, one per rank; every rank makes the same calls in the same order.

    Arrays are numpy arrays or whatever `numpy.asarray` takes; what is not contiguous is copied first.
    Unless said otherwise shapes and types are equal on all ranks.

    Every call takes `timeout` in seconds (None means the group's, `inf` never). Those that return one array take
    `out`, which is filled and returned. `dtype` names the element type of arrays that numpy has no type for:
    "hifloat8" in arrays of uint8. `op` is "sum", "prod", "max" or "min"; elements are folded in rank order,
    float16 and bfloat16 in float32 with one rounding at the end, and integers wrap.
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
        """Every rank's `x`, stacked in rank order: shape `(size, *x.shape)`."""
        source = _arrays.operand("all_gather()", x, dtype)
        result = _arrays.result("all_gather()", (self.size, *source.array.shape), source.array.dtype, out)
        self._run("all_gather", source.element_type, source.array, result, source.array.size, timeout=timeout)
        return result

    def all_gather_v(
        self,
        x: Any,
        counts: Sequence[int] | None = None,
        *,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> list[Array]:
        """Every rank's `x`, in rank order. Lengths of axis 0 may differ.

        `counts` are these lengths by rank; without them the ranks ask each other first.
        """
        source = _arrays.operand("all_gather_v()", x, dtype)
        if source.array.ndim == 0:
            raise InvalidValueError("all_gather_v(): x is a scalar, expected at least one axis")
        own = len(source.array)
        rows = self._counts(
            "all_gather_v()", self.all_gather(np.int64(own), timeout=timeout) if counts is None else counts
        )
        if rows[self.rank] != own:
            raise InvalidValueError(
                f"all_gather_v(): x has length {own}, but counts[{self.rank}] is {rows[self.rank]}"
            )
        inner = source.array.shape[1:]
        result = np.empty((int(rows.sum()), *inner), source.array.dtype)
        self._run(
            "all_gather_v",
            source.element_type,
            source.array,
            result,
            counts=rows * prod(inner),
            timeout=timeout,
        )
        return np.split(result, np.cumsum(rows)[:-1])

    def all_reduce(
        self,
        x: Any,
        op: str = "sum",
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array:
        """All ranks' `x`, folded: shape `x.shape`. `x` is untouched unless it is `out` as well."""
        source = _arrays.operand("all_reduce()", x, dtype)
        result = _arrays.result("all_reduce()", source.array.shape, source.array.dtype, out)
        self._run(
            "all_reduce", source.element_type, source.array, result, source.array.size, op=op, timeout=timeout
        )
        return result

    def reduce_scatter(
        self,
        x: Any,
        op: str = "sum",
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array:
        """Part `rank` of all ranks' `x`, folded. `x` has shape `(size * k, …)`, the result `(k, …)`."""
        source = _arrays.operand("reduce_scatter()", x, dtype)
        shape = source.array.shape
        if not shape or shape[0] % self.size:
            raise InvalidValueError(
                f"reduce_scatter(): x has shape {shape}, expected a first axis that {self.size} ranks divide"
            )
        result = _arrays.result(
            "reduce_scatter()", (shape[0] // self.size, *shape[1:]), source.array.dtype, out
        )
        self._run(
            "reduce_scatter", source.element_type, source.array, result, result.size, op=op, timeout=timeout
        )
        return result

    def reduce_scatter_v(
        self,
        x: Any,
        counts: Sequence[int],
        op: str = "sum",
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array:
        """`counts[rank]` rows of all ranks' `x`, folded. `x` has shape `(sum(counts), …)`."""
        source = _arrays.operand("reduce_scatter_v()", x, dtype)
        rows = self._counts("reduce_scatter_v()", counts)
        shape = source.array.shape
        if not shape or shape[0] != rows.sum():
            raise InvalidValueError(
                f"reduce_scatter_v(): x has shape {shape}, but counts add up to {rows.sum()}"
            )
        result = _arrays.result(
            "reduce_scatter_v()", (int(rows[self.rank]), *shape[1:]), source.array.dtype, out
        )
        self._run(
            "reduce_scatter_v",
            source.element_type,
            source.array,
            result,
            op=op,
            counts=rows * prod(shape[1:]),
            timeout=timeout,
        )
        return result

    def all_to_all(
        self, x: Any, *, out: Array | None = None, dtype: str | None = None, timeout: float | None = None
    ) -> Array:
        """Row r of `x` goes to rank r, row r of the result comes from rank r; both have shape `(size, …)`."""
        source = _arrays.operand("all_to_all()", x, dtype)
        self._require_rows("all_to_all()", source.array)
        result = _arrays.result("all_to_all()", source.array.shape, source.array.dtype, out)
        self._run(
            "all_to_all",
            source.element_type,
            source.array,
            result,
            source.array.size // self.size,
            timeout=timeout,
        )
        return result

    def all_to_all_v(
        self,
        parts: Sequence[Any],
        counts: npt.ArrayLike | None = None,
        *,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> list[Array]:
        """Part r goes to rank r; the result is what each rank sent here. Lengths of axis 0 may differ.

        `counts[i][j]` is the length that rank i sends to rank j; without it the ranks ask each other first.
        """
        call = "all_to_all_v()"
        if len(parts) != self.size:
            raise InvalidValueError(f"{call}: {len(parts)} parts, expected {self.size}, one per rank")
        operands = [_arrays.operand(call, part, dtype) for part in parts]
        kinds = {(o.array.dtype, o.array.ndim > 0, o.array.shape[1:]) for o in operands}
        if len(kinds) > 1 or operands[0].array.ndim == 0:
            raise InvalidValueError(
                f"{call}: the parts have shapes {[o.array.shape for o in operands]}; "
                "they may differ on axis 0 only"
            )
        sent = np.array([len(o.array) for o in operands], np.int64)
        matrix = np.asarray(self.all_gather(sent, timeout=timeout) if counts is None else counts, np.int64)
        if matrix.shape != (self.size, self.size) or (matrix[self.rank] != sent).any():
            raise InvalidValueError(
                f"{call}: counts are {matrix.tolist()}, expected {self.size} rows of {self.size} "
                f"with row {self.rank} equal to the lengths {sent.tolist()}"
            )
        inner = operands[0].array.shape[1:]
        received = matrix[:, self.rank]
        source = np.concatenate([o.array for o in operands])
        result = np.empty((int(received.sum()), *inner), source.dtype)
        self._run(
            "all_to_all_v",
            operands[0].element_type,
            source,
            result,
            counts=matrix.ravel() * prod(inner),
            timeout=timeout,
        )
        return np.split(result, np.cumsum(received)[:-1])

    def broadcast(
        self,
        x: Any,
        root: int = 0,
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array:
        """Root's `x`. The other ranks' `x` gives shape and type only."""
        source = _arrays.operand("broadcast()", x, dtype)
        result = _arrays.result("broadcast()", source.array.shape, source.array.dtype, out)
        self._run(
            "broadcast",
            source.element_type,
            source.array,
            result,
            source.array.size,
            root=root,
            timeout=timeout,
        )
        return result

    def scatter(
        self,
        x: Any | None,
        root: int = 0,
        *,
        out: Array | None = None,
        shape: tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Array:
        """Row `rank` of root's `x`, which has shape `(size, …)`.

        The other ranks pass None and say what they get by `out`, or by `shape` and `dtype`.
        """
        if self.rank == root:
            source = _arrays.operand("scatter()", x, "hifloat8" if dtype == "hifloat8" else None)
            self._require_rows("scatter()", source.array)
            result = _arrays.result("scatter()", source.array.shape[1:], source.array.dtype, out)
            self._run(
                "scatter", source.element_type, source.array, result, result.size, root=root, timeout=timeout
            )
            return result
        if out is None:
            if shape is None or dtype is None:
                raise InvalidValueError(
                    "scatter(): a rank other than root passes out=, or shape= and dtype=; this one did not"
                )
            out = np.empty(shape, np.uint8 if dtype == "hifloat8" else dtype)
        target = _arrays.target("scatter()", out, "hifloat8" if dtype == "hifloat8" else None)
        self._run("scatter", target.element_type, None, target.array, out.size, root=root, timeout=timeout)
        return out

    def gather(
        self,
        x: Any,
        root: int = 0,
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array | None:
        """On root every rank's `x`, stacked in rank order: shape `(size, *x.shape)`; None elsewhere."""
        source = _arrays.operand("gather()", x, dtype)
        result = None
        if self.rank == root:
            result = _arrays.result("gather()", (self.size, *source.array.shape), source.array.dtype, out)
        self._run(
            "gather",
            source.element_type,
            source.array,
            result,
            source.array.size,
            root=root,
            timeout=timeout,
        )
        return result

    def reduce(
        self,
        x: Any,
        op: str = "sum",
        root: int = 0,
        *,
        out: Array | None = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Array | None:
        """On root all ranks' `x`, folded: shape `x.shape`; None elsewhere."""
        source = _arrays.operand("reduce()", x, dtype)
        result = None
        if self.rank == root:
            result = _arrays.result("reduce()", source.array.shape, source.array.dtype, out)
        self._run(
            "reduce",
            source.element_type,
            source.array,
            result,
            source.array.size,
            op=op,
            root=root,
            timeout=timeout,
        )
        return result

    def send(self, x: Any, dst: int, *, dtype: str | None = None, timeout: float | None = None) -> None:
        """Sends `x` to rank `dst`; returns when that rank has received it."""
        self._require_other("send()", dst)
        source = _arrays.operand("send()", x, dtype)
        self._run(
            "send/recv",
            source.element_type,
            source.array,
            None,
            source.array.size,
            root=self.rank,
            peer=dst,
            timeout=timeout,
        )

    def recv(self, src: int, out: Array, *, dtype: str | None = None, timeout: float | None = None) -> Array:
        """Receives into `out` what rank `src` sends, which must have as many elements of the same type."""
        self._require_other("recv()", src)
        target = _arrays.target("recv()", out, dtype)
        self._run(
            "send/recv",
            target.element_type,
            None,
            target.array,
            out.size,
            root=src,
            peer=src,
            timeout=timeout,
        )
        return out

    def barrier(self, *, timeout: float | None = None) -> None:
        """Returns when every rank has come here."""
        self._run("barrier", "uint8", None, None, timeout=timeout)

    def _run(
        self,
        operation: str,
        element_type: str,
        source: Array | None,
        result: Array | None,
        count: int = 0,
        *,
        op: str = "sum",
        root: int = 0,
        peer: int = 0,
        counts: npt.NDArray[np.int64] | None = None,
        timeout: float | None,
    ) -> None:
        if not 0 <= root < self.size:
            raise InvalidValueError(f"{operation}(): root is {root}, expected 0 to {self.size - 1}")
        self._core.run(
            operation,
            element_type,
            count,
            input=0 if source is None else _arrays.address(source),
            output=0 if result is None else _arrays.address(result),
            reduction=op,
            root=root,
            peer=peer,
            counts=[] if counts is None else counts.tolist(),
            timeout=timeout,
        )

    def _counts(self, call: str, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Checked lengths by rank."""
        rows = np.asarray(counts, np.int64)
        if rows.shape != (self.size,) or (rows < 0).any():
            raise InvalidValueError(
                f"{call}: counts are {rows.tolist()}, expected {self.size} lengths, one per rank"
            )
        return rows

    def _require_rows(self, call: str, array: Array) -> None:
        if array.shape[:1] != (self.size,):
            raise InvalidValueError(
                f"{call}: x has shape {array.shape}, expected a first axis of {self.size}, one row per rank"
            )

    def _require_other(self, call: str, rank: int) -> None:
        if not 0 <= rank < self.size or rank == self.rank:
            raise InvalidValueError(
                f"{call}: the peer is rank {rank}, expected 0 to {self.size - 1} and not {self.rank} itself"
            )
