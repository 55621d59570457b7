"""One rank's view of a group: its number, the size of the group and the collectives."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from math import prod
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arrays, _core, _toolkit
from ._arrays import Array, Operand
from ._binary import load_kernels
from ._bootstrap import Bootstrap, MpiBootstrap
from ._buffer import Buffer
from ._launchers import find_local_rank, find_place
from ._rendezvous import Rendezvous
from ._work import Work
from .errors import Error, InvalidTypeError, InvalidValueError, PeerFailedError, describe

_MEETING_SECONDS = 1800.0  # for ranks to meet outside of collectives, as long as their processes live


class Communicator:
    """One rank of a group; every rank makes the same calls in the same order.

    `LocalGroup` makes one per rank in this process, `Communicator(bootstrap)` one of ranks that meet through
    a `Bootstrap` of any kind. All ranks make theirs together, on a device each: `device` is a number or a
    `Device`, by default the rank's number. `window_bytes` is the memory per rank through which messages pass
    (longer ones pass in pieces), `blocks` fixes the number of blocks of every launch; both are equal on all
    ranks. `timeout` (seconds) bounds every wait for a peer: None is the smaller of 1 800 s and what the
    device can, `inf` never. `kernels` names the package that ships the collectives.

    Arrays are numpy arrays (or whatever `numpy.asarray` takes; what is not contiguous is copied first), or
    Buffers on this rank's device; results are of the same kind. Unless said otherwise shapes and types are
    equal on all ranks.

    Every call takes

    - `timeout` in seconds: None means the communicator's, `inf` never;
    - `out`, where it returns one array: filled and returned;
    - `dtype`, the element type of arrays that numpy has no type for: "hifloat8" in arrays of uint8;
    - `op`, where it folds: "sum", "prod", "max" or "min". Elements are folded in rank order, float16 and
      bfloat16 in float32 with one rounding at the end; integers wrap;
    - `stream` and `async_op`, where it is offered: where the call is queued (None means a stream of its own),
      and whether to return a `Work` at once, whose `wait()` gives the result.
    """

    def __init__(
        self,
        bootstrap: Bootstrap,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
    ) -> None:
        toolkit = _toolkit.current()
        if device is None:
            device = bootstrap.rank
        if isinstance(device, int):
            device = _core.Device(device)
        self._core = _core.Communicator(
            device, bootstrap, window_bytes, blocks or 0, timeout, load_kernels(kernels, toolkit=toolkit)
        )
        windows = [self._core.window(rank) for rank in range(self.size)]
        self._windows = [Buffer._over(window, (window.nbytes,), "uint8") for window in windows]
        self._rendezvous: Rendezvous | None = None
        self._closed = False

    @classmethod
    def from_env(
        cls,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
        join_timeout: float = 120.0,
    ) -> Communicator:
        """This process's rank of a job that `aivops run`, torchrun, mpirun or srun started on this machine.

        Every process of the job calls it, as often as the others; it waits `join_timeout` seconds for them.
        `device` is the local rank unless given. MASTER_PORT only tells jobs apart, it stays free.
        """
        if not join_timeout > 0:
            raise InvalidValueError(f"Communicator.from_env(): join_timeout is {join_timeout}, not seconds")
        place = find_place(os.environ)
        rendezvous = Rendezvous(place, join_timeout, _MEETING_SECONDS if timeout is None else timeout)
        try:
            comm = cls(
                rendezvous,
                device=place.local_rank if device is None else device,
                window_bytes=window_bytes,
                blocks=blocks,
                timeout=timeout,
                kernels=kernels,
            )
        except BaseException as error:
            rendezvous.abort(f"Communicator: rank {place.rank} failed: {describe(error)}")
            raise
        comm._rendezvous = rendezvous
        return comm

    @classmethod
    def from_mpi(
        cls,
        comm: Any,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
    ) -> Communicator:
        """The ranks of a communicator of mpi4py, all on this machine.

        `device` is the local rank unless given.
        """
        bootstrap = MpiBootstrap(comm)
        if device is None:
            device = find_local_rank(os.environ)
        return cls(
            bootstrap,
            device=device,
            window_bytes=window_bytes,
            blocks=blocks,
            timeout=timeout,
            kernels=kernels,
        )

    def close(self) -> None:
        """Gives the memory back; all ranks call it, and wait for each other. Later calls fail.

        Without it, or when a rank has failed, the windows stay until the process ends.
        """
        if self._closed:
            return
        self._closed = True
        # Those that failed or have ended use the windows no more.
        with contextlib.suppress(PeerFailedError):
            self._core.close()
        if self._rendezvous is not None:
            self._rendezvous.close()

    def abort(self, reason: str) -> None:
        """Makes every call of every rank fail with `PeerFailedError`, those that wait at once.

        `reason` completes "rank 2 …".
        """
        self._closed = True
        reason = f"rank {self.rank} {reason}"
        if self._rendezvous is not None:
            self._rendezvous.abort(f"Communicator: {reason}")
        self._core.abort(reason)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes, or makes the other ranks fail when this one does."""
        if error is None:
            self.close()
            return
        with contextlib.suppress(Error):  # `error` says more
            self.abort(f"raised {describe(error)}")

    @property
    def rank(self) -> int:
        """This rank's number, 0 … size-1."""
        return self._core.rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._core.size

    @property
    def device(self) -> _core.Device:
        """Where this rank's kernels run."""
        return self._core.device

    @property
    def windows(self) -> Sequence[Buffer]:
        """The windows of all ranks, as kernels on this rank's device reach them; see aivops/window_layout.h.

        A kernel that uses aivops/lane.h takes `windows[rank]`, the own one, as argument.
        """
        return self._windows

    def __repr__(self) -> str:
        return f"<aivops.Communicator rank {self.rank} of {self.size}>"

    def all_gather(
        self,
        x: Any,
        *,
        out: Any = None,
        dtype: str | None = None,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Every rank's `x`, stacked in rank order: shape `(size, *x.shape)`."""
        source = _arrays.operand("all_gather()", x, dtype)
        result = _arrays.result("all_gather()", (self.size, *source.shape), source, out)
        call = self._call("all_gather", source, source.count, timeout=timeout)
        return self._run(
            call,
            source.array,
            result,
            stream=stream,
            async_op=async_op,
            timeout=timeout,
            own_part=self.rank * source.array.nbytes,
        )

    def all_gather_v(
        self,
        x: Any,
        counts: Sequence[int] | None = None,
        *,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> list[Any]:
        """Every rank's `x`, in rank order. Lengths of axis 0 may differ.

        `counts` are these lengths by rank; without them the ranks ask each other first.
        """
        source = _arrays.operand("all_gather_v()", x, dtype)
        if not source.shape:
            raise InvalidValueError("all_gather_v(): x is a scalar, expected at least one axis")
        own, *inner = source.shape
        rows = self._counts(
            "all_gather_v()", self.all_gather(np.int64(own), timeout=timeout) if counts is None else counts
        )
        if rows[self.rank] != own:
            raise InvalidValueError(
                f"all_gather_v(): x has length {own}, but counts[{self.rank}] is {rows[self.rank]}"
            )
        result = _arrays.result("all_gather_v()", (int(rows.sum()), *inner), source, None)
        call = self._call("all_gather_v", source, counts=rows * prod(inner), timeout=timeout)
        self._run(call, source.array, result, timeout=timeout)
        return _split(result, rows)

    def all_reduce(
        self,
        x: Any,
        op: str = "sum",
        *,
        out: Any = None,
        dtype: str | None = None,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        algorithm: str = "",
        timeout: float | None = None,
    ) -> Any:
        """All ranks' `x`, folded: shape `x.shape`. `x` is untouched unless it is `out` as well.

        `algorithm` is "one_shot" (one step, all of the data from everybody) or "two_shots" (two steps, the
        least data); by default short messages take the first. The result is the same.
        """
        source = _arrays.operand("all_reduce()", x, dtype)
        result = _arrays.result("all_reduce()", source.shape, source, out)
        call = self._call("all_reduce", source, source.count, op=op, algorithm=algorithm, timeout=timeout)
        return self._run(call, source.array, result, stream=stream, async_op=async_op, timeout=timeout)

    def reduce_scatter(
        self,
        x: Any,
        op: str = "sum",
        *,
        out: Any = None,
        dtype: str | None = None,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Part `rank` of all ranks' `x`, folded. `x` has shape `(size * k, …)`, the result `(k, …)`."""
        source = _arrays.operand("reduce_scatter()", x, dtype)
        shape = source.shape
        if not shape or shape[0] % self.size:
            raise InvalidValueError(
                f"reduce_scatter(): x has shape {shape}, expected a first axis that {self.size} ranks divide"
            )
        result = _arrays.result("reduce_scatter()", (shape[0] // self.size, *shape[1:]), source, out)
        call = self._call("reduce_scatter", source, source.count // self.size, op=op, timeout=timeout)
        return self._run(call, source.array, result, stream=stream, async_op=async_op, timeout=timeout)

    def reduce_scatter_v(
        self,
        x: Any,
        counts: Sequence[int],
        op: str = "sum",
        *,
        out: Any = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """`counts[rank]` rows of all ranks' `x`, folded. `x` has shape `(sum(counts), …)`."""
        source = _arrays.operand("reduce_scatter_v()", x, dtype)
        rows = self._counts("reduce_scatter_v()", counts)
        shape = source.shape
        if not shape or shape[0] != rows.sum():
            raise InvalidValueError(
                f"reduce_scatter_v(): x has shape {shape}, but counts add up to {rows.sum()}"
            )
        result = _arrays.result("reduce_scatter_v()", (int(rows[self.rank]), *shape[1:]), source, out)
        call = self._call("reduce_scatter_v", source, op=op, counts=rows * prod(shape[1:]), timeout=timeout)
        return self._run(call, source.array, result, timeout=timeout)

    def all_to_all(
        self,
        x: Any,
        *,
        out: Any = None,
        dtype: str | None = None,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Row r of `x` goes to rank r, row r of the result comes from rank r; both have shape `(size, …)`."""
        source = _arrays.operand("all_to_all()", x, dtype)
        self._require_rows("all_to_all()", source)
        result = _arrays.result("all_to_all()", source.shape, source, out)
        call = self._call("all_to_all", source, source.count // self.size, timeout=timeout)
        return self._run(call, source.array, result, stream=stream, async_op=async_op, timeout=timeout)

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
        The parts are host arrays.
        """
        call = "all_to_all_v()"
        if len(parts) != self.size:
            raise InvalidValueError(f"{call}: {len(parts)} parts, expected {self.size}, one per rank")
        if any(isinstance(part, Buffer) for part in parts):
            raise InvalidTypeError(f"{call}: a part is a Buffer, expected host arrays")
        operands = [_arrays.operand(call, part, dtype) for part in parts]
        kinds = {(o.array.dtype, len(o.shape) > 0, o.shape[1:]) for o in operands}
        if len(kinds) > 1 or not operands[0].shape:
            raise InvalidValueError(
                f"{call}: the parts have shapes {[o.shape for o in operands]}; they may differ on axis 0 only"
            )
        sent = np.array([len(o.array) for o in operands], np.int64)
        matrix = np.asarray(self.all_gather(sent, timeout=timeout) if counts is None else counts, np.int64)
        if matrix.shape != (self.size, self.size) or (matrix[self.rank] != sent).any():
            raise InvalidValueError(
                f"{call}: counts are {matrix.tolist()}, expected {self.size} rows of {self.size} "
                f"with row {self.rank} equal to the lengths {sent.tolist()}"
            )
        inner = operands[0].shape[1:]
        received = matrix[:, self.rank]
        source = Operand(np.concatenate([o.array for o in operands]), operands[0].element_type)
        result = _arrays.result(call, (int(received.sum()), *inner), source, None)
        counted = self._call("all_to_all_v", source, counts=matrix.ravel() * prod(inner), timeout=timeout)
        self._run(counted, source.array, result, timeout=timeout)
        return _split(result, received)

    def broadcast(
        self,
        x: Any,
        root: int = 0,
        *,
        out: Any = None,
        dtype: str | None = None,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Root's `x`. The other ranks' `x` gives shape and type only."""
        source = _arrays.operand("broadcast()", x, dtype)
        result = _arrays.result("broadcast()", source.shape, source, out)
        call = self._call("broadcast", source, source.count, root=root, timeout=timeout)
        given = source.array if self.rank == root else None
        return self._run(call, given, result, stream=stream, async_op=async_op, timeout=timeout)

    def scatter(
        self,
        x: Any | None,
        root: int = 0,
        *,
        out: Any = None,
        shape: tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Row `rank` of root's `x`, which has shape `(size, …)`.

        The other ranks pass None and say what they get by `out`, or by `shape` and `dtype`.
        """
        special = "hifloat8" if dtype == "hifloat8" else None
        if self.rank == root:
            source = _arrays.operand("scatter()", x, special)
            self._require_rows("scatter()", source)
            result = _arrays.result("scatter()", source.shape[1:], source, out)
            call = self._call("scatter", source, source.count // self.size, root=root, timeout=timeout)
            return self._run(call, source.array, result, timeout=timeout)
        if out is None:
            if shape is None or dtype is None:
                raise InvalidValueError(
                    "scatter(): a rank other than root passes out=, or shape= and dtype=; this one did not"
                )
            out = np.empty(shape, np.uint8 if special else dtype)
        target = _arrays.target("scatter()", out, special)
        call = self._call("scatter", target, target.count, root=root, timeout=timeout)
        return self._run(call, None, out, timeout=timeout)

    def gather(
        self,
        x: Any,
        root: int = 0,
        *,
        out: Any = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """On root every rank's `x`, stacked in rank order: shape `(size, *x.shape)`; None elsewhere."""
        source = _arrays.operand("gather()", x, dtype)
        result = None
        if self.rank == root:
            result = _arrays.result("gather()", (self.size, *source.shape), source, out)
        call = self._call("gather", source, source.count, root=root, timeout=timeout)
        return self._run(call, source.array, result, timeout=timeout)

    def reduce(
        self,
        x: Any,
        op: str = "sum",
        root: int = 0,
        *,
        out: Any = None,
        dtype: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """On root all ranks' `x`, folded: shape `x.shape`; None elsewhere."""
        source = _arrays.operand("reduce()", x, dtype)
        result = None
        if self.rank == root:
            result = _arrays.result("reduce()", source.shape, source, out)
        call = self._call("reduce", source, source.count, op=op, root=root, timeout=timeout)
        return self._run(call, source.array, result, timeout=timeout)

    def send(self, x: Any, dst: int, *, dtype: str | None = None, timeout: float | None = None) -> None:
        """Sends `x` to rank `dst`; returns when that rank has received it."""
        self._require_other("send()", dst)
        source = _arrays.operand("send()", x, dtype)
        call = self._call("send/recv", source, source.count, root=self.rank, peer=dst, timeout=timeout)
        self._run(call, source.array, None, timeout=timeout)

    def recv(self, src: int, out: Any, *, dtype: str | None = None, timeout: float | None = None) -> Any:
        """Receives into `out` what rank `src` sends, which must have as many elements of the same type."""
        self._require_other("recv()", src)
        target = _arrays.target("recv()", out, dtype)
        call = self._call("send/recv", target, target.count, root=src, peer=src, timeout=timeout)
        return self._run(call, None, out, timeout=timeout)

    def barrier(self, *, timeout: float | None = None) -> None:
        """Returns when every rank has come here."""
        nothing = Operand(np.empty(0, np.uint8), "uint8")
        self._run(self._call("barrier", nothing, timeout=timeout), None, None, timeout=timeout)

    def _call(
        self,
        operation: str,
        operand: Operand,
        count: int = 0,
        *,
        op: str = "sum",
        root: int = 0,
        peer: int = 0,
        counts: npt.NDArray[np.int64] | None = None,
        algorithm: str = "",
        timeout: float | None,
    ) -> _core.Collective:
        if not 0 <= root < self.size:
            raise InvalidValueError(f"{operation}(): root is {root}, expected 0 to {self.size - 1}")
        return _core.Collective(
            operation,
            operand.element_type,
            count,
            reduction=op,
            root=root,
            peer=peer,
            counts=[] if counts is None else counts.tolist(),
            algorithm=algorithm,
            timeout=timeout,
        )

    def _run(
        self,
        call: _core.Collective,
        source: Any,
        result: Any,
        *,
        stream: _core.Stream | None = None,
        async_op: bool = False,
        timeout: float | None = None,
        own_part: int = 0,
    ) -> Any:
        """Runs or queues `call`; arrays that it does not take or give on this rank are None.

        `own_part` is where in `result` the call writes this rank's `source`, in bytes.
        """
        on_device = isinstance(source, Buffer) or isinstance(result, Buffer)
        _arrays.require_apart(f"rank {self.rank}", source, result, own_part)
        if stream is not None and stream.device != self.device:
            raise InvalidValueError(
                f"rank {self.rank}: the stream is one of device {stream.device.id}, "
                f"expected one of this rank's device {self.device.id}"
            )
        if not (on_device or async_op or stream is not None):
            self._core.run(call, _arrays.address(source), _arrays.address(result))
            return result
        queue = self._core.stream if stream is None else stream
        inside, outside = source, result
        if not on_device:
            inside = None if source is None else Buffer.from_host(self.device, source)
            outside = None if result is None else Buffer(self.device, result.shape, result.dtype)
        self._core.launch(
            call, _arrays.memory(inside, self.device), _arrays.memory(outside, self.device), queue
        )

        def finish() -> Any:
            self._core.wait(queue, timeout)
            if not on_device and result is not None:
                outside.to_numpy(out=result)
            return result

        return Work(finish) if async_op else finish()

    def _counts(self, call: str, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Checked lengths by rank."""
        rows = np.asarray(counts, np.int64)
        if rows.shape != (self.size,) or (rows < 0).any():
            raise InvalidValueError(
                f"{call}: counts are {rows.tolist()}, expected {self.size} lengths, one per rank"
            )
        return rows

    def _require_rows(self, call: str, source: Operand) -> None:
        if source.shape[:1] != (self.size,):
            raise InvalidValueError(
                f"{call}: x has shape {source.shape}, expected a first axis of {self.size}, one row per rank"
            )

    def _require_other(self, call: str, rank: int) -> None:
        if not 0 <= rank < self.size or rank == self.rank:
            raise InvalidValueError(
                f"{call}: the peer is rank {rank}, expected 0 to {self.size - 1} and not {self.rank} itself"
            )


def _split(array: Any, lengths: npt.NDArray[np.int64]) -> list[Any]:
    """The parts of `array` along axis 0."""
    ends = np.cumsum(lengths).tolist()
    return [array[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
