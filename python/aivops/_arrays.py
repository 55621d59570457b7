"""Arrays on the way into and out of collectives: host arrays and buffers alike, with their element type."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _dtypes
from ._buffer import Buffer
from .errors import InvalidTypeError, InvalidValueError

Array: TypeAlias = npt.NDArray[Any]

ELEMENT_TYPES = (
    *("float16", "bfloat16", "float32", "float64"),
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "hifloat8"),
)
"""What collectives have kernels for. numpy has no hifloat8; arrays of uint8 stand for it."""


def element_bytes(element_type: str) -> int:
    """Bytes of one element."""
    return 1 if element_type == "hifloat8" else _dtypes.itemsize(element_type)


@dataclass(frozen=True)
class Operand:
    """A contiguous array, on the host or a device, and the element type that kernels see in it."""

    array: Any  # a numpy array or a Buffer
    element_type: str

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def count(self) -> int:
        """Elements in all."""
        return math.prod(self.shape)


def operand(call: str, x: Any, dtype: str | None) -> Operand:
    """`x` as a contiguous array; a copy only where it is not one already.

    `dtype` names the element type where numpy has none for it ("hifloat8" in an array of uint8).
    """
    array = x if isinstance(x, Buffer) else np.ascontiguousarray(x).reshape(np.shape(x))
    return Operand(array, _element_type(call, array, dtype))


def result(call: str, shape: tuple[int, ...], like: Operand, out: Any) -> Any:
    """The array for the result, where `like` is: a new one, or `out` when it fits exactly."""
    source = like.array
    if out is None:
        if isinstance(source, Buffer):
            return Buffer(source.device, shape, source.dtype)
        return np.empty(shape, source.dtype)
    if not isinstance(out, Buffer if isinstance(source, Buffer) else np.ndarray):
        expected = "a Buffer, as x is" if isinstance(source, Buffer) else "a numpy array"
        raise InvalidTypeError(f"{call}: out is a {type(out).__name__}, expected {expected}")
    if out.shape != shape or out.dtype != source.dtype:
        raise InvalidValueError(
            f"{call}: out has shape {out.shape} and type {out.dtype}, expected {shape} and {source.dtype}"
        )
    if isinstance(out, np.ndarray) and not (out.flags.c_contiguous and out.flags.writeable):
        raise InvalidValueError(
            f"{call}: out is not a writable C-contiguous array; pass one, or copy the result"
        )
    return out


def target(call: str, out: Any, dtype: str | None) -> Operand:
    """`out` as an array to receive into, which settles shape and type."""
    if not isinstance(out, np.ndarray | Buffer):
        raise InvalidTypeError(f"{call}: out is a {type(out).__name__}, expected a numpy array or a Buffer")
    into = operand(call, out, dtype)
    result(call, out.shape, into, out)
    return into


def require_apart(call: str, source: Any, result: Any, offset: int) -> None:
    """Refuses buffers that share memory, unless `source` lies `offset` bytes into `result`.

    There kernels read each element before they write it.
    """
    if not (isinstance(source, Buffer) and isinstance(result, Buffer)):
        return
    begin, end = source.pointer, source.pointer + source.nbytes
    other_begin, other_end = result.pointer, result.pointer + result.nbytes
    if begin != other_begin + offset and begin < other_end and other_begin < end:
        shared = min(end, other_end) - max(begin, other_begin)
        raise InvalidValueError(
            f"{call}: out and x share {shared} bytes at different places; "
            "pass buffers that share no memory, or x itself as out"
        )


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
        if dtype not in ELEMENT_TYPES:
            raise InvalidValueError(f"{call}: dtype is {dtype!r}, expected one of {', '.join(ELEMENT_TYPES)}")
        if element_bytes(dtype) != width:
            raise InvalidValueError(
                f"{call}: an element of dtype {dtype} has {element_bytes(dtype)} bytes, "
                f"of the array's {name} {width}"
            )
        return dtype
    if name == "bool":
        return "uint8"
    if name not in ELEMENT_TYPES:
        raise InvalidTypeError(
            f"{call}: no kernel for arrays of {name}, expected one of {', '.join(ELEMENT_TYPES)}"
        )
    return name
