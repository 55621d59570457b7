"""The narrow floats: every value, every rounding mode, against numpy, ml_dtypes and sorted tables."""

import ctypes
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.conftest import KernelCompiler

FLOATS = {
    "half": np.dtype(np.float16),
    "bfloat16_t": np.dtype(ml_dtypes.bfloat16),
    "fp8_e4m3fn_t": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8_e5m2_t": np.dtype(ml_dtypes.float8_e5m2),
    "fp8_e8m0_t": np.dtype(ml_dtypes.float8_e8m0fnu),
}
SIGNED = {name: dtype for name, dtype in FLOATS.items() if name != "fp8_e8m0_t"}
INTEGERS = {
    "int8_t": np.int8,
    "uint8_t": np.uint8,
    "int16_t": np.int16,
    "int32_t": np.int32,
    "int64_t": np.int64,
}
MODES = {"none": 0, "rint": 1, "floor": 2, "ceil": 3, "round": 4, "trunc": 5, "odd": 6}

SOURCE = """
#include "kernel_operator.h"
using aivops_emulator::Rounding;
template <typename To, typename From>
void convert_all(const From* in, To* out, uint64_t count, int mode, bool saturate) {
    for (uint64_t i = 0; i < count; ++i)
        out[i] = aivops_emulator::convert<To>(in[i], static_cast<Rounding>(mode), saturate);
}
#define KERNEL extern "C" __global__ __aicore__ void
#define CONVERT(from, to) KERNEL from##_to_##to(from* in, to* out, uint64_t count, int mode, \\
                                                bool saturate) { \\
    convert_all<to, from>(in, out, count, mode, saturate); }
#define CONSTRUCT(from, to) KERNEL to##_of_##from(from* in, to* out, uint64_t count) { \\
    for (uint64_t i = 0; i < count; ++i) out[i] = in[i]; }
#define ALL(type) CONVERT(type, float) CONVERT(float, type) CONSTRUCT(double, type) CONSTRUCT(type, float) \\
    CONSTRUCT(int64_t, type) CONSTRUCT(uint64_t, type) CONSTRUCT(float, type)
ALL(half) ALL(bfloat16_t) ALL(fp8_e4m3fn_t) ALL(fp8_e5m2_t) ALL(fp8_e8m0_t)
#define TO_INTEGERS(type) CONVERT(type, int8_t) CONVERT(type, uint8_t) CONVERT(type, int16_t) \\
    CONVERT(type, int32_t) CONVERT(type, int64_t)
TO_INTEGERS(half) TO_INTEGERS(bfloat16_t) TO_INTEGERS(float)
CONVERT(int64_t, float) CONVERT(float, float) CONVERT(int32_t, int16_t) CONVERT(int64_t, int32_t)
extern "C" __global__ __aicore__ void arithmetic(half* a, half* b, half* out) {
    out[0] = *a + *b; out[1] = *a * *b; out[2] = *a - *b; out[3] = *a / *b;
    half c = *a; c += *b; out[4] = c; c = 3; c *= 2.5f; out[5] = c; ++c; out[6] = c; out[7] = *a < *b;
    out[8] = -*a;
}
static_assert(half(1) == 1.0f && bfloat16_t(-2.5) == -2.5f && fp8_e4m3fn_t(448) == 448.0f);
"""


@pytest.fixture(scope="module")
def machine(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> NaiveMachine:
    source = tmp_path_factory.mktemp("types") / "types.asc"
    source.write_text(SOURCE)
    return NaiveMachine(compiler.build(source, "-Wall", "-Werror"))


def convert(
    machine: NaiveMachine,
    names: tuple[str, str],
    values: npt.NDArray[np.generic],
    dtype: npt.DTypeLike,
    mode: str = "rint",
    *,
    saturate: bool = False,
) -> npt.NDArray[np.generic]:
    out = np.empty(values.shape, dtype)
    arguments = (values, out, values.size, ctypes.c_int(MODES[mode]), ctypes.c_bool(saturate))
    machine.launch(f"{names[0]}_to_{names[1]}", *arguments)
    return out


def construct(
    machine: NaiveMachine, target: str, source: str, values: npt.NDArray[np.generic], dtype: npt.DTypeLike
) -> npt.NDArray[np.generic]:
    out = np.empty(values.shape, dtype)
    machine.launch(f"{target}_of_{source}", values, out, values.size)
    return out


@pytest.fixture(autouse=True)
def _quiet_numpy() -> Iterator[None]:
    """NaN and infinities are among the values on purpose."""
    with np.errstate(all="ignore"):
        yield


def all_values(dtype: np.dtype) -> npt.NDArray[np.generic]:
    return np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)


def same_bits(found: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> None:
    """Equal bit patterns, where any NaN is as good as another."""
    unsigned = f"u{found.dtype.itemsize}"
    both_nan = np.isnan(found.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    equal = (found.view(unsigned) == expected.view(unsigned)) | both_nan
    assert equal.all(), (np.flatnonzero(~equal)[:4], found[~equal][:4], expected[~equal][:4])


def probes(dtype: np.dtype) -> npt.NDArray[np.float32]:
    """Every value of a narrow type, the middle to its neighbour, and the floats next to both."""
    values = np.unique(all_values(dtype).astype(np.float64))
    values = values[np.isfinite(values)]
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2, values[-1:] * 1.5, values[:1] * 1.5])
    floats = points.astype(np.float32)
    around = [np.nextafter(floats, np.float32(direction)) for direction in (np.inf, -np.inf)]
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, -1e-45], np.float32)
    return np.concatenate([floats, *around, special])


@pytest.mark.parametrize("name", FLOATS)
def test_every_value_decodes(machine: NaiveMachine, name: str) -> None:
    values = all_values(FLOATS[name])
    expected = values.astype(np.float32)
    same_bits(convert(machine, (name, "float"), values, np.float32), expected)
    same_bits(construct(machine, "float", name, values, np.float32), expected)


@pytest.mark.parametrize("name", SIGNED)
def test_rounding_to_nearest(machine: NaiveMachine, name: str) -> None:
    values = probes(FLOATS[name])
    expected = values.astype(FLOATS[name])
    for mode in ("none", "rint"):
        same_bits(convert(machine, ("float", name), values, FLOATS[name], mode), expected)
    same_bits(construct(machine, name, "float", values, FLOATS[name]), expected)
    same_bits(construct(machine, name, "double", values.astype(np.float64), FLOATS[name]), expected)


def test_exponents_round_to_nearest(machine: NaiveMachine) -> None:
    dtype = FLOATS["fp8_e8m0_t"]
    exponents = np.arange(-126, 128, dtype=np.float64)
    values = np.concatenate([2.0**exponents, 1.25 * 2.0**exponents, 1.75 * 2.0 ** exponents[:-1]]).astype(
        np.float32
    )
    same_bits(construct(machine, "fp8_e8m0_t", "float", values, dtype), values.astype(dtype))


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("mode", ["floor", "ceil", "trunc", "round", "odd"])
def test_other_rounding_modes(machine: NaiveMachine, name: str, mode: str) -> None:
    dtype = FLOATS[name]
    numbers = np.unique(all_values(dtype).astype(np.float64))
    numbers = numbers[np.isfinite(numbers)]
    values = probes(dtype)
    values = values[np.isfinite(values) & (values >= numbers[0]) & (values <= numbers[-1])]
    exact = values.astype(np.float64)
    below = numbers[np.searchsorted(numbers, exact, side="right") - 1]
    above = numbers[np.searchsorted(numbers, exact, side="left")]
    if mode in ("floor", "ceil"):
        expected = below if mode == "floor" else above
    elif mode == "trunc":
        expected = np.where(exact < 0, above, below)
    elif mode == "round":
        nearer_above = above - exact < exact - below
        tie = above - exact == exact - below
        expected = np.where(tie, np.where(exact < 0, below, above), np.where(nearer_above, above, below))
    else:
        odd_below = below.astype(dtype).view(f"u{dtype.itemsize}") & 1 == 1
        expected = np.where(below == above, below, np.where(odd_below, below, above))
    found = convert(machine, ("float", name), values, dtype, mode).astype(np.float64)
    wrong = found != expected
    assert not wrong.any(), (values[wrong][:4], found[wrong][:4], expected[wrong][:4])


def test_saturation(machine: NaiveMachine) -> None:
    values = np.array([1e6, -1e6, np.inf, -np.inf, np.nan, 65519.9, 65520.0], np.float32)
    found = convert(machine, ("float", "half"), values, np.float16, saturate=True)
    assert found.tolist() == [65504, -65504, 65504, -65504, 0, 65504, 65504]


@pytest.mark.parametrize("name", SIGNED)
def test_integers_round_once(machine: NaiveMachine, name: str) -> None:
    """A second rounding, by way of float or double, would be seen at 2^k + 2^(k-p) + 1."""
    bits = {"half": 11, "bfloat16_t": 8, "fp8_e4m3fn_t": 4, "fp8_e5m2_t": 3}[name]
    values = [0, 1, 2**63 - 1, *range(-300, 300)]
    for exponent in range(bits, 63):
        for delta in (-1, 0, 1):
            values.append(2**exponent + 2 ** (exponent - bits) + delta)
    for source, dtype in (("int64_t", np.int64), ("uint64_t", np.uint64)):
        chosen = [value for value in values if value >= 0 or dtype is np.int64]
        array = np.array(chosen, dtype)
        found = construct(machine, name, source, array, FLOATS[name]).astype(np.float64)
        numbers = np.unique(all_values(FLOATS[name]).astype(np.float64))
        numbers = numbers[np.isfinite(numbers)]
        for value, result in zip(chosen, found.tolist(), strict=True):
            if abs(value) > numbers[-1]:
                continue
            high = int(np.searchsorted(numbers, value, side="left"))
            candidates = numbers[max(high - 2, 0) : high + 2].tolist()
            least = min(
                abs(int(candidate) - value) if candidate == int(candidate) else 1 for candidate in candidates
            )
            nearest = [c for c in candidates if c == int(c) and abs(int(c) - value) == least]
            assert result in nearest, (value, result, nearest)
            if len(nearest) == 2:
                even = [
                    c for c in nearest if np.array(c, FLOATS[name]).view(f"u{FLOATS[name].itemsize}") % 2 == 0
                ]
                assert [result] == even, (value, result, nearest)


ROUND = {
    "none": np.rint,
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "odd": lambda x: np.where(np.trunc(x) == x, x, np.where(np.floor(x) % 2 == 1, np.floor(x), np.ceil(x))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["half", "bfloat16_t", "float"])
def test_floats_to_integers(machine: NaiveMachine, source: str, mode: str) -> None:
    if source == "float":
        whole = np.arange(-70000, 70000, dtype=np.float64) / 4
        big = [
            2.0**31,
            -(2.0**31),
            2.0**31 - 128,
            1e10,
            -1e10,
            2.0**63,
            -(2.0**63),
            1e30,
            np.inf,
            -np.inf,
            np.nan,
            1e-30,
        ]
        values = np.concatenate([whole, np.array(big)]).astype(np.float32)
    else:
        values = all_values(FLOATS[source])
    exact = values.astype(np.float64)
    rounded = ROUND[mode](exact)
    for name, dtype in INTEGERS.items():
        limits = np.iinfo(dtype)
        expected = [
            0 if np.isnan(x) else limits.max if x >= limits.max else limits.min if x <= limits.min else int(x)
            for x in rounded.tolist()
        ]
        found = convert(machine, (source, name), values, dtype, mode)
        wrong = found != np.array(expected, dtype)
        assert not wrong.any(), (name, exact[wrong][:4], found[wrong][:4])


@pytest.mark.parametrize("mode", MODES)
def test_floats_to_whole_floats(machine: NaiveMachine, mode: str) -> None:
    values = np.concatenate(
        [np.arange(-4000, 4000, dtype=np.float32) / 8, np.float32([2**24 + 2, 1e30, np.inf, -np.inf])]
    )
    found = convert(machine, ("float", "float"), values, np.float32, mode)
    assert (found == ROUND[mode](values.astype(np.float64))).all()


def test_integers_to_integers_and_floats(machine: NaiveMachine) -> None:
    values = np.array([0, 1, -1, 32767, 32768, -32768, -32769, 2**31 - 1, -(2**31)], np.int32)
    found = convert(machine, ("int32_t", "int16_t"), values, np.int16)
    assert found.tolist() == np.clip(values, -32768, 32767).tolist()
    wide = np.array([2**24 + 1, 2**60 + 2**36, 2**60 + 2**36 + 1, -(2**63), 2**63 - 1], np.int64)
    assert (
        convert(machine, ("int64_t", "float"), wide, np.float32).tolist() == wide.astype(np.float32).tolist()
    )
    down = convert(machine, ("int64_t", "float"), wide, np.float32, "trunc").tolist()
    assert down == [2.0**24, 2.0**60, 2.0**60, -(2.0**63), 2.0**63 - 2.0**39]
    clipped = convert(machine, ("int64_t", "int32_t"), wide, np.int32).tolist()
    assert clipped == [2**24 + 1, 2**31 - 1, 2**31 - 1, -(2**31), 2**31 - 1]


def test_arithmetic_of_scalars(machine: NaiveMachine) -> None:
    a, b, out = np.float16([1.5]), np.float16([0.3]), np.zeros(9, np.float16)
    machine.launch("arithmetic", a, b, out)
    x, y = a[0], b[0]
    assert out.tolist() == [x + y, x * y, x - y, x / y, x + y, 7.5, 8.5, 0, -1.5]
