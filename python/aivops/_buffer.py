"""Device memory with a shape and an element type."""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _core, _dtypes
from ._misuse import refuse_copy, require_kind, require_whole, shown
from ._words import counted
from .errors import InvalidTypeError, InvalidValueError

_HOST = (1, 0)  # DLPack's CPU
_MOST_ELEMENTS = 2**60


def read_shape(call: str, shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """One extent or several."""
    try:
        given = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
        extents = tuple(map(operator.index, given))
    except TypeError:
        words = shown(shape) if isinstance(shape, str) else reprlib.repr(shape)
        raise InvalidTypeError(f"{call}: shape is {words}, expected a whole number or several") from None
    if any(extent < 0 for extent in extents):
        raise InvalidValueError(f"{call}: shape {extents} has a negative extent")
    if math.prod(extents) > _MOST_ELEMENTS:
        raise InvalidValueError(
            f"{call}: shape {reprlib.repr(extents)} has more elements than memory can hold"
        )
    return extents


class Buffer(_core.Memory):
    """A contiguous array in device memory. Slices share it; it is freed after the last of them, and not
    before launches that use it are done.

    Nothing copies it to the host unless asked: numpy's functions and operators refuse it, see `to_numpy()`.
    Two Buffers are equal when they are one object.

    :param shape: elements, or elements along each axis
    :param dtype: name of the element type, or a numpy type
    """

    shape: tuple[int, ...]
    dtype: str

    def __init__(self, device: _core.Device, shape: int | Sequence[int], dtype: object = "uint8") -> None:
        self._describe(shape, dtype)
        require_kind("Buffer: device", device, _core.Device, "a Device")
        super().__init__(device, math.prod(self.shape) * _dtypes.itemsize(self.dtype))

    @classmethod
    def _over(cls, memory: _core.Memory, shape: Sequence[int], dtype: str) -> Buffer:
        buffer = cls.__new__(cls)
        buffer._describe(shape, dtype)
        _core.Memory.__init__(buffer, memory)
        return buffer

    def _describe(self, shape: int | Sequence[int], dtype: object) -> None:
        self.__dict__.update(shape=read_shape("Buffer", shape), dtype=_dtypes.name_of(dtype))

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("shape", "dtype"):
            raise AttributeError(
                f"Buffer: {name} cannot be set; reshape() and Buffer.borrow() give views of another kind"
            )
        super().__setattr__(name, value)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        refuse_copy(self, "pass to_numpy() on, or fill another Buffer by copy_from()")

    @classmethod
    def from_host(cls, device: _core.Device, array: npt.ArrayLike) -> Buffer:
        """A copy of a host array in device memory."""
        source = _dtypes.contiguous("Buffer.from_host(): array", array)
        _dtypes.require_native("Buffer.from_host()", source)
        buffer = cls(device, source.shape, source.dtype)
        buffer.copy_from(source)
        return buffer

    @classmethod
    def from_dlpack(cls, device: _core.Device, array: Any) -> Buffer:
        """An array of another library that lives on ``device``, without a copy; it is kept alive."""
        require_kind("Buffer.from_dlpack(): device", device, _core.Device, "a Device")
        memory, shape, code, bits = _core.open_dlpack(device, array)
        return cls._over(memory, shape, _dtypes.from_dlpack(code, bits))

    @classmethod
    def borrow(
        cls, device: _core.Device, pointer: int, shape: int | Sequence[int], dtype: object, owner: object
    ) -> Buffer:
        """Device memory at an address, which belongs to ``owner`` and keeps it alive."""
        require_kind("Buffer.borrow(): device", device, _core.Device, "a Device")
        pointer = require_whole("Buffer.borrow(): pointer", pointer, 0, 2**64 - 1)
        extents = read_shape("Buffer.borrow()", shape)
        name = _dtypes.name_of(dtype)
        memory = _core.Memory.at_address(device, pointer, math.prod(extents) * _dtypes.itemsize(name), owner)
        return cls._over(memory, extents, name)

    def __len__(self) -> int:
        if not self.shape:
            raise InvalidTypeError("Buffer: one without axes has no length")
        return self.shape[0]

    def __getitem__(self, key: int | slice) -> Buffer:
        """A part along the first axis; it shares the memory."""
        rows = len(self)
        row_bytes = self.nbytes // rows if rows else 0
        if isinstance(key, slice):
            start, stop, step = key.indices(rows)
            if step != 1:
                raise InvalidValueError(f"Buffer: a slice with step {step} is not contiguous; use step 1")
            count = max(stop - start, 0)
            return self._over(
                self.part(start * row_bytes, count * row_bytes), (count, *self.shape[1:]), self.dtype
            )
        try:
            key = operator.index(key)
        except TypeError:
            raise InvalidTypeError(
                f"Buffer: index is {shown(key)}, expected a whole number or a slice"
            ) from None
        index = key + rows if key < 0 else key
        if not 0 <= index < rows:
            raise IndexError(f"Buffer: index {key} is outside its {counted(rows, 'row')}")
        return self._over(self.part(index * row_bytes, row_bytes), self.shape[1:], self.dtype)

    def reshape(self, *shape: int | Sequence[int]) -> Buffer:
        """The same memory under another shape of the same size, one sequence or several numbers."""
        extents = read_shape("Buffer.reshape()", shape[0] if len(shape) == 1 else shape)  # type: ignore[arg-type]
        if math.prod(extents) != math.prod(self.shape):
            raise InvalidValueError(f"Buffer: shape {self.shape} cannot become {extents}")
        return self._over(self, extents, self.dtype)

    def copy_from(self, source: Buffer | npt.ArrayLike, *, stream: _core.Stream | None = None) -> None:
        """Copy the elements of a buffer or host array of the same shape and type.

        With ``stream`` a copy between buffers is queued there; without, it is done on return.
        """
        if stream is not None:
            require_kind("Buffer.copy_from(): stream", stream, _core.Stream, "a Stream or None")
        if isinstance(source, Buffer):
            self._require_same(source.shape, source.dtype)
            self.read_device(source, stream)
            return
        if stream is not None:
            raise InvalidTypeError("Buffer.copy_from: only a copy between buffers can be queued on a stream")
        array = _dtypes.contiguous("Buffer.copy_from(): source", source)
        _dtypes.require_native("Buffer.copy_from()", array)
        self._require_same(array.shape, _dtypes.name_of(array.dtype))
        self.read_host(_dtypes.as_bytes(array))

    def fill(self, byte: int) -> None:
        """Set every byte."""
        self.fill_bytes(require_whole("Buffer.fill(): byte", byte, 0, 255))

    def to_numpy(self, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """A copy in host memory. Work on streams is not waited for: synchronise first."""
        if out is None:
            out = np.empty(self.shape, _dtypes.numpy_dtype(self.dtype))
        else:
            require_kind("Buffer.to_numpy(): out", out, np.ndarray, "a numpy array or None")
            _dtypes.require_unmasked("Buffer.to_numpy(): out", out)
            self._require_same(out.shape, _dtypes.name_of(out.dtype))
            _dtypes.require_native("Buffer.to_numpy", out)
            if not out.flags.c_contiguous or not out.flags.writeable:
                raise InvalidValueError("Buffer.to_numpy: out must be contiguous and writable")
        self.write_host(_dtypes.as_bytes(out))
        return out

    if not TYPE_CHECKING:  # to which it would say that numpy's functions take it

        def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
            """numpy would else make an array of one object of it, without a word."""
            raise InvalidTypeError(
                "Buffer: numpy cannot reach device memory; buffer.to_numpy() makes a copy in host memory"
            )

    def __dlpack_device__(self) -> tuple[int, int]:
        return _core.DLPACK_DEVICE_TYPE, self.device.id

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The array for another library. Waits for the device first, unless ``stream`` is -1."""
        if stream != -1:
            self.device.synchronize()
        if dl_device == _HOST:
            if copy is False:
                raise BufferError("Buffer: device memory reaches the host only as a copy")
            return self.to_numpy().__dlpack__()
        if dl_device is not None and dl_device != self.__dlpack_device__():
            raise BufferError(f"Buffer: is on DLPack device {self.__dlpack_device__()}, not {dl_device}")
        source = self
        if copy:
            source = Buffer(self.device, self.shape, self.dtype)
            source.copy_from(self)
        code, bits = _dtypes.to_dlpack(self.dtype)
        return source.make_dlpack(
            list(self.shape), code, bits, max_version is not None and max_version[0] >= 1
        )

    def __repr__(self) -> str:
        return f"<aivops.Buffer {self.shape} {self.dtype} on device {self.device.id}>"

    def _require_same(self, shape: tuple[int, ...], dtype: str) -> None:
        if shape != self.shape or dtype != self.dtype:
            raise InvalidValueError(
                f"Buffer: expected {self.shape} of {self.dtype}, found {shape} of {dtype}; "
                "shapes and types must be equal"
            )
