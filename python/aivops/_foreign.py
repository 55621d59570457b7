"""Arrays of other libraries, torch's tensors among them: taken in and given back without a copy, by DLPack.

None of these libraries is imported here; what a program has not imported it cannot pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _dtypes
from ._buffer import Buffer
from .errors import InvalidTypeError, InvalidValueError

_HOST = 1  # DLPack's kDLCPU
_OURS = (Buffer, np.ndarray, np.generic)


def is_foreign(x: Any) -> bool:
    """Whether `x` is another library's array."""
    return not isinstance(x, _OURS) and hasattr(x, "__dlpack__")


def open_array(what: str, x: Any, device: _core.Device) -> npt.NDArray[Any] | Buffer:
    """The memory of `x`: a numpy array where that is the host's, a Buffer where it is `device`'s.

    `what` begins errors: "all_gather(): x".
    """
    kind, number = x.__dlpack_device__()
    if kind == _HOST:
        return _open_host(what, x)
    if (kind, number) != (_core.DLPACK_DEVICE_TYPE, device.id):
        raise InvalidValueError(
            f"{what} is on DLPack device ({int(kind)}, {number}), expected the host ({_HOST}, 0) or this "
            f"rank's device ({_core.DLPACK_DEVICE_TYPE}, {device.id}); copy it there first"
        )
    return Buffer.from_dlpack(device, x)


def empty_like(
    x: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[npt.NDArray[Any], Callable[[], Any]]:
    """New host memory for a result, and what gives it back as an array of the library of `x`."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        tensor = torch.empty(shape, dtype=x.dtype)
        return _open_host("the result", tensor), lambda: tensor
    array = np.empty(shape, dtype)
    namespace = getattr(x, "__array_namespace__", None)
    return array, (lambda: array) if namespace is None else lambda: namespace().from_dlpack(array)


def _open_host(what: str, x: Any) -> npt.NDArray[Any]:
    try:
        try:
            capsule = x.__dlpack__(max_version=(1, 0))
        except TypeError:  # written before DLPack 1.0, which has no read-only arrays
            capsule = x.__dlpack__()
    except (BufferError, RuntimeError) as error:
        raise InvalidTypeError(f"{what} cannot be taken over as it is: {error}") from error
    memory, shape, strides, code, bits = _core.open_host_dlpack(capsule)
    if any(stride < 0 for stride in strides):
        raise InvalidValueError(f"{what} runs backwards along an axis; pass a contiguous copy")
    dtype = _dtypes.numpy_dtype(_dtypes.from_dlpack(code, bits))
    # numpy's way to strided arrays knows its own types only.
    words = np.asarray(memory).view(f"u{dtype.itemsize}")
    steps = [stride * dtype.itemsize for stride in strides]
    strided = np.lib.stride_tricks.as_strided(words, shape, steps, writeable=words.flags.writeable)
    return strided.view(dtype)
