"""The collectives of a communicator."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence, Set
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _dtypes
from ._arrays import Operand
from ._buffer import Buffer, read_shape
from ._call import Call, HowToRun, Options
from ._misuse import MOST_BYTES, require_blocks, require_kind, require_whole, shown
from ._words import counted
from .errors import AclError, CallMismatchError, InvalidTypeError, InvalidValueError, PeerFailedError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_ROWS = 2**53
_MOST_REPEATABLE = 256
_Likeness: TypeAlias = tuple[str, tuple[int, ...], str, tuple[int, ...], str, str, int]


class Collectives:
    """What every rank of a communicator can call; all make the same calls in the same order.

    Arrays are numpy arrays (or whatever `numpy.asarray` takes; what is not contiguous is copied first), torch
    tensors and other arrays that speak DLPack, or Buffers on this rank's device; results are of the same
    kind. Unless said otherwise shapes and types are equal on all ranks.

    Where a call returns one array it takes `out`, which is filled and returned. It may be `x`, and where one
    of the two is a part of the other that is this rank's own, it may be that: `x` is row `rank` of `out` for
    all_gather and gather, `out` is part `rank` of `x` for reduce_scatter(_v) and scatter.

    `op`, where it folds, is "sum", "prod", "max" or "min". Elements are folded in rank order, float16 and
    bfloat16 in float32 with one rounding at the end; integers wrap. Every call takes by keyword

    - `stream` and `async_op`: where it is queued (None means a stream of its own), and whether to return a
      `Work` at once, whose `wait()` gives the result;
    - `algorithm` and `blocks`: how to run it, where the table is not to decide. The result is the same;
    - `timeout` in seconds: None means the communicator's, `inf` never. The device counts in
      units of its own, 4.29 s as a rule, and rounds up: `device.effective_timeout()` tells to what;
    - `dtype`, the element type of arrays that numpy has no type for: "hifloat8" in arrays of uint8.
    """

    def __init__(self, core: _core.Communicator) -> None:
        self._core = core
        self._ended = ""  # why there are no more calls
        self._queues: dict[int, _core.Stream] = {}  # where calls were queued, by handle
        self._repeatable: dict[_Likeness, _core.Collective] = {}  # what calls of buffers were checked to be

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

    def empty(self, shape: int | Sequence[int], dtype: object = "float32") -> Buffer:
        """A Buffer that the other ranks can read where it lies; its content is not initialised.

        All ranks call it together, with shapes and types of their own. The memory is freed when no rank holds
        its Buffer any more and another one is made or registered.
        """
        self._require_open()
        name = _dtypes.name_of(dtype)
        extents = read_shape("Communicator.empty()", shape)
        memory = self._core.allocate(prod(extents) * _dtypes.itemsize(name))
        return Buffer._over(memory, extents, name)

    def register(self, buffer: Buffer) -> Buffer:
        """Lets the other ranks read `buffer`, and all of the memory that it is a part of, where it lies.

        All ranks call it together. Registering twice does nothing.
        """
        self._core.register_memory(self._memory("register()", buffer))
        return buffer

    def unregister(self, buffer: Buffer) -> None:
        """Takes `register()` or `empty()` back; all ranks call it together, for the same one."""
        self._core.unregister_memory(self._memory("unregister()", buffer))

    @property
    def last_plan(self) -> _core.Plan | None:
        """How this communicator's last call ran: its algorithm and its number of blocks."""
        return self._core.last_plan

    def plan(
        self,
        operation: str,
        nbytes: int,
        dtype: str = "float32",
        *,
        algorithm: str | None = None,
        blocks: int | None = None,
        registered: bool = False,
    ) -> _core.Plan:
        """How a call of `operation` ("all_reduce") would run on `nbytes` of input per rank.

        For operators with counts by rank that is what the longest part has, times the parts that a rank
        sends. `registered` is for arrays that other ranks can read, see `empty()`.
        """
        require_kind("plan(): operation", operation, str, "the name of a collective")
        require_kind("plan(): dtype", dtype, str, "the name of an element type")
        require_whole("plan(): nbytes", nbytes, 0, MOST_BYTES)
        if blocks is not None:
            require_blocks("plan(): blocks", blocks)
        name = "send/recv" if operation in ("send", "recv") else operation
        return self._core.plan(name, dtype, nbytes, registered, algorithm or "", blocks or 0)

    def all_gather(self, x: Any, *, out: Any = None, **options: Unpack[Options]) -> Any:
        """Every rank's `x`, stacked in rank order: shape `(size, *x.shape)`."""
        if self._repeat("all_gather", x, out, options):
            return out
        call = Call(self, "all_gather", options)
        source = call.operand(x)
        result = call.result((self.size, *source.shape), source, out)
        return call.run(source, source, result, source.count)

    def all_gather_v(self, x: Any, counts: Sequence[int] | None = None, **options: Unpack[Options]) -> Any:
        """Every rank's `x`, a list in rank order. Lengths of axis 0 may differ.

        `counts` are these lengths by rank; without them the ranks ask each other first.
        """
        call = Call(self, "all_gather_v", options)
        source = call.operand(x)
        if not source.shape:
            raise InvalidValueError("all_gather_v(): x is a scalar, expected at least one axis")
        own, *inner = source.shape
        lengths = self._ask(call, [own], prod(inner), options)[:, 0] if counts is None else counts
        rows = self._counts(call, lengths)
        if rows[self.rank] != own:
            raise InvalidValueError(
                f"all_gather_v(): x has length {own}, but counts[{self.rank}] is {rows[self.rank]}"
            )
        result = call.result((int(rows.sum()), *inner), source)
        return call.run(source, source, result, counts=rows * prod(inner), lengths=rows)

    def all_reduce(self, x: Any, op: str = "sum", *, out: Any = None, **options: Unpack[Options]) -> Any:
        """All ranks' `x`, folded: shape `x.shape`. `x` is untouched unless it is `out` as well."""
        if self._repeat("all_reduce", x, out, options, op):
            return out
        call = Call(self, "all_reduce", options)
        source = call.operand(x)
        result = call.result(source.shape, source, out)
        return call.run(source, source, result, source.count, op=op)

    def reduce_scatter(self, x: Any, op: str = "sum", *, out: Any = None, **options: Unpack[Options]) -> Any:
        """Part `rank` of all ranks' `x`, folded. `x` has shape `(size * k, …)`, the result `(k, …)`."""
        if self._repeat("reduce_scatter", x, out, options, op):
            return out
        call = Call(self, "reduce_scatter", options)
        source = call.operand(x)
        shape = source.shape
        if not shape or shape[0] % self.size:
            raise InvalidValueError(
                f"reduce_scatter(): x has shape {shape}, expected a first axis that {self.size} ranks divide"
            )
        result = call.result((shape[0] // self.size, *shape[1:]), source, out)
        return call.run(source, source, result, source.count // self.size, op=op)

    def reduce_scatter_v(
        self,
        x: Any,
        counts: Sequence[int],
        op: str = "sum",
        *,
        out: Any = None,
        **options: Unpack[Options],
    ) -> Any:
        """`counts[rank]` rows of all ranks' `x`, folded. `x` has shape `(sum(counts), …)`."""
        call = Call(self, "reduce_scatter_v", options)
        source = call.operand(x)
        rows = self._counts(call, counts)
        shape = source.shape
        if not shape or shape[0] != rows.sum():
            raise InvalidValueError(
                f"reduce_scatter_v(): x has shape {shape}, but counts add up to {rows.sum()}"
            )
        result = call.result((int(rows[self.rank]), *shape[1:]), source, out)
        return call.run(source, source, result, op=op, counts=rows * prod(shape[1:]))

    def all_to_all(self, x: Any, *, out: Any = None, **options: Unpack[Options]) -> Any:
        """Row r of `x` goes to rank r, row r of the result comes from rank r; both have shape `(size, …)`."""
        if self._repeat("all_to_all", x, out, options):
            return out
        call = Call(self, "all_to_all", options)
        source = call.operand(x)
        self._require_rows(call, source)
        result = call.result(source.shape, source, out)
        return call.run(source, source, result, source.count // self.size)

    def all_to_all_v(
        self, parts: Sequence[Any], counts: npt.ArrayLike | None = None, **options: Unpack[Options]
    ) -> Any:
        """Part r goes to rank r; the result is the list of what each rank sent here.

        Lengths of axis 0 may differ. `counts[i][j]` is the length that rank i sends to rank j; without it the
        ranks ask each other first.
        """
        call = Call(self, "all_to_all_v", options)
        if not hasattr(parts, "__len__") or isinstance(parts, (Mapping, Set)):
            raise InvalidTypeError(f"{call.name}: parts is {shown(parts)}, expected a list of arrays")
        if len(parts) != self.size:
            found = counted(len(parts), "part")
            raise InvalidValueError(f"{call.name}: {found}, expected {self.size}, one per rank")
        operands = [call.operand(part) for part in parts]
        kinds = {(str(o.array.dtype), len(o.shape) > 0, o.shape[1:]) for o in operands}
        if len(kinds) > 1 or not operands[0].shape:
            raise InvalidValueError(
                f"{call.name}: the parts have shapes {[o.shape for o in operands]} and types "
                f"{[str(o.array.dtype) for o in operands]}; they may differ on axis 0 only"
            )
        sent = [o.shape[0] for o in operands]
        inner = operands[0].shape[1:]
        matrix = _lengths(call, self._ask(call, sent, prod(inner), options) if counts is None else counts)
        if matrix.shape != (self.size, self.size) or (matrix[self.rank] != sent).any():
            raise InvalidValueError(
                f"{call.name}: counts are {matrix.tolist()}, expected {self.size} rows of {self.size} "
                f"with row {self.rank} equal to the lengths {sent}"
            )
        received = matrix[:, self.rank]
        source = self._join(call, operands)
        result = call.result((int(received.sum()), *inner), source)
        return call.run(source, source, result, counts=matrix.ravel() * prod(inner), lengths=received)

    def broadcast(self, x: Any, root: int = 0, *, out: Any = None, **options: Unpack[Options]) -> Any:
        """Root's `x`. The other ranks' `x` gives shape and type only."""
        if self._repeat("broadcast", x, out, options, root=root):
            return out
        call = Call(self, "broadcast", options)
        is_root = call.is_root(root)
        if x is None and not is_root:
            raise InvalidTypeError(
                "broadcast(): x is None on a rank other than root, expected an array of the shape and type "
                "of root's, such as numpy.empty(shape, dtype)"
            )
        source = call.operand(x)
        result = call.result(source.shape, source, out)
        given = source if is_root else None
        return call.run(source, given, result, source.count, root=root)

    def scatter(
        self,
        x: Any | None,
        root: int = 0,
        *,
        out: Any = None,
        shape: tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
        **options: Unpack[HowToRun],
    ) -> Any:
        """Row `rank` of root's `x`, which has shape `(size, …)`.

        The other ranks pass None and say what they get by `out`, or by `shape` and `dtype`.
        """
        special = "hifloat8" if dtype == "hifloat8" else None
        call = Call(self, "scatter", {**options, "dtype": special})
        if call.is_root(root):
            source = call.operand(x)
            self._require_rows(call, source)
            result = call.result(source.shape[1:], source, out)
            return call.run(source, source, result, source.count // self.size, root=root)
        if out is None:
            if shape is None or dtype is None:
                raise InvalidValueError(
                    "scatter(): a rank other than root passes out=, or shape= and dtype=; this one did not"
                )
            element = np.dtype(np.uint8) if special else _dtypes.as_numpy_dtype("scatter()", dtype)
            out = np.empty(read_shape("scatter()", shape), element)
        like, result = call.target(out)
        return call.run(like, None, result, like.count, root=root)

    def gather(self, x: Any, root: int = 0, *, out: Any = None, **options: Unpack[Options]) -> Any:
        """On root every rank's `x`, stacked in rank order: shape `(size, *x.shape)`; None elsewhere."""
        call = Call(self, "gather", options)
        source = call.operand(x)
        result = None
        if call.is_root(root):
            result = call.result((self.size, *source.shape), source, out)
        return call.run(source, source, result, source.count, root=root)

    def reduce(
        self, x: Any, op: str = "sum", root: int = 0, *, out: Any = None, **options: Unpack[Options]
    ) -> Any:
        """On root all ranks' `x`, folded: shape `x.shape`; None elsewhere."""
        call = Call(self, "reduce", options)
        source = call.operand(x)
        result = call.result(source.shape, source, out) if call.is_root(root) else None
        return call.run(source, source, result, source.count, op=op, root=root)

    def send(self, x: Any, dst: int, **options: Unpack[Options]) -> Any:
        """Sends `x` to rank `dst`; returns when that rank has received it."""
        call = Call(self, "send", options)
        self._require_other(call, dst)
        source = call.operand(x)
        return call.run(source, source, None, source.count, root=self.rank, peer=dst)

    def recv(self, src: int, out: Any, **options: Unpack[Options]) -> Any:
        """Receives into `out` what rank `src` sends, which must have as many elements of the same type."""
        call = Call(self, "recv", options)
        self._require_other(call, src)
        like, result = call.target(out)
        return call.run(like, None, result, like.count, root=src, peer=src)

    def barrier(self, **options: Unpack[Options]) -> Any:
        """Returns when every rank has come here."""
        return Call(self, "barrier", options).run(Operand(np.empty(0, np.uint8), "uint8"), None, None)

    def _repeat(
        self, operation: str, x: Any, out: Any, options: Options, op: str = "sum", root: int = 0
    ) -> bool:
        """Runs a call that is like one before: nothing but which memory it is has to be looked at again."""
        if options or self._ended or type(x) is not Buffer or type(out) is not Buffer:
            return False
        try:
            call = self._repeatable.get((operation, x.shape, x.dtype, out.shape, out.dtype, op, root))
        except TypeError:  # an `op` of no use, which the checks are going to refuse
            return False
        if call is None:
            return False
        self._core.repeat(call, x, out)
        return True

    def _remember(self, call: _core.Collective, operation: str, x: Any, out: Any, op: str, root: int) -> None:
        if type(x) is Buffer and type(out) is Buffer:
            if len(self._repeatable) == _MOST_REPEATABLE:
                self._repeatable.clear()
            self._repeatable[operation, x.shape, x.dtype, out.shape, out.dtype, op, root] = call

    def _require_open(self) -> None:
        if self._ended:
            raise PeerFailedError(f"Communicator: rank {self.rank} stopped because {self._ended}")

    def _remember_queue(self, queue: _core.Stream) -> None:
        """Keeps in mind where calls are queued, as long as they may not be done."""
        if queue.handle not in self._queues:
            self._queues = {
                handle: other for handle, other in self._queues.items() if not _has_nothing_left(other)
            }
            self._queues[queue.handle] = queue

    def _is_idle(self) -> bool:
        """Whether everything that was launched is done, be it waited for or not."""
        queues = [self._core.stream, *self._queues.values()]
        return self._core.is_idle() or all(map(_has_nothing_left, queues))

    def _memory(self, call: str, buffer: Any) -> Buffer:
        self._require_open()
        if not isinstance(buffer, Buffer):
            raise InvalidTypeError(
                f"{call}: buffer is {shown(buffer)}, expected a Buffer on this rank's device"
            )
        if buffer.device != self.device:
            raise InvalidValueError(
                f"{call}: the Buffer is on device {buffer.device.id}, "
                f"expected this rank's device {self.device.id}"
            )
        return buffer

    def _ask(self, call: Call, lengths: Sequence[int], row: int, options: Options) -> npt.NDArray[np.int64]:
        """Every rank's lengths, at once, even where the call itself is queued; `row` is the same on all."""
        own = np.array([*lengths, row], np.int64)
        asked: npt.NDArray[np.int64] = self.all_gather(own, timeout=options.get("timeout"))
        first, *others = asked[:, -1].tolist()
        for rank, other in enumerate(others, 1):
            if other != first:
                error = CallMismatchError(
                    f"{call.name}: a row of rank 0 has {counted(first, 'element')}, of rank {rank} {other}; "
                    "shapes may differ on axis 0 only"
                )
                error.rank, error.peer = self.rank, rank if row == first else 0
                raise error
        return asked[:, :-1]

    def _join(self, call: Call, operands: Sequence[Operand]) -> Operand:
        """The parts one after the other, where they are."""
        first = operands[0]
        on_device = [isinstance(o.array, Buffer) for o in operands]
        if not any(on_device):
            joined = np.concatenate([o.array for o in operands])
            return Operand(joined, first.element_type, first.foreign)
        if not all(on_device):
            raise InvalidTypeError(f"{call.name}: some parts are Buffers and some host arrays; pass one kind")
        whole = Buffer(self.device, (sum(o.shape[0] for o in operands), *first.shape[1:]), first.array.dtype)
        end = 0
        for part in operands:
            begin, end = end, end + part.shape[0]
            whole[begin:end].copy_from(part.array, stream=call.queue)
        return Operand(whole, first.element_type)

    def _counts(self, call: Call, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Checked lengths by rank."""
        rows = _lengths(call, counts)
        if rows.shape != (self.size,):
            raise InvalidValueError(
                f"{call.name}: counts are {rows.tolist()}, expected {self.size} lengths, one per rank"
            )
        return rows

    def _require_rows(self, call: Call, source: Operand) -> None:
        if source.shape[:1] != (self.size,):
            raise InvalidValueError(
                f"{call.name}: x has shape {source.shape}, expected a first axis of {self.size}, "
                "one row per rank"
            )

    def _require_other(self, call: Call, rank: int) -> None:
        rank = require_whole(f"{call.name}: the peer", rank)
        if not 0 <= rank < self.size or rank == self.rank:
            raise InvalidValueError(
                f"{call.name}: the peer is rank {shown(rank)}, expected 0 to {self.size - 1} "
                f"and not {self.rank} itself"
            )


def _lengths(call: Call, counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Whole numbers, few enough to be added up."""
    try:
        lengths = np.asarray(counts)
    except ValueError:  # rows of different lengths
        lengths = np.asarray(None)
    if lengths.size and lengths.dtype.kind not in "iu":
        raise InvalidValueError(f"{call.name}: counts are {reprlib.repr(counts)}, expected whole numbers")
    if (lengths < 0).any():
        raise InvalidValueError(f"{call.name}: counts are {lengths.tolist()}, expected lengths of 0 or more")
    if lengths.sum(dtype=np.float64) > _MOST_ROWS:
        raise InvalidValueError(f"{call.name}: counts are {reprlib.repr(counts)}, more than any memory holds")
    return lengths.astype(np.int64, copy=False)


def _has_nothing_left(queue: _core.Stream) -> bool:
    try:
        return queue.query()
    except AclError:  # what was queued has failed
        return True
