"""Arrays on the way into and out of collectives: host arrays and buffers alike, with their element type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _dtypes, _foreign
from ._buffer import Buffer
from ._misuse import shown
from ._words import counted
from .errors import InvalidTypeError, InvalidValueError

Array: TypeAlias = npt.NDArray[Any]

ELEMENT_TYPES = (
    *("float16", "bfloat16", "float32", "float64"),
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "hifloat8"),
)
"""What collectives have kernels for. numpy has no hifloat8; arrays of uint8 stand for it."""

ARRAY_TYPES = ("bool", *ELEMENT_TYPES)
"""What arrays may have. Kernels take bool for uint8."""


def element_bytes(element_type: str) -> int:
    """Bytes of one element."""
    return 1 if element_type == "hifloat8" else _dtypes.itemsize(element_type)


class Operand:
    """A contiguous array that a call takes: a numpy array or a Buffer."""

    __slots__ = ("array", "element_type", "foreign")

    def __init__(self, array: Any, element_type: str, foreign: Any = None) -> None:
        self.array = array
        self.element_type = element_type  # what kernels see in it
        self.foreign = foreign  # what the caller passed, when that is another library's

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def count(self) -> int:
        """Elements in all."""
        return math.prod(self.array.shape)

    @property
    def type_name(self) -> str:
        """The element type as the caller knows it."""
        return "bool" if str(self.array.dtype) == "bool" else self.element_type


class Result:
    """A contiguous array that a call fills, and what the caller gets for it."""

    __slots__ = ("_give", "array")

    def __init__(self, array: Any, give: Callable[[], Any] | None = None) -> None:
        self.array = array
        self._give = give

    def give(self) -> Any:
        return self.array if self._give is None else self._give()


def operand(call: str, x: Any, dtype: str | None, device: _core.Device) -> Operand:
    """`x` as a contiguous array; a copy only where it is not one already.

    `dtype` names the element type where numpy has none for it ("hifloat8" in an array of uint8).
    """
    if isinstance(x, Buffer):
        return Operand(x, _element_type(call, x, dtype))
    foreign = None
    if _foreign.is_foreign(x):
        foreign, x = x, _foreign.open_array(f"{call}: x", x, device)
        if isinstance(x, Buffer):
            return Operand(x, _element_type(call, x, dtype))
    array = _dtypes.contiguous(f"{call}: x", x)
    return Operand(array, _element_type(call, array, dtype), foreign)


def result(call: str, shape: tuple[int, ...], like: Operand, out: Any, device: _core.Device) -> Result:
    """The array for the result, where `like` is: a new one, or `out` when it fits exactly."""
    source = like.array
    if out is not None:
        return _fill(call, shape, source, out, device)
    if isinstance(source, Buffer):
        return Result(Buffer(source.device, shape, source.dtype))
    if like.foreign is None:
        return Result(np.empty(shape, source.dtype))
    return Result(*_foreign.empty_like(like.foreign, shape, source.dtype))


def target(call: str, out: Any, dtype: str | None, device: _core.Device) -> tuple[Operand, Result]:
    """`out` as an array to receive into, which settles shape and type."""
    if not (isinstance(out, np.ndarray | Buffer) or _foreign.is_foreign(out)):
        raise InvalidTypeError(f"{call}: out is {shown(out)}, expected a numpy array or a Buffer")
    into = operand(call, out, dtype, device)
    return into, _fill(call, into.shape, into.array, out, device)


def _fill(call: str, shape: tuple[int, ...], source: Any, out: Any, device: _core.Device) -> Result:
    array = _foreign.open_array(f"{call}: out", out, device) if _foreign.is_foreign(out) else out
    on_device = isinstance(source, Buffer)
    if not isinstance(array, Buffer if on_device else np.ndarray):
        expected = "a Buffer, as x is" if on_device else "a host array, as x is"
        raise InvalidTypeError(f"{call}: out is {shown(out)}, expected {expected}")
    if array.shape != shape or array.dtype != source.dtype:
        raise InvalidValueError(
            f"{call}: out has shape {array.shape} and type {array.dtype}, expected {shape} and {source.dtype}"
        )
    _dtypes.require_unmasked(f"{call}: out", array)
    if isinstance(array, np.ndarray) and not (array.flags.c_contiguous and array.flags.writeable):
        raise InvalidValueError(
            f"{call}: out is not a writable C-contiguous array; pass one, or copy the result"
        )
    return Result(array) if array is out else Result(array, lambda: out)


def address(array: Array | None) -> int:
    """Where the elements lie in host memory."""
    return 0 if array is None else int(array.__array_interface__["data"][0])


def memory(array: Buffer | None, device: _core.Device) -> _core.Memory:
    """The device memory of a buffer; nothing at all for None."""
    return _core.Memory(device, 0) if array is None else array


def _element_type(call: str, array: Array | Buffer, dtype: str | None) -> str:
    if isinstance(array, Buffer):
        name, width = array.dtype, _dtypes.itemsize(array.dtype)
    else:
        name, width = str(array.dtype.name), array.dtype.itemsize
        _dtypes.require_native(call, array)
    if dtype is not None:
        if dtype not in ARRAY_TYPES:
            raise InvalidValueError(f"{call}: dtype is {dtype!r}, expected one of {', '.join(ARRAY_TYPES)}")
        if element_bytes(dtype) != width:
            raise InvalidValueError(
                f"{call}: an element of dtype {dtype} has {counted(element_bytes(dtype), 'byte')}, "
                f"of the array's {name} {width}"
            )
        name = dtype
    elif name not in ARRAY_TYPES:
        raise InvalidTypeError(
            f"{call}: no kernel for arrays of {name}, expected one of {', '.join(ARRAY_TYPES)}"
        )
    return "uint8" if name == "bool" else name
