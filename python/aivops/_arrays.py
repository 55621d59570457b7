"""Arrays on the way into and out of collectives: which numpy array an argument is, and its element type."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _dtypes
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


class Operand(NamedTuple):
    """A contiguous array and the element type that kernels see in it."""

    array: Array
    element_type: str


def operand(call: str, x: Any, dtype: str | None) -> Operand:
    """`x` as a contiguous array; a copy only where it is not one already.

    `dtype` names the element type where numpy has none for it ("hifloat8" in an array of uint8).
    """
    array = np.ascontiguousarray(x).reshape(np.shape(x))
    return Operand(array, _element_type(call, array, dtype))


def result(call: str, shape: tuple[int, ...], dtype: np.dtype[Any], out: Any) -> Array:
    """The array for the result: a new one, or `out` when it fits exactly."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"{call}: out is a {type(out).__name__}, expected a numpy array")
    if out.shape != shape or out.dtype != dtype:
        raise InvalidValueError(
            f"{call}: out has shape {out.shape} and type {out.dtype}, expected {shape} and {dtype}"
        )
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise InvalidValueError(
            f"{call}: out is not a writable C-contiguous array; pass one, or copy the result"
        )
    return out


def target(call: str, out: Any, dtype: str | None) -> Operand:
    """`out` as an array to receive into, which settles shape and type."""
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"{call}: out is a {type(out).__name__}, expected a numpy array")
    return operand(call, result(call, out.shape, out.dtype, out), dtype)


def address(array: Array) -> int:
    """Where the elements lie in host memory."""
    return int(array.__array_interface__["data"][0])


def _element_type(call: str, array: Array, dtype: str | None) -> str:
    name = str(array.dtype.name)
    if not array.dtype.isnative:
        raise InvalidTypeError(
            f"{call}: the array's bytes are swapped ({array.dtype.str}); "
            "pass x.astype(x.dtype.newbyteorder('='))"
        )
    if dtype is not None:
        if dtype not in ELEMENT_TYPES:
            raise InvalidValueError(f"{call}: dtype is {dtype!r}, expected one of {', '.join(ELEMENT_TYPES)}")
        if element_bytes(dtype) != array.dtype.itemsize:
            raise InvalidValueError(
                f"{call}: an element of dtype {dtype} has {element_bytes(dtype)} bytes, "
                f"of the array's {name} {array.dtype.itemsize}"
            )
        return dtype
    if name == "bool":
        return "uint8"
    if name not in ELEMENT_TYPES:
        raise InvalidTypeError(
            f"{call}: no kernel for arrays of {name}, expected one of {', '.join(ELEMENT_TYPES)}"
        )
    return name
