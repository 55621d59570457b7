"""Arguments: every kind at its width, and errors that name kernel and parameter before anything is launched."""

import ctypes
import struct
import subprocess
from pathlib import Path

import aivops
import ml_dtypes
import numpy as np
import pytest

POINT = np.dtype([("x", "<i4"), ("y", "<f8"), ("tail", "u1", 5)], align=True)
NAMES = [
    "to",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "f32",
    "f64",
    "f16",
    "bf16",
    "flag",
    "point",
    "other",
]
KINDS = ["pointer", "int", "uint", "int", "uint", "int", "uint", "int", "uint"]
KINDS += ["float", "float", "half", "bfloat16", "bool", "struct", "pointer"]
SIZES = [8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 2, 1, 24, 8]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_double), ("tail", ctypes.c_uint8 * 5)]


@pytest.fixture
def echo(binary: aivops.Binary) -> aivops.Kernel:
    return binary.get_kernel("echo")


@pytest.fixture
def target(device: aivops.Device) -> aivops.Buffer:
    return aivops.Buffer(device, 128)


def point(x: int, y: float, tail: bytes) -> np.void:
    return np.array((x, y, np.frombuffer(tail, np.uint8)), POINT)[()]


GOOD = {
    "i8": -128, "u8": 255, "i16": -32768, "u16": 65535, "i32": -(2**31), "u32": 2**32 - 1, "i64": -(2**63),
    "u64": 2**64 - 1, "f32": 1.25, "f64": -1e300, "f16": 65504.0, "bf16": 3.0e38, "flag": True,
    "point": point(-3, 0.5, b"abcde"), "other": 0x123456789ABCDEF0,
}  # fmt: skip


def launch(kernel: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer, **changes: object) -> bytes:
    values = {**GOOD, **changes}
    target.fill(0)
    kernel.launch(stream, target, *(values[name] for name in NAMES[1:]))
    stream.synchronize()
    return target.to_numpy().tobytes()


def expected(**changes: object) -> bytes:
    """What the kernel writes, put together by numpy and struct."""
    values = {**GOOD, **changes}
    packed = struct.pack("<bBhHiIqQfd", *(values[name] for name in NAMES[1:11]))
    packed += np.float16(values["f16"]).tobytes() + ml_dtypes.bfloat16(values["bf16"]).tobytes()
    packed += bytes([bool(values["flag"])])
    record = values["point"]
    packed += struct.pack("<id", record["x"], record["y"]) + record["tail"].tobytes()
    return packed + struct.pack("<Q", values["other"] or 0)


def test_the_layout_is_that_of_the_source(echo: aivops.Kernel) -> None:
    parameters = echo.parameters
    assert parameters is not None
    assert [parameter.name for parameter in parameters] == NAMES
    assert [parameter.kind for parameter in parameters] == KINDS
    assert [parameter.size for parameter in parameters] == SIZES
    native = "@PbBhHiIqQfdeeB"  # natural alignment; half and bfloat16 align alike
    offsets = [struct.calcsize(native[: i + 1]) - struct.calcsize("@" + native[i]) for i in range(1, 15)]
    assert [parameter.offset for parameter in parameters][:14] == offsets
    assert echo.args_size == parameters[-1].offset + 8


def test_extremes_of_every_kind_arrive(
    echo: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    wanted = expected()
    assert launch(echo, stream, target)[: len(wanted)] == wanted


def test_numpy_scalars_and_none(echo: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer) -> None:
    changes = {
        "i8": np.int64(-5), "u16": np.uint8(7), "i64": np.int32(-9), "u64": np.uint64(2**63), "f32": np.float64(0.5),
        "f64": np.float32(0.1), "f16": ml_dtypes.bfloat16(2), "bf16": 7, "flag": np.bool_(False), "other": None,
    }  # fmt: skip
    wanted = expected(**changes)
    assert launch(echo, stream, target, **changes)[: len(wanted)] == wanted


def test_structs_of_ctypes_and_bytes(
    echo: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    record = point(4, -2.5, b"vwxyz")
    wanted = expected(point=record)
    native = Point(4, -2.5, (ctypes.c_uint8 * 5)(*b"vwxyz"))
    assert launch(echo, stream, target, point=native)[: len(wanted)] == wanted
    assert launch(echo, stream, target, point=record.tobytes())[: len(wanted)] == wanted


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_narrow_floats_round_as_numpy_does(
    echo: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer, name: str
) -> None:
    kind = np.float16 if name == "f16" else ml_dtypes.bfloat16
    offset = expected().index(np.float16(GOOD["f16"]).tobytes()) + (0 if name == "f16" else 2)
    values = [0.0, -0.0, 1.0, 1 / 3, 65519.0, 1e-7, 5.96e-8, 2.98e-8, 2.99e-8, 6.1e-5, 1.0009765625 + 2**-11,
              1.00390625, 1.01171875, -3.14159, 9.3e-41, float("inf"), float("-inf"), float("nan")]  # fmt: skip
    for value in (float(np.float32(value)) for value in values):
        found = np.frombuffer(launch(echo, stream, target, **{name: value}), kind, 1, offset)[0]
        reference = kind(value)
        assert found.tobytes() == reference.tobytes() or (np.isnan(found) and np.isnan(reference)), value


REFUSED = [
    ("i8", 128, ValueError, 'parameter 1 "i8" (int, 1 byte) cannot hold 128'),
    ("i8", -129, ValueError, "cannot hold -129"),
    ("u8", -1, ValueError, "cannot hold -1"),
    ("u32", 2**32, ValueError, "cannot hold 4294967296"),
    ("i64", 2**63, ValueError, "cannot hold 9223372036854775808"),
    ("u64", 2**64, ValueError, "cannot hold the integer 18446744073709551616"),
    ("i64", -(2**63) - 1, ValueError, "cannot hold the integer -9223372036854775809"),
    ("f32", 1e39, ValueError, 'parameter 9 "f32" (float, 4 bytes) cannot hold 1e+39'),
    ("f16", 65520.0, ValueError, "cannot hold 65520"),
    ("bf16", 3.4e38, ValueError, "cannot hold 3.4e+38"),
    ("point", b"short", ValueError, "cannot hold a struct of 5 bytes"),
    ("other", -1, ValueError, "cannot hold the address -1"),
    ("i32", 1.0, TypeError, 'parameter 5 "i32" (int, 4 bytes) cannot take a float'),
    ("i32", True, TypeError, "cannot take a bool"),
    ("i32", "1", TypeError, "cannot take a str"),
    ("i32", None, TypeError, "cannot take a NoneType"),
    ("f32", "1.0", TypeError, "cannot take a str"),
    ("f32", 1j, TypeError, "cannot take a complex"),
    ("f64", True, TypeError, "cannot take a bool"),
    ("flag", 1, TypeError, "cannot take a int"),
    ("point", 5, TypeError, "cannot take a int; give bytes, a ctypes structure or a numpy record"),
    ("other", np.zeros(3), TypeError, "cannot take a numpy.ndarray; give an aivops.Buffer"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}={case[1]}")
def test_what_does_not_fit_is_refused(
    echo: aivops.Kernel,
    stream: aivops.Stream,
    target: aivops.Buffer,
    case: tuple[str, object, type[Exception], str],
) -> None:
    name, value, builtin, text = case
    with pytest.raises(aivops.Error) as caught:
        launch(echo, stream, target, **{name: value})
    assert isinstance(caught.value, builtin)
    assert str(caught.value).startswith("Kernel echo: ")
    assert text in str(caught.value)
    stream.synchronize()
    assert not target.to_numpy().any(), "something was launched"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_and_too_many(
    binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer, count: int
) -> None:
    with pytest.raises(aivops.InvalidTypeError, match=f"Kernel store: takes 2 arguments, found {count}"):
        binary.get_kernel("store").launch(stream, *([target] * count))


def test_a_kernel_without_parameters(binary: aivops.Binary, stream: aivops.Stream) -> None:
    kernel = binary.get_kernel("nothing")
    assert kernel.parameters == []
    kernel.launch(stream)
    stream.synchronize()


@pytest.fixture(scope="module")
def undescribed(kernels_path: Path, tmp_path_factory: pytest.TempPathFactory) -> aivops.Kernel:
    """A kernel of a binary that does not describe its parameters."""
    stripped = tmp_path_factory.mktemp("undescribed") / "kernels.o"
    subprocess.run(
        ["objcopy", "--remove-section", ".aivops.layout.store", kernels_path, stripped], check=True
    )
    return aivops.Binary(stripped).get_kernel("store")


def test_without_a_layout_the_block_comes_whole(
    undescribed: aivops.Kernel, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    class Block(ctypes.Structure):
        _fields_ = [("to", ctypes.c_uint64), ("value", ctypes.c_int32)]

    assert undescribed.parameters is None
    assert undescribed.args_size is None
    undescribed.launch(stream, Block(target.pointer, 77))
    stream.synchronize()
    assert target.to_numpy()[:4].view(np.int32)[0] == 77
    prepared = undescribed.prepare(stream, struct.pack("<Qi4x", target.pointer, 78))
    prepared()
    prepared(struct.pack("<Qi4x", target.pointer + 4, 79))
    stream.synchronize()
    assert target.to_numpy()[:8].view(np.int32).tolist() == [78, 79]
    with pytest.raises(aivops.InvalidValueError, match="an argument block of 2 bytes, prepared with 16"):
        prepared(b"no")


@pytest.mark.parametrize("arguments", [(), (1, 2), (5,)])
def test_without_a_layout_nothing_else_will_do(
    undescribed: aivops.Kernel, stream: aivops.Stream, arguments: tuple[int, ...]
) -> None:
    with pytest.raises(aivops.InvalidTypeError, match="takes exactly one struct or bytes object"):
        undescribed.launch(stream, *arguments)
