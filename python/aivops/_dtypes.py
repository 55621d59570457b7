"""Element types by name: sizes, DLPack codes, and numpy's view of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._misuse import shown
from .errors import InvalidTypeError, InvalidValueError


class _Type(NamedTuple):
    bytes: int
    code: int  # DLPack's DLDataTypeCode
    extra: bool = False  # numpy knows it through ml_dtypes only


_TYPES = {
    "bool": _Type(1, 6),
    "int8": _Type(1, 0),
    "int16": _Type(2, 0),
    "int32": _Type(4, 0),
    "int64": _Type(8, 0),
    "uint8": _Type(1, 1),
    "uint16": _Type(2, 1),
    "uint32": _Type(4, 1),
    "uint64": _Type(8, 1),
    "float16": _Type(2, 2),
    "float32": _Type(4, 2),
    "float64": _Type(8, 2),
    "bfloat16": _Type(2, 4, extra=True),
    "float8_e4m3fn": _Type(1, 10, extra=True),
    "float8_e5m2": _Type(1, 12, extra=True),
    "float8_e8m0fnu": _Type(1, 14, extra=True),
}


def name_of(dtype: object) -> str:
    """The name of an element type that is given as a name, a numpy type or a numpy dtype."""
    if isinstance(dtype, str):
        name = dtype
    else:
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    if name not in _TYPES:
        raise InvalidTypeError(
            f"dtype {name!r} is not an element type of Buffer; known are {', '.join(_TYPES)}"
        )
    return name


def itemsize(name: str) -> int:
    return _TYPES[name].bytes


def to_dlpack(name: str) -> tuple[int, int]:
    """DLPack's type code and bits."""
    entry = _TYPES[name]
    return entry.code, entry.bytes * 8


def from_dlpack(code: int, bits: int) -> str:
    for name, entry in _TYPES.items():
        if (entry.code, entry.bytes * 8) == (code, bits):
            return name
    raise InvalidTypeError(f"DLPack type code {code} with {bits} bits is not an element type of Buffer")


def numpy_dtype(name: str) -> np.dtype[Any]:
    if not _TYPES[name].extra:
        return np.dtype(name)
    try:
        ml_dtypes = import_module("ml_dtypes")
    except ModuleNotFoundError as error:
        raise InvalidTypeError(
            f"dtype {name!r}: numpy has it from ml_dtypes only; pip install ml_dtypes"
        ) from error
    made: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return made


def as_numpy_dtype(call: str, dtype: npt.DTypeLike) -> np.dtype[Any]:
    """What numpy takes for a type, and the names that it has from ml_dtypes only."""
    if isinstance(dtype, str) and dtype in _TYPES:
        return numpy_dtype(dtype)
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        raise InvalidTypeError(
            f"{call}: dtype {dtype!r} is not an element type; known are {', '.join(_TYPES)}"
        ) from None


def require_native(call: str, array: npt.NDArray[Any]) -> None:
    """Refuses arrays in the other byte order: devices know one only."""
    if not array.dtype.isnative:
        raise InvalidTypeError(
            f"{call}: the array's bytes are swapped ({array.dtype.str}); "
            "pass x.astype(x.dtype.newbyteorder('='))"
        )


def require_unmasked(what: str, array: object) -> None:
    """Refuses arrays that leave elements out: nobody would get to know which."""
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidTypeError(
            f"{what} is a masked array, and masks are not passed on; pass x.filled(value) or x.data"
        )


def contiguous(what: str, array: Any) -> npt.NDArray[Any]:
    """The array itself, or a contiguous copy of it. `what` begins errors: "all_gather(): x"."""
    require_unmasked(what, array)
    try:
        made = np.asarray(array)
    except ValueError as error:  # rows of different lengths
        raise InvalidValueError(f"{what} is no array: {error}") from None
    if made.dtype.hasobject and made is not array:
        raise InvalidTypeError(f"{what} is {shown(array)}, expected an array")
    return made if made.flags.c_contiguous else np.ascontiguousarray(made).reshape(made.shape)


def as_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The memory of a contiguous array, whatever its type."""
    return array.reshape(-1).view(np.uint8)
