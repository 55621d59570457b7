"""Cast, Duplicate, Compare, Select and the reductions: every form for every type that an architecture has."""

import ctypes
import functools
from collections.abc import Callable

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.ascendc.vector_numbers import DTYPES, HEAD, Array, BinaryStrides, fill, lane_offsets
from emulator.conftest import ARCHITECTURES, KernelCompiler

# Conversions that dav-c220-vec has, by what they start from; dav-c310-vec has them between all of its types.
CAST_C220 = {
    "half": ("float", "int32_t", "int16_t", "int8_t", "uint8_t"),
    "float": ("float", "half", "bfloat16_t", "int64_t", "int32_t", "int16_t"),
    "bfloat16_t": ("float", "int32_t"),
    "int8_t": ("half",),
    "uint8_t": ("half",),
    "int16_t": ("half", "float"),
    "int32_t": ("float", "int16_t", "int64_t"),
    "int64_t": ("int32_t", "float"),
}
CAST_C310 = tuple(name for name in DTYPES if name != "uint64_t")
CASTS = {
    "dav-c220-vec": [(to, source) for source, targets in CAST_C220.items() for to in targets],
    "dav-c310-vec": [("float", "float")] + [(a, b) for a in CAST_C310 for b in CAST_C310 if a != b],
}
NUMBERS = tuple(name for name in DTYPES if not name.startswith("fp8"))
REALS = ("half", "float")
COMPARED = {"dav-c220-vec": (*REALS, "int32_t"), "dav-c310-vec": NUMBERS}
SELECTED = {"dav-c220-vec": REALS, "dav-c310-vec": NUMBERS}
DUPLICATED = {
    "dav-c220-vec": tuple(name for name in NUMBERS if DTYPES[name].itemsize in (2, 4)),
    "dav-c310-vec": NUMBERS,
}
MODES = {"none": 0, "rint": 1, "floor": 2, "ceil": 3, "round": 4, "trunc": 5, "odd": 6}
COMPARISONS: dict[int, Callable[[Array, Array], Array]] = dict(
    enumerate((np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal))
)


def source_of(architecture: str) -> str:
    lines = [HEAD]
    for to, source in CASTS[architecture]:
        lines.append(
            f"K Cast_{to}_{source}(int32_t mode) {{"
            f" Cast(at<{to}>(0), at<{source}>(8), static_cast<RoundMode>(mode), 128); }}"
        )
    for t in DUPLICATED[architecture]:
        call = f"Duplicate(at<{t}>(0), {t}(3)"
        lines.append(f"K Duplicate_{t}(uint32_t n) {{ {call}, int32_t(n)); }}")
        if DTYPES[t].itemsize in (2, 4):
            lines.append(f"K Duplicate_mask_{t}(uint64_t* mask) {{ {call}, mask, 2, 2, 17); }}")
            lines.append(f"K Duplicate_lanes_{t}(uint64_t lanes) {{ {call}, lanes, 2, 2, 17); }}")
    for t in COMPARED[architecture]:
        lines.append(
            f"K Compare_{t}(int32_t mode) {{ CMPMODE m = static_cast<CMPMODE>(mode);"
            f" Compare(at<uint8_t>(0), at<{t}>(8), at<{t}>(16), m, 256);"
            f" CompareScalar(at<uint8_t>(1), at<{t}>(8), {t}(3), m, 256); }}"
        )
    for t in SELECTED[architecture]:
        call = f"at<uint8_t>(24), at<{t}>(8)"
        lines.append(
            f"K Select_{t}() {{"
            f" Select(at<{t}>(0), {call}, at<{t}>(16), SELMODE::VSEL_TENSOR_TENSOR_MODE, 200);"
            f" Select(at<{t}>(32), {call}, {t}(3), SELMODE::VSEL_TENSOR_SCALAR_MODE, 200); }}"
        )
    for t in REALS:
        lines.append(
            f"K Repeats_{t}(uint64_t lanes, BinaryRepeatParams s) {{"
            f" Compare(at<uint8_t>(0), at<{t}>(8), at<{t}>(16), CMPMODE::LT, lanes, 2, s);"
            f" Select(at<{t}>(32), at<uint8_t>(24), at<{t}>(8), at<{t}>(16),"
            f" SELMODE::VSEL_TENSOR_TENSOR_MODE, lanes, 2, s);"
            f" Select(at<{t}>(40), at<uint8_t>(24), at<{t}>(8), {t}(3),"
            f" SELMODE::VSEL_TENSOR_SCALAR_MODE, lanes, 2, s); }}"
        )
        scalar = f"at<{t}>(8), {t}(3), CMPMODE::LT"
        unary = "2, UnaryRepeatParams(1, s.src0BlkStride, 8, s.src0RepStride)"
        lines.append(
            f"K Masks_{t}(uint64_t* mask, uint64_t lanes, BinaryRepeatParams s) {{"
            f" Compare(at<uint8_t>(0), at<{t}>(8), at<{t}>(16), CMPMODE::LT, mask, 2, s);"
            f" CompareScalar(at<uint8_t>(1), {scalar}, mask, {unary});"
            f" CompareScalar(at<uint8_t>(2), {scalar}, lanes, {unary});"
            f" Select(at<{t}>(32), at<uint8_t>(24), at<{t}>(8), at<{t}>(16),"
            f" SELMODE::VSEL_TENSOR_TENSOR_MODE, mask, 2, s);"
            f" Select(at<{t}>(40), at<uint8_t>(24), at<{t}>(8), {t}(3),"
            f" SELMODE::VSEL_TENSOR_SCALAR_MODE, mask, 2, s);"
            f" SetVectorMask<{t}>(mask[1], mask[0]);"
            f" Compare<{t}, uint8_t, false>(at<uint8_t>(3), at<{t}>(8), at<{t}>(16), CMPMODE::LT, lanes, 2, s); }}"
        )
        lines.append(f"K Reduce_{t}(uint64_t* mask) {{")
        lines.append(f"LocalTensor<{t}> out = at<{t}>(0), x = at<{t}>(8);")
        forms = (("ReduceSum", ""), ("ReduceMax", ", true"), ("ReduceMin", ", true"))
        for index, (name, tail) in enumerate(forms):
            place = index * 48
            lines.append(f"{name}(out[{place}], x, at<{t}>(24), 100{tail});")
            lines.append(f"{name}(out[{place + 16}], x, at<{t}>(24), 40, 3, 9{tail});")
            lines.append(f"{name}(out[{place + 32}], x, at<{t}>(24), mask, 3, 9{tail});")
        lines.append("WholeReduceSum(out[160], x, 40, 3, 1, 1, 9);")
        lines.append("WholeReduceMax(out[176], x, 40, 3, 1, 1, 9, ReduceOrder::ORDER_VALUE_INDEX);")
        lines.append("WholeReduceMax(out[192], x, 40, 3, 2, 1, 9, ReduceOrder::ORDER_INDEX_VALUE);")
        lines.append("WholeReduceMax(out[208], x, 40, 3, 1, 1, 9, ReduceOrder::ORDER_ONLY_VALUE);")
        lines.append("WholeReduceMin(out[224], x, 40, 3, 1, 1, 9, ReduceOrder::ORDER_ONLY_INDEX);")
        lines.append("WholeReduceSum(out[240], x, mask, 3, 1, 1, 9);")
        lines.append("WholeReduceMax(out[256], x, mask, 3, 1, 1, 9, ReduceOrder::ORDER_ONLY_VALUE);")
        lines.append(f"SetVectorMask<{t}>(mask[1], mask[0]);")
        lines.append(f"WholeReduceSum<{t}, false>(out[272], x, 40, 3, 1, 1, 9);")
        lines.append("ResetMask();")
        lines.append("}")
    return "\n".join(lines)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def machine(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, NaiveMachine]:
    source = tmp_path_factory.mktemp("types") / f"{request.param}.asc"
    source.write_text(source_of(request.param))
    return request.param, NaiveMachine(compiler.build(source, "-O1", "-Wall", architecture=request.param))


# ---- Cast ----


@functools.cache
def all_numbers(dtype: np.dtype) -> Array:
    """The finite values of an 8-bit or 16-bit type, ascending."""
    bits = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # NaN are among them
        values = bits.view(dtype).astype(np.float64)
    return np.unique(values[np.isfinite(values)])


def samples(source: np.dtype, target: np.dtype) -> Array:
    """128 values of `source` within the range of `target`, many of them between two of its values."""
    random = np.random.default_rng(source.itemsize * 16 + target.itemsize)
    limits = [largest(dtype) for dtype in (source, target)]
    least = max(lowest(dtype) for dtype in (source, target))
    bound = min(*limits, 2.0**40)
    spread = random.uniform(0, 1, 96) ** 4 * bound
    values = np.concatenate([spread, np.arange(32) / 4])
    values[::2] *= -1
    rounded = np.clip(values, max(least, -bound), bound).astype(source)
    rounded[np.abs(rounded.astype(np.float64)) > bound] = source.type(1)  # rounded beyond the target's range
    return rounded


def largest(dtype: np.dtype) -> float:
    if dtype.kind in "iu":
        return float(np.iinfo(dtype).max) if dtype.itemsize < 8 else 2.0**62
    return 3e38 if dtype == np.float32 else float(all_numbers(dtype)[-1])


def lowest(dtype: np.dtype) -> float:
    if dtype.kind in "iu":
        return float(np.iinfo(dtype).min) if dtype.itemsize < 8 else -(2.0**62)
    return -3e38 if dtype == np.float32 else float(all_numbers(dtype)[0])


def whole(exact: Array, mode: str) -> Array:
    floor, ceil = np.floor(exact), np.ceil(exact)
    return {
        "none": np.rint(exact),
        "rint": np.rint(exact),
        "floor": floor,
        "ceil": ceil,
        "trunc": np.trunc(exact),
        "round": np.copysign(np.floor(np.abs(exact) + 0.5), exact),
        "odd": np.where(floor == ceil, floor, np.where(floor % 2 != 0, floor, ceil)),
    }[mode]


def converted(values: Array, target: np.dtype, mode: str) -> Array:
    exact = values.astype(np.float64)  # exact: integers beyond 2^53 are not among the samples
    if target.kind in "iu":
        limits = np.iinfo(target)
        return np.clip(whole(exact, mode), limits.min, limits.max).astype(target)
    if values.dtype == target:
        return whole(exact, mode).astype(target)
    nearest = exact.astype(target)
    if mode in ("none", "rint"):
        return nearest
    if target == np.float32:
        rounded = nearest.astype(np.float64)
        below = np.where(rounded > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        above = np.where(rounded < exact, np.nextafter(nearest, np.float32(np.inf)), nearest)
    else:
        numbers = all_numbers(target)
        below = numbers[np.searchsorted(numbers, exact, side="right") - 1].astype(target)
        above = numbers[np.minimum(np.searchsorted(numbers, exact), numbers.size - 1)].astype(target)
    low, high = below.astype(np.float64), above.astype(np.float64)
    odd = below.view(f"u{target.itemsize}") & 1 == 1
    tie = high - exact == exact - low
    away = np.where(exact < 0, low, high)
    chosen = {
        "floor": low,
        "ceil": high,
        "trunc": np.where(exact < 0, high, low),
        "round": np.where(tie, away, np.where(high - exact < exact - low, high, low)),
        "odd": np.where(low == high, low, np.where(odd, low, high)),
    }[mode]
    return chosen.astype(target)


@pytest.mark.parametrize("mode", MODES)
def test_cast(machine: tuple[str, NaiveMachine], mode: str) -> None:
    architecture, device = machine
    for to, source in CASTS[architecture]:
        if to == "fp8_e8m0_t" and mode not in ("none", "rint"):
            continue  # its values are exponents alone: what the other modes do to them is not documented
        kept = device.ub[8 * 1024 :].view(np.uint8)[: 128 * DTYPES[source].itemsize].view(DTYPES[source])
        kept[:] = samples(DTYPES[source], DTYPES[to])
        found = device.ub[: 128 * DTYPES[to].itemsize].view(DTYPES[to])
        device.launch(f"Cast_{to}_{source}", ctypes.c_int32(MODES[mode]))
        expected = converted(kept, DTYPES[to], mode)
        numbers, wanted = found.astype(np.float64), expected.astype(np.float64)
        wrong = (numbers != wanted) & ~(np.isnan(numbers) & np.isnan(wanted))
        assert not wrong.any(), (to, source, kept[wrong][:4], found[wrong][:4], expected[wrong][:4])
    assert device.faults == []


# ---- The others ----


def test_duplicate(machine: tuple[str, NaiveMachine]) -> None:
    architecture, device = machine
    mask = np.array([0x8000_0000_0001_0003, 0xF000_0000_0000_0000], np.uint64)
    for t in DUPLICATED[architecture]:
        dtype = DTYPES[t]
        out = device.ub[: 8 * 1024].view(dtype)
        out[:] = dtype.type(7)
        device.launch(f"Duplicate_{t}", ctypes.c_uint32(77))
        assert np.flatnonzero(out == dtype.type(3)).tolist() == list(range(77)), t
        if dtype.itemsize not in (2, 4):
            continue
        per_repeat = 256 // dtype.itemsize
        chosen = [lane for lane in range(per_repeat) if int(mask[lane // 64]) >> (lane % 64) & 1]
        for form, argument, lanes in (("mask", mask, chosen), ("lanes", 37, list(range(37)))):
            out[:] = dtype.type(7)
            device.launch(f"Duplicate_{form}_{t}", argument)
            places = lane_offsets(dtype, lanes, 2, 2, 17)
            assert np.flatnonzero(out == dtype.type(3)).tolist() == sorted(places.tolist()), (t, form)
    assert device.faults == []


def bits(device: NaiveMachine, kib: int, count: int) -> Array:
    return np.unpackbits(device.ub[kib * 1024 :][: count // 8], bitorder="little").astype(bool)


def small_numbers(device: NaiveMachine, kib: int, dtype: np.dtype, seed: int) -> Array:
    """Numbers that are often equal."""
    numbers = device.ub[kib * 1024 : (kib + 8) * 1024].view(dtype)
    numbers[:] = np.random.default_rng(seed).integers(0, 6, numbers.size).astype(dtype)
    return numbers


@pytest.mark.parametrize("mode", COMPARISONS)
def test_compare(machine: tuple[str, NaiveMachine], mode: int) -> None:
    architecture, device = machine
    for t in COMPARED[architecture]:
        if architecture == "dav-c220-vec" and t == "int32_t" and COMPARISONS[mode] is not np.equal:
            continue
        a, b = (small_numbers(device, kib, DTYPES[t], kib)[:256] for kib in (8, 16))
        device.launch(f"Compare_{t}", ctypes.c_int32(mode))
        assert (bits(device, 0, 256) == COMPARISONS[mode](a, b)).all(), t
        assert (bits(device, 1, 256) == COMPARISONS[mode](a, DTYPES[t].type(3))).all(), t
    assert device.faults == []


def test_select(machine: tuple[str, NaiveMachine]) -> None:
    architecture, device = machine
    device.ub[24 * 1024 : 25 * 1024] = np.random.default_rng(9).integers(0, 256, 1024)
    chosen = bits(device, 24, 200)
    for t in SELECTED[architecture]:
        dtype = DTYPES[t]
        a, b = (fill(device, kib, dtype, kib)[:200] for kib in (8, 16))
        device.launch(f"Select_{t}")
        tensors, scalars = (
            device.ub[kib * 1024 :].view(np.uint8)[:2048].view(dtype)[:200] for kib in (0, 32)
        )
        assert (tensors == np.where(chosen, a, b)).all(), t
        assert (scalars == np.where(chosen, a, dtype.type(3))).all(), t
    assert device.faults == []


@pytest.mark.parametrize("t", REALS)
def test_compare_and_select_by_repeats(machine: tuple[str, NaiveMachine], t: str) -> None:
    _, device = machine
    dtype = DTYPES[t]
    per_repeat, lanes = 256 // dtype.itemsize, 50
    a, b = (small_numbers(device, kib, dtype, kib + 50) for kib in (8, 16))
    device.ub[24 * 1024 : 25 * 1024] = np.random.default_rng(10).integers(0, 256, 1024)
    strides = BinaryStrides(1, 2, 1, 9, 17, 8)
    device.ub[:1024] = 0
    outs = [device.ub[kib * 1024 : (kib + 8) * 1024].view(dtype) for kib in (32, 40)]
    for out in outs:
        out[:] = dtype.type(7)
    device.launch(f"Repeats_{t}", lanes, strides)
    every = list(range(lanes))
    x = a[lane_offsets(dtype, every, 2, strides.a, strides.ar)]
    y = b[lane_offsets(dtype, every, 2, strides.b, strides.br)]
    places = lane_offsets(dtype, every, 2, strides.d, strides.dr)
    packed = np.array([repeat * per_repeat + lane for repeat in range(2) for lane in every])
    assert (bits(device, 0, 2 * per_repeat)[packed] == (x < y)).all()
    chosen = bits(device, 24, 2 * per_repeat)[packed]
    for out, other in zip(outs, (y, np.full(y.shape, dtype.type(3))), strict=True):
        expected = np.full(out.shape, dtype.type(7))
        expected[places] = np.where(chosen, x, other)
        assert (out == expected).all()
    assert device.faults == []


@pytest.mark.parametrize("t", REALS)
def test_compare_and_select_by_masks(machine: tuple[str, NaiveMachine], t: str) -> None:
    _, device = machine
    dtype = DTYPES[t]
    per_repeat = 256 // dtype.itemsize
    a, b = (small_numbers(device, kib, dtype, kib + 51) for kib in (8, 16))
    device.ub[24 * 1024 : 25 * 1024] = np.random.default_rng(12).integers(0, 256, 1024)
    device.ub[: 4 * 1024] = 0
    outs = [device.ub[kib * 1024 : (kib + 8) * 1024].view(dtype) for kib in (32, 40)]
    for out in outs:
        out[:] = dtype.type(7)
    strides = BinaryStrides(1, 2, 1, 9, 17, 8)
    mask = np.array([0x8000_00F0_0000_0013, 0x5 if per_repeat == 128 else 0], np.uint64)
    lanes = [lane for lane in range(per_repeat) if int(mask[lane // 64]) >> lane % 64 & 1]
    device.launch(f"Masks_{t}", mask, 50, strides)

    def packed(lanes: list[int]) -> np.ndarray:
        return np.array([repeat * per_repeat + lane for repeat in range(2) for lane in lanes])

    x = a[lane_offsets(dtype, lanes, 2, strides.a, strides.ar)]
    y = b[lane_offsets(dtype, lanes, 2, strides.b, strides.br)]
    leading = a[lane_offsets(dtype, list(range(50)), 2, strides.a, strides.ar)]
    for kib, places, expected in (
        (0, lanes, x < y),
        (1, lanes, x < dtype.type(3)),
        (2, list(range(50)), leading < dtype.type(3)),
        (3, lanes, x < y),  # by the register, not by the 50 lanes of the call
    ):
        found = bits(device, kib, 2 * per_repeat)
        assert (found[packed(places)] == expected).all()
        assert found.sum() == expected.sum()
    chosen = bits(device, 24, 2 * per_repeat)[packed(lanes)]
    places = lane_offsets(dtype, lanes, 2, strides.d, strides.dr)
    for out, other in zip(outs, (y, np.full(y.shape, dtype.type(3))), strict=True):
        expected = np.full(out.shape, dtype.type(7))
        expected[places] = np.where(chosen, x, other)
        assert (out == expected).all()
    assert device.faults == []


@pytest.mark.parametrize("t", REALS)
def test_reductions(machine: tuple[str, NaiveMachine], t: str) -> None:
    _, device = machine
    dtype = DTYPES[t]
    x = device.ub[8 * 1024 : 16 * 1024].view(dtype)
    # Whole numbers: their sums are exact in float in any order.
    x[:] = (np.random.default_rng(11).permutation(x.size) % 600 - 300).astype(dtype)
    mask = np.array([0x8000_0000_0000_00F1, 0], np.uint64)
    chosen = [lane for lane in range(64) if int(mask[0]) >> lane & 1]
    device.launch(f"Reduce_{t}", mask)
    out = device.ub[: 8 * 1024].view(dtype)
    index = out.view(f"u{dtype.itemsize}")
    selections = [
        np.arange(100),
        lane_offsets(dtype, list(range(40)), 3, 1, 9),
        lane_offsets(dtype, chosen, 3, 1, 9),
    ]
    for place, positions in zip((0, 16, 32), selections, strict=True):
        assert out[place] == x[positions].astype(np.float32).sum().astype(dtype)
        for base, extreme in ((48, np.argmax), (96, np.argmin)):
            best = int(extreme(x[positions]))
            assert (out[base + place], index[base + place + 1]) == (x[positions][best], positions[best])
    rows = x[selections[1]].reshape(3, 40)
    assert out[160:163].tolist() == rows.astype(np.float32).sum(1).astype(dtype).tolist()
    assert (out[176:182:2].tolist(), index[177:183:2].tolist()) == (
        rows.max(1).tolist(),
        rows.argmax(1).tolist(),
    )
    assert (index[192:204:4].tolist(), out[193:205:4].tolist()) == (
        rows.argmax(1).tolist(),
        rows.max(1).tolist(),
    )
    assert out[208:211].tolist() == rows.max(1).tolist()
    assert index[224:227].tolist() == rows.argmin(1).tolist()
    masked = x[selections[2]].reshape(3, len(chosen))
    sums = masked.astype(np.float32).sum(1).astype(dtype).tolist()
    assert (out[240:243].tolist(), out[256:259].tolist()) == (sums, masked.max(1).tolist())
    assert out[272:275].tolist() == sums  # the register's lanes, not the 40 of the call
    assert device.faults == []
