"""Numbers in the unified buffer for tests of vector instructions: types, operands, lanes."""

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from emulator.ascendc.naive_machine import NaiveMachine

Array = npt.NDArray[Any]
DTYPES: dict[str, np.dtype] = {
    "half": np.dtype(np.float16),
    "bfloat16_t": np.dtype(ml_dtypes.bfloat16),
    "float": np.dtype(np.float32),
    "fp8_e4m3fn_t": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8_e5m2_t": np.dtype(ml_dtypes.float8_e5m2),
    "fp8_e8m0_t": np.dtype(ml_dtypes.float8_e8m0fnu),
    **{
        f"{kind}int{bits}_t": np.dtype(f"{kind or 'i'}{bits // 8}")
        for kind in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}

HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
template <typename T>
__aicore__ LocalTensor<T> at(uint32_t kib) {
    return LocalTensor<T>(TPosition::VECCALC, kib * 1024, 256);
}
#define K extern "C" __global__ __aicore__ void
"""


class BinaryStrides(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint8) for name in ("d", "a", "b", "dr", "ar", "br"))


class UnaryStrides(ctypes.Structure):
    _fields_ = (
        ("d", ctypes.c_uint16),
        ("a", ctypes.c_uint16),
        ("dr", ctypes.c_uint8),
        ("ar", ctypes.c_uint8),
    )


def fill(machine: NaiveMachine, kib: int, dtype: np.dtype, seed: int) -> Array:
    """Numbers in 8 KiB of the unified buffer, as a view of it."""
    random = np.random.default_rng(seed)
    view = machine.ub[kib * 1024 : (kib + 8) * 1024].view(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        view[:] = random.integers(limits.min, limits.max, view.size, dtype=dtype, endpoint=True)
        view[view == 0] = 1
    else:
        view[:] = random.uniform(0.25, 100, view.size).astype(dtype)
    return view


def lane_offsets(dtype: np.dtype, lanes: list[int], repeats: int, block: int, repeat: int) -> Array:
    """Element numbers of the lanes of all repeats, by the strides' definition."""
    per_block = 32 // dtype.itemsize
    each = [(lane // per_block) * block * per_block + lane % per_block for lane in lanes]
    return np.array([r * repeat * per_block + offset for r in range(repeats) for offset in each])
