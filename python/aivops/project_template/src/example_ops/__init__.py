"""Operators for Ascend AI Vector cores."""

from __future__ import annotations

import aivops
import numpy as np
from numpy.typing import NDArray

__all__ = ["add"]


def add(a: NDArray[np.float32], b: NDArray[np.float32], device: int = 0) -> NDArray[np.float32]:
    """The sum of two float32 arrays of one shape, computed on the vector cores of a device."""
    a = np.ascontiguousarray(a, np.float32)
    b = np.ascontiguousarray(b, np.float32)
    if a.shape != b.shape:
        raise ValueError(f"add: expected arrays of one shape, found {a.shape} and {b.shape}")
    where = aivops.Device(device)
    stream = aivops.Stream(where)
    kernel = aivops.load_kernels("example_ops").get_kernel("example_ops_add_float")
    result = aivops.Buffer(where, a.shape, "float32")
    kernel.launch(
        stream, aivops.Buffer.from_host(where, a), aivops.Buffer.from_host(where, b), result, a.size
    )
    stream.synchronize()
    return result.to_numpy()
