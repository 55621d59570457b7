"""What the collectives must give, computed with numpy: elements folded in rank order, narrow floats in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

REDUCIBLE = (np.float16, ml_dtypes.bfloat16, np.float32, np.int8, np.int16, np.int32, np.int64)
FOLD = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def fold(arrays: Sequence[np.ndarray], op: str) -> np.ndarray:
    """((x0 op x1) op x2) …"""
    dtype = arrays[0].dtype
    wide = np.float32 if dtype in (np.float16, ml_dtypes.bfloat16) else dtype
    result = arrays[0].astype(wide)
    for array in arrays[1:]:
        result = FOLD[op](result, array.astype(wide))
    return result.astype(dtype)


def numbers(shape: Any, dtype: Any, seed: int) -> np.ndarray:
    """Finite numbers small enough that products of sixteen stay finite; integers of all sizes, which wrap."""
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    signs = rng.choice([-1.0, 1.0], shape)
    return (signs * rng.uniform(0.5, 1.5, shape)).astype(dtype)


def bits(shape: Any, dtype: Any, seed: int) -> np.ndarray:
    """Arbitrary bits, NaNs of all kinds among them."""
    width = np.dtype(dtype).itemsize
    raw = np.random.default_rng(seed).integers(0, 256, int(np.prod(shape)) * width, np.uint8)
    return raw.view(dtype).reshape(shape)


def same(left: np.ndarray | None, right: np.ndarray) -> bool:
    """Type, shape and every bit."""
    return (
        left is not None
        and left.dtype == right.dtype
        and left.shape == right.shape
        and left.tobytes() == right.tobytes()
    )
