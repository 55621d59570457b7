"""One call of a collective on one rank: how the caller wants it, its arrays, and running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from . import _arrays
from ._arrays import Operand, Result
from ._buffer import Buffer
from ._core import Collective, Communicator, Device, Stream
from ._misuse import require_blocks, require_kind, require_seconds, require_whole
from ._work import Work
from .errors import InvalidValueError


class HowToRun(TypedDict, total=False):
    """What every collective takes by keyword."""

    stream: Stream | None
    async_op: bool
    algorithm: str | None
    blocks: int | None
    timeout: float | None


class Options(HowToRun, total=False):
    """The same with the element type of arrays that numpy has no type for; see `Communicator`."""

    dtype: str | None


class Caller(Protocol):
    """The rank that calls."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def device(self) -> Device: ...

    _core: Communicator

    def _require_open(self) -> None: ...

    def _remember(self, call: Collective, operation: str, x: Any, out: Any, op: str, root: int) -> None: ...

    def _remember_queue(self, queue: Stream) -> None: ...


_OPS = {"sum", "prod", "max", "min"}
_KNOWN = {*HowToRun.__annotations__, *Options.__annotations__}


class Call:
    """Checks options and arrays, then runs or queues the call."""

    def __init__(self, comm: Caller, operation: str, options: Options) -> None:
        if not options.keys() <= _KNOWN:
            unknown = next(iter(options.keys() - _KNOWN))
            raise TypeError(f"Communicator.{operation}() got an unexpected keyword argument {unknown!r}")
        comm._require_open()
        self.name = f"{operation}()"
        self._comm = comm
        self._operation = operation
        self._plain = not options
        self._dtype = options.get("dtype")
        self._stream = options.get("stream")
        self._async = options.get("async_op", False)
        self._algorithm = options.get("algorithm") or ""
        self._blocks = options.get("blocks")
        self._timeout = options.get("timeout")
        if self._blocks is not None:
            self._blocks = require_blocks(f"{self.name}: blocks", self._blocks)
        if self._timeout is not None:
            require_seconds(f"{self.name}: timeout", self._timeout)
        if self._algorithm:
            require_kind(f"{self.name}: algorithm", self._algorithm, str, "a name or None")
        if self._stream is not None:
            self._require_own(self._stream)

    def _require_own(self, stream: Stream) -> None:
        require_kind(f"{self.name}: stream", stream, Stream, "a Stream or None")
        comm = self._comm
        if stream.device != comm.device:
            raise InvalidValueError(
                f"{self.name}: rank {comm.rank}: the stream is one of device {stream.device.id}, "
                f"expected one of this rank's device {comm.device.id}"
            )

    @property
    def queue(self) -> Stream:
        """Where the call is queued."""
        return self._comm._core.stream if self._stream is None else self._stream

    def is_root(self, root: int) -> bool:
        """Whether this is the rank that the call names."""
        return require_whole(f"{self.name}: root", root, 0, self._comm.size - 1) == self._comm.rank

    def operand(self, x: Any) -> Operand:
        """`x` as the call takes it."""
        return _arrays.operand(self.name, x, self._dtype, self._comm.device)

    def result(self, shape: tuple[int, ...], like: Operand, out: Any = None) -> Result:
        """`out`, or a new array where `like` is."""
        return _arrays.result(self.name, shape, like, out, self._comm.device)

    def target(self, out: Any) -> tuple[Operand, Result]:
        """`out`, when it alone says what the call gives."""
        return _arrays.target(self.name, out, self._dtype, self._comm.device)

    def run(
        self,
        like: Operand,
        source: Operand | None,
        result: Result | None,
        count: int = 0,
        *,
        op: str = "sum",
        root: int = 0,
        peer: int = 0,
        counts: npt.NDArray[np.int64] | None = None,
        lengths: npt.NDArray[np.int64] | None = None,
    ) -> Any:
        """Runs or queues the call on `count` elements of the type of `like`, or on `counts`.

        Arrays that it does not take or give on this rank are None. With `lengths` the result is split along
        axis 0.
        """
        call = self.describe(like, count, op, root, peer, [] if counts is None else counts.tolist())
        value = self.perform(call, source, result, lengths)
        if self._plain and counts is None and result is not None:
            self._comm._remember(call, self._operation, like.array, result.array, op, root)
        return value

    def describe(
        self,
        like: Operand,
        count: int,
        op: str = "sum",
        root: int = 0,
        peer: int = 0,
        counts: Sequence[int] = (),
    ) -> Collective:
        """What all ranks must agree on, and how this one wants it."""
        require_kind(f"{self.name}: op", op, str, "sum, prod, max or min")
        if op not in _OPS:
            raise InvalidValueError(f"{self.name}: op is {op!r}, expected sum, prod, max or min")
        return Collective(
            "send/recv" if self._operation in ("send", "recv") else self._operation,
            like.element_type,
            count,
            reduction=op,
            root=root,
            peer=peer,
            counts=counts,
            algorithm=self._algorithm,
            blocks=self._blocks or 0,
            timeout=self._timeout,
            type_name=like.type_name,
        )

    def perform(
        self,
        call: Collective,
        source: Operand | None,
        result: Result | None,
        lengths: npt.NDArray[np.int64] | None = None,
    ) -> Any:
        """Runs or queues what is described."""
        comm, core, device = self._comm, self._comm._core, self._comm.device
        given = None if source is None else source.array
        wanted = None if result is None else result.array
        on_device = isinstance(given, Buffer) or isinstance(wanted, Buffer)

        def give() -> Any:
            value = None if result is None else result.give()
            return value if lengths is None else _split(value, lengths)

        if not (on_device or self._async or self._stream is not None):
            core.run(call, _arrays.address(given), _arrays.address(wanted))
            return give()
        queue = self.queue
        comm._remember_queue(queue)
        inside, outside = given, wanted
        if not on_device:
            inside = None if given is None else Buffer.from_host(device, given)
            outside = None if wanted is None else Buffer(device, wanted.shape, wanted.dtype)
        taken, given_back = _arrays.memory(inside, device), _arrays.memory(outside, device)
        if on_device and not self._async:
            core.launch_and_wait(call, taken, given_back, queue, self._timeout)
            return give()
        plan = core.launch(call, taken, given_back, queue)

        def finish() -> Any:
            core.wait(queue, self._timeout)
            if not on_device and outside is not None:
                outside.to_numpy(out=wanted)
            return give()

        return Work(finish, plan) if self._async else finish()


def _split(array: Any, lengths: npt.NDArray[np.int64]) -> list[Any]:
    """The parts of `array` along axis 0."""
    ends = np.cumsum(lengths).tolist()
    return [array[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
