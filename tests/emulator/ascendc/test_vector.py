"""Vector instructions: every overload per type and architecture, against numpy."""

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.ascendc.vector_numbers import (
    DTYPES,
    HEAD,
    Array,
    BinaryStrides,
    UnaryStrides,
    fill,
    lane_offsets,
)
from emulator.conftest import ARCHITECTURES, KernelCompiler

BASE = ("half", "float", "int16_t", "int32_t")
BYTES = ("int8_t", "uint8_t")
WIDE = (*BASE, "uint16_t", "uint32_t", "int64_t", "uint64_t", "bfloat16_t")

ADDITION = {"dav-c220-vec": BASE, "dav-c310-vec": (*WIDE, *BYTES)}
MULTIPLICATION = {"dav-c220-vec": BASE, "dav-c310-vec": WIDE}
DIVISION = {
    "dav-c220-vec": ("half", "float"),
    "dav-c310-vec": tuple(name for name in WIDE if name != "bfloat16_t"),
}
BITS = {
    "dav-c220-vec": ("int16_t", "uint16_t"),
    "dav-c310-vec": tuple(name for name in DTYPES if "int" in name),
}
REALS = {architecture: ("half", "float") for architecture in ARCHITECTURES}


def divided(a: Array, b: Array) -> Array:
    """Quotients of integers lose their fraction, whatever the signs."""
    if a.dtype.kind == "f":
        return a / b
    return a // b + ((a % b != 0) & ((a < 0) != (b < 0)))


BINARY: dict[str, tuple[dict[str, tuple[str, ...]], Callable[[Array, Array], Array]]] = {
    "Add": (ADDITION, np.add),
    "Sub": (ADDITION, np.subtract),
    "Mul": (MULTIPLICATION, np.multiply),
    "Div": (DIVISION, divided),
    "Max": (ADDITION, np.maximum),
    "Min": (ADDITION, np.minimum),
    "And": (BITS, np.bitwise_and),
    "Or": (BITS, np.bitwise_or),
}
SCALAR = {"Adds": "Add", "Muls": "Mul", "Maxs": "Max", "Mins": "Min"}
UNARY: dict[str, tuple[dict[str, tuple[str, ...]], Callable[[Array], Array]]] = {
    "Abs": ({"dav-c220-vec": REALS["dav-c220-vec"], "dav-c310-vec": BASE}, np.abs),
    "Exp": (REALS, np.exp),
    "Ln": (REALS, np.log),
    "Sqrt": (REALS, np.sqrt),
    "Rsqrt": (REALS, lambda x: 1 / np.sqrt(x)),
    "Reciprocal": (REALS, lambda x: 1 / x),
    "Relu": (
        {architecture: ("half", "float", "int32_t") for architecture in ARCHITECTURES},
        lambda x: np.maximum(x, 0),
    ),
    "Neg": ({"dav-c220-vec": (), "dav-c310-vec": BASE}, np.negative),
    "Not": (BITS, np.invert),
}

HEADER = (
    HEAD
    + """
#define MASKS uint64_t* mask, uint64_t lanes, uint64_t repeats, BinaryRepeatParams s
#define UNARY_MASKS uint64_t* mask, uint64_t lanes, uint64_t repeats, UnaryRepeatParams s
"""
)


def has_repeats(name: str) -> bool:
    """Forms with masks and repeats are for elements of 16 and 32 bits."""
    return DTYPES[name].itemsize in (2, 4)


def source_of(architecture: str) -> str:
    lines = [HEADER]
    for name, (types, _) in BINARY.items():
        for t in types[architecture]:
            call = f"{name}(at<{t}>(0), at<{t}>(8), at<{t}>(16)"
            lines.append(f"K {name}_{t}(int32_t n) {{ {call}, n); }}")
            if has_repeats(t):
                lines.append(f"K {name}_mask_{t}(MASKS) {{ {call}, mask, repeats, s); }}")
                lines.append(f"K {name}_lanes_{t}(MASKS) {{ {call}, lanes, repeats, s); }}")
                masked = call.replace(f"{name}(", f"{name}<{t}, false>(")
                set_mask = f"SetVectorMask<{t}>(mask[1], mask[0])"
                lines.append(f"K {name}_register_{t}(MASKS) {{ {set_mask}; {masked}, 1, repeats, s); }}")
    for name, base in SCALAR.items():
        types = BINARY[base][0]
        for t in types[architecture]:
            call = f"{name}(at<{t}>(0), at<{t}>(8), 3"
            lines.append(f"K {name}_{t}(int32_t n) {{ {call}, n); }}")
            if has_repeats(t):
                lines.append(f"K {name}_mask_{t}(UNARY_MASKS) {{ {call}, mask, repeats, s); }}")
                lines.append(f"K {name}_lanes_{t}(UNARY_MASKS) {{ {call}, lanes, repeats, s); }}")
    for name, (types, _) in UNARY.items():
        for t in types[architecture]:
            call = f"{name}(at<{t}>(0), at<{t}>(8)"
            lines.append(f"K {name}_{t}(int32_t n) {{ {call}, n); }}")
            if has_repeats(t):
                lines.append(f"K {name}_mask_{t}(UNARY_MASKS) {{ {call}, mask, repeats, s); }}")
                lines.append(f"K {name}_lanes_{t}(UNARY_MASKS) {{ {call}, lanes, repeats, s); }}")
    return "\n".join(lines)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def machine(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, NaiveMachine]:
    source = tmp_path_factory.mktemp("vector") / f"{request.param}.asc"
    source.write_text(source_of(request.param))
    return request.param, NaiveMachine(compiler.build(source, "-O1", "-Wall", architecture=request.param))


def narrowed(values: Array, dtype: np.dtype, architecture: str) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        result = values.astype(dtype)
    if dtype == np.float16:  # vector arithmetic of half saturates unless CTRL says otherwise
        result = np.where(np.isnan(result), np.float16(0), np.clip(result, -65504, 65504))
    return result


def expected_of(
    function: Callable[..., Array], dtype: np.dtype, architecture: str, *operands: Array
) -> Array:
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            return function(*operands).astype(dtype)
        return narrowed(function(*(x.astype(np.float32) for x in operands)), dtype, architecture)


def check(found: Array, expected: Array, name: str) -> None:
    approximate = name in ("Exp", "Ln", "Rsqrt")
    if approximate:
        assert np.allclose(found.astype(np.float64), expected.astype(np.float64), rtol=2e-3, atol=1e-3)
    else:
        assert (found == expected).all(), name


def blocks(dtype: np.dtype, begin: int, elements: Array) -> list[int]:
    """The blocks of 32 bytes where these elements of a tensor at `begin` lie."""
    return [int(block) for block in np.unique((begin + elements * dtype.itemsize) // 32)]


def told(device: NaiveMachine, write: bool) -> set[int]:
    """The blocks of 32 bytes that the latest instruction said it reads, or writes."""
    _, ranges = device.ranges[-1]
    return {
        block
        for begin, size, writes in ranges
        if writes == write
        for block in range(begin // 32, (begin + size - 1) // 32 + 1)
    }


@pytest.mark.parametrize("name", BINARY)
def test_two_tensors(machine: tuple[str, NaiveMachine], name: str) -> None:
    architecture, device = machine
    types, function = BINARY[name]
    for t in types[architecture]:
        dtype = DTYPES[t]
        a, b = fill(device, 8, dtype, 1), fill(device, 16, dtype, 2)
        if name in ("Max", "Min") and dtype.kind not in "iu":
            a[::3] = -a[::3]
        if name == "Mul":
            a[:2], b[:2] = dtype.type(300), dtype.type(300)  # beyond half
        out = device.ub[: 8 * 1024].view(dtype)
        out[:] = dtype.type(7)
        device.launch(f"{name}_{t}", ctypes.c_int32(101))
        check(out[:101], expected_of(function, dtype, architecture, a[:101], b[:101]), f"{name}_{t}")
        assert (out[101:] == dtype.type(7)).all()
        if not has_repeats(t):
            continue
        per_repeat = 256 // dtype.itemsize
        mask = np.array([0xF0F0_1234_0000_FFFF, 0x8000_0000_0000_0001], np.uint64)
        chosen = [lane for lane in range(per_repeat) if int(mask[lane // 64]) >> (lane % 64) & 1]
        strides = BinaryStrides(1, 2, 1, 9, 17, 8)
        for form, lanes in (("mask", chosen), ("register", chosen), ("lanes", list(range(37)))):
            out[:] = dtype.type(7)
            device.launch(f"{name}_{form}_{t}", mask, 37, 3, strides)
            places = [
                lane_offsets(dtype, lanes, 3, block, repeat)
                for block, repeat in (
                    (strides.d, strides.dr),
                    (strides.a, strides.ar),
                    (strides.b, strides.br),
                )
            ]
            expected = np.full(out.shape, dtype.type(7))
            expected[places[0]] = expected_of(function, dtype, architecture, a[places[1]], b[places[2]])
            check(out, expected, f"{name}_{form}_{t}")
            beginnings = (8 * 1024, 16 * 1024)
            read = {
                block
                for at, place in zip(beginnings, places[1:], strict=True)
                for block in blocks(dtype, at, place)
            }
            assert told(device, write=False) == read
            assert told(device, write=True) == set(blocks(dtype, 0, places[0]))
    assert device.faults == []


@pytest.mark.parametrize("name", [*SCALAR, *UNARY])
def test_one_tensor(machine: tuple[str, NaiveMachine], name: str) -> None:
    architecture, device = machine
    types: dict[str, tuple[str, ...]]
    function: Callable[..., Array]
    if name in SCALAR:
        types, binary = BINARY[SCALAR[name]]
        function = lambda a: binary(a, a.dtype.type(3))  # noqa: E731
    else:
        types, function = UNARY[name]
    for t in types[architecture]:
        dtype = DTYPES[t]
        a = fill(device, 8, dtype, 3)
        if dtype.kind == "f" and name in ("Abs", "Relu", "Neg"):
            a[::3] = -a[::3]
        if name == "Exp":
            a[:] = a / 10
        out = device.ub[: 8 * 1024].view(dtype)
        out[:] = dtype.type(7)
        device.launch(f"{name}_{t}", ctypes.c_int32(77))
        check(out[:77], expected_of(function, dtype, architecture, a[:77]), name)
        assert (out[77:] == dtype.type(7)).all()
        if not has_repeats(t):
            continue
        mask = np.array([0x5555_FFFF_0000_0003, 0x1], np.uint64)
        per_repeat = 256 // dtype.itemsize
        chosen = [lane for lane in range(per_repeat) if int(mask[lane // 64]) >> (lane % 64) & 1]
        strides = UnaryStrides(2, 1, 16, 8)
        for form, lanes in (("mask", chosen), ("lanes", list(range(50)))):
            out[:] = dtype.type(7)
            device.launch(f"{name}_{form}_{t}", mask, 50, 2, strides)
            expected = np.full(out.shape, dtype.type(7))
            source = lane_offsets(dtype, lanes, 2, strides.a, strides.ar)
            expected[lane_offsets(dtype, lanes, 2, strides.d, strides.dr)] = expected_of(
                function, dtype, architecture, a[source]
            )
            check(out, expected, name)
    assert device.faults == []


REFUSED = {
    "Add<int8_t>": ("dav-c220-vec", "Add(at<int8_t>(0), at<int8_t>(8), at<int8_t>(16), 32)"),
    "Add<bfloat16_t>": ("dav-c220-vec", "Add(at<bfloat16_t>(0), at<bfloat16_t>(8), at<bfloat16_t>(16), 32)"),
    "Add<int64_t>": ("dav-c220-vec", "Add(at<int64_t>(0), at<int64_t>(8), at<int64_t>(16), 32)"),
    "Div<int32_t>": ("dav-c220-vec", "Div(at<int32_t>(0), at<int32_t>(8), at<int32_t>(16), 32)"),
    "Mul<int8_t>": ("dav-c310-vec", "Mul(at<int8_t>(0), at<int8_t>(8), at<int8_t>(16), 32)"),
    "Exp<int32_t>": ("dav-c310-vec", "Exp(at<int32_t>(0), at<int32_t>(8), 32)"),
    "Duplicate<int64_t>": ("dav-c220-vec", "Duplicate(at<int64_t>(0), int64_t(1), 32)"),
    "Cast half to bfloat16_t": (
        "dav-c220-vec",
        "Cast(at<bfloat16_t>(0), at<half>(8), RoundMode::CAST_RINT, 32)",
    ),
    "ReduceSum<int32_t>": ("dav-c220-vec", "ReduceSum(at<int32_t>(0), at<int32_t>(8), at<int32_t>(16), 32)"),
    "Select<int32_t>": (
        "dav-c220-vec",
        "Select(at<int32_t>(0), at<uint8_t>(8), at<int32_t>(16), 0, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64)",
    ),
    "repeats of 64 bits": (
        "dav-c310-vec",
        "Add(at<int64_t>(0), at<int64_t>(8), at<int64_t>(16), 32, 1, BinaryRepeatParams())",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_an_architecture_lacks_does_not_compile(
    compiler: KernelCompiler, tmp_path: Path, case: str
) -> None:
    architecture, statement = REFUSED[case]
    source = tmp_path / "refused.asc"
    source.write_text(f"{HEAD}K k() {{\n{statement};\n}}\n")
    result = compiler.compile(source, tmp_path / "k.o", architecture=architecture)
    assert result.returncode != 0
    assert re.search(r"static.assert\w* failed", result.stderr)  # in the words of g++ or clang++
    assert f"{source}:" in result.stderr


MORE = """
K duplicate(int32_t n, uint64_t* mask, uint64_t repeats) {
    Duplicate<int32_t>(at<int32_t>(0), uint64_t(5), n);
    Duplicate(at<half>(8), half(2.5f), mask, repeats, 2, 17);
    Duplicate(at<float>(16), -1.5f, 10, repeats, 1, 8);
}
K cast(uint64_t* mask) {
    Cast(at<float>(0), at<half>(8), RoundMode::CAST_NONE, 100);
    Cast(at<half>(16), at<float>(0), RoundMode::CAST_FLOOR, 64, 2, UnaryRepeatParams(1, 1, 4, 8));
    Cast(at<int32_t>(24), at<float>(0), RoundMode::CAST_ROUND, mask, 2, UnaryRepeatParams(1, 1, 8, 8));
}
K reduce(uint64_t* mask) {
    LocalTensor<float> x = at<float>(8), work = at<float>(24), out = at<float>(0);
    ReduceSum(out, x, work, 1000);
    ReduceSum(out[8], x, work, 40, 3, 8);
    ReduceSum(out[16], x, work, mask, 3, 8);
    ReduceMax(out[24], x, work, 1000, true);
    ReduceMax(out[32], x, work, 1000);
    ReduceMin(out[40], x, work, 64, 3, 8, true);
    WholeReduceSum(out[64], x, 64, 4, 1, 1, 8);
    WholeReduceMax(out[72], x, 64, 4, 1, 1, 8);
    WholeReduceMin(out[80], x, 64, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    ReduceSum(at<half>(4), at<half>(16), at<half>(24), 100);
}
K compare() {
    Compare(at<uint8_t>(0), at<float>(8), at<float>(16), CMPMODE::LT, 128);
    Compare(at<uint8_t>(1), at<float>(8), at<float>(16), CMPMODE::GE, 64, 2, BinaryRepeatParams());
    CompareScalar(at<uint8_t>(2), at<half>(24), half(50), CMPMODE::GT, 128);
    Select(at<float>(32), at<uint8_t>(0), at<float>(8), at<float>(16), SELMODE::VSEL_TENSOR_TENSOR_MODE, 128);
    Select(at<half>(40), at<uint8_t>(2), at<half>(24), half(50), SELMODE::VSEL_TENSOR_SCALAR_MODE, 128);
    Select(at<float>(48), at<uint8_t>(0), at<float>(8), at<float>(16), SELMODE::VSEL_CMPMASK_SPR, 64, 2,
           BinaryRepeatParams());
}
K operators() {
    LocalTensor<float> a = at<float>(8), b = at<float>(16);
    at<float>(0) = a + b;
    at<float>(1) = a - b;
    at<float>(2) = a * b;
    at<float>(3) = a / b;
    at<int16_t>(4) = at<int16_t>(24) & at<int16_t>(32);
    at<int16_t>(5) = at<int16_t>(24) | at<int16_t>(32);
}
K modes() {
    LocalTensor<half> big = at<half>(8), out = at<half>(0);
    Add(out, big, big, 16);
    SetCtrlSpr<48, 48>(1);
    Add(out[16], big, big, 16);
    out[32] = big - big;
    SetMaskCount();
    SetVectorMask<half, MaskMode::COUNTER>(5);
    Add<half, false>(at<half>(4), big, big, 1, 1, BinaryRepeatParams());
    SetMaskNorm();
    ResetMask();
}
"""


@pytest.fixture(scope="module", params=ARCHITECTURES)
def others(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> NaiveMachine:
    source = tmp_path_factory.mktemp("others") / "others.asc"
    source.write_text(HEAD + MORE)
    return NaiveMachine(compiler.build(source, "-Wall", "-Werror", architecture=request.param))


def view(machine: NaiveMachine, kib: int, dtype: npt.DTypeLike) -> Array:
    return machine.ub[kib * 1024 : (kib + 4) * 1024].view(dtype)


def test_duplicate(others: NaiveMachine) -> None:
    others.ub[:] = 0
    mask = np.array([0x8001, 1 << 63], np.uint64)
    others.launch("duplicate", ctypes.c_int32(9), mask, 2)
    assert view(others, 0, np.int32)[:10].tolist() == [5] * 9 + [0]
    halves = np.flatnonzero(view(others, 8, np.float16) == 2.5)
    assert halves.tolist() == lane_offsets(np.dtype(np.float16), [0, 15, 127], 2, 2, 17).tolist()
    assert np.flatnonzero(view(others, 16, np.float32) == -1.5).tolist() == [*range(10), *range(64, 74)]


def test_cast(others: NaiveMachine) -> None:
    source = view(others, 8, np.float16)
    source[:100] = np.linspace(-3, 3, 100)
    others.ub[0:4096] = 0
    mask = np.array([0b1011, 0], np.uint64)
    others.launch("cast", mask)
    floats = view(others, 0, np.float32)
    assert (floats[:100] == source[:100].astype(np.float32)).all()
    assert (view(others, 16, np.float16)[:100] == source[:100]).all()
    whole = view(others, 24, np.int32)
    expected = np.copysign(np.floor(np.abs(floats) + 0.5), floats)
    assert [int(whole[i]) for i in (0, 1, 3, 64, 65, 67)] == [int(expected[i]) for i in (0, 1, 3, 64, 65, 67)]


def test_reductions(others: NaiveMachine) -> None:
    x = view(others, 8, np.float32)
    x[:] = np.random.default_rng(5).permutation(1024) - 500  # whole numbers: any order of summation is exact
    view(others, 16, np.float16)[:100] = np.arange(100) % 7
    mask = np.array([0xFF, 0], np.uint64)
    others.launch("reduce", mask)
    out = view(others, 0, np.float32)
    indices = out.view(np.uint32)
    rows = x.reshape(16, 64)
    assert out[0] == x[:1000].sum()
    assert out[8] == rows[:3, :40].sum()
    assert out[16] == rows[:3, :8].sum()
    assert (out[24], indices[25]) == (x[:1000].max(), x[:1000].argmax())
    assert out[32] == x[:1000].max()
    assert (out[40], indices[41]) == (x[:192].min(), x[:192].argmin())
    assert out[64:68].tolist() == rows[:4].sum(1).tolist()
    assert out[72:80:2].tolist() == rows[:4].max(1).tolist()
    assert indices[73:81:2].tolist() == rows[:4].argmax(1).tolist()
    assert out[80:84].tolist() == rows[:4].min(1).tolist()
    assert view(others, 4, np.float16)[0] == (np.arange(100) % 7).sum()


def test_compare_and_select(others: NaiveMachine) -> None:
    random = np.random.default_rng(6)
    a, b = view(others, 8, np.float32), view(others, 16, np.float32)
    a[:], b[:] = random.integers(0, 5, 1024), random.integers(0, 5, 1024)
    h = view(others, 24, np.float16)
    h[:] = random.integers(0, 100, 2048)
    others.launch("compare")

    def bits(kib: int, count: int) -> Array:
        return np.unpackbits(others.ub[kib * 1024 :][: count // 8], bitorder="little").astype(bool)

    assert (bits(0, 128) == (a < b)[:128]).all()
    assert (bits(1, 128) == (a >= b)[:128]).all()
    assert (bits(2, 128) == (h > 50)[:128]).all()
    assert (view(others, 32, np.float32)[:128] == np.minimum(a, b)[:128]).all()
    assert (view(others, 40, np.float16)[:128] == np.maximum(h, 50)[:128]).all()
    first = np.tile((a < b)[:64], 2)
    assert (view(others, 48, np.float32)[:128] == np.where(first, a[:128], b[:128])).all()


def test_operators(others: NaiveMachine) -> None:
    random = np.random.default_rng(8)
    a, b = view(others, 8, np.float32), view(others, 16, np.float32)
    a[:], b[:] = random.uniform(1, 9, 1024), random.uniform(1, 9, 1024)
    c, d = view(others, 24, np.int16), view(others, 32, np.int16)
    c[:], d[:] = random.integers(-999, 999, 2048), random.integers(-999, 999, 2048)
    others.launch("operators")
    for kib, expected in enumerate((a + b, a - b, a * b, a / b)):
        assert (view(others, kib, np.float32)[:256] == expected[:256]).all()
    for kib, whole in ((4, c & d), (5, c | d)):
        assert (view(others, kib, np.int16)[:256] == whole[:256]).all()


def test_control_and_counter_mode(others: NaiveMachine) -> None:
    others.ub[:] = 0
    big = view(others, 8, np.float16)
    big[:] = 60000
    big[1], big[2] = np.nan, -60000
    others.launch("modes")
    out = view(others, 0, np.float16)
    assert out[:3].tolist() == [65504, 0, -65504]
    assert out[16] == np.inf
    assert np.isnan(out[17])
    assert out[18] == -np.inf
    assert out[32] == 0
    assert np.flatnonzero(view(others, 4, np.float16)).tolist() == [0, 1, 2, 3, 4]
