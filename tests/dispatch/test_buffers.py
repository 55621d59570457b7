"""Device memory as arrays: copies, slices, types, DLPack."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable

import aivops
import ml_dtypes
import numpy as np
import pytest

TYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
]
TYPES += ["float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"]


def numpy_type(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3, 5)])
def test_values_come_back_bit_for_bit(device: aivops.Device, name: str, shape: tuple[int, ...]) -> None:
    kind = numpy_type(name)
    count = int(np.prod(shape))
    raw = np.random.default_rng(1).integers(0, 2 if name == "bool" else 256, count * kind.itemsize, np.uint8)
    array = raw.view(kind).reshape(shape)
    buffer = aivops.Buffer.from_host(device, array)
    assert (buffer.shape, buffer.dtype, buffer.nbytes) == (shape, name, array.nbytes)
    back = buffer.to_numpy()
    assert (back.shape, back.dtype) == (shape, kind)
    assert back.tobytes() == array.tobytes()


def test_a_strided_array_arrives_in_order(device: aivops.Device) -> None:
    array = np.arange(24).reshape(4, 6)[::2, ::-1]
    assert (aivops.Buffer.from_host(device, array).to_numpy() == array).all()


def test_slices_share_memory(device: aivops.Device) -> None:
    buffer = aivops.Buffer.from_host(device, np.arange(12, dtype=np.int32).reshape(4, 3))
    assert buffer[1].to_numpy().tolist() == [3, 4, 5]
    assert buffer[-1].to_numpy().tolist() == [9, 10, 11]
    assert buffer[1:3].to_numpy().tolist() == [[3, 4, 5], [6, 7, 8]]
    assert buffer[4:].shape == (0, 3)
    buffer[2].copy_from(np.array([-1, -2, -3], np.int32))
    assert buffer.reshape(12).to_numpy()[5:10].tolist() == [5, -1, -2, -3, 9]
    part = buffer[3]
    del buffer
    gc.collect()
    assert part.to_numpy().tolist() == [9, 10, 11]
    assert len(part) == 3


def test_what_is_no_slice(device: aivops.Device) -> None:
    buffer = aivops.Buffer(device, (4, 3))
    with pytest.raises(IndexError, match="index 4 is outside its 4 rows"):
        buffer[4]
    with pytest.raises(aivops.InvalidValueError, match="a slice with step 2 is not contiguous"):
        buffer[::2]
    with pytest.raises(aivops.InvalidValueError, match=r"shape \(4, 3\) cannot become \(5,\)"):
        buffer.reshape(5)
    with pytest.raises(aivops.InvalidTypeError, match="without axes has no length"):
        len(aivops.Buffer(device, ()))


@pytest.mark.parametrize(
    "source", [np.zeros(3, np.int32), np.zeros((2, 2), np.int32), np.zeros(4, np.float32)]
)
def test_a_copy_takes_equal_shapes_and_types(device: aivops.Device, source: np.ndarray) -> None:
    buffer = aivops.Buffer(device, 4, "int32")
    with pytest.raises(aivops.InvalidValueError, match=r"expected \(4,\) of int32, found"):
        buffer.copy_from(source)
    with pytest.raises(aivops.InvalidValueError, match=r"expected \(4,\) of int32, found"):
        buffer.copy_from(aivops.Buffer.from_host(device, source))


def test_numpy_is_told_how_to_get_the_data(device: aivops.Device) -> None:
    """Left alone it makes arrays of objects, which are equal to nothing."""
    x = np.arange(4, dtype=np.float32)
    buffer = aivops.Buffer.from_host(device, x)
    uses: list[Callable[[], object]] = [
        lambda: np.asarray(buffer),
        lambda: np.array([buffer, buffer]),
        lambda: buffer == x,
        lambda: x != buffer,
        lambda: x + buffer,
        lambda: buffer * x,
        lambda: np.testing.assert_array_equal(buffer, x),
        lambda: aivops.Buffer.from_host(device, [buffer]),
    ]
    for use in uses:
        with pytest.raises(aivops.InvalidTypeError, match=r"buffer.to_numpy\(\) makes a copy in host memory"):
            use()
    assert buffer == buffer  # noqa: PLR0124
    assert buffer != aivops.Buffer.from_host(device, x)
    assert {buffer: 1}[buffer] == 1


def test_shape_and_type_stay(device: aivops.Device) -> None:
    buffer = aivops.Buffer(device, (2, 6), "int32")
    with pytest.raises(AttributeError, match=r"Buffer: shape cannot be set; reshape\(\)"):
        buffer.shape = (3, 4)
    with pytest.raises(AttributeError, match="Buffer: dtype cannot be set"):
        buffer.dtype = "float32"
    assert (buffer.shape, buffer.dtype) == ((2, 6), "int32")
    assert buffer.reshape(3, 4).shape == buffer.reshape((3, 4)).shape == (3, 4)
    assert buffer.reshape(12).shape == buffer.reshape([12]).shape == (12,)


@pytest.mark.parametrize("use", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_made_by_name(device: aivops.Device, use: Callable[[object], object]) -> None:
    with pytest.raises(
        aivops.InvalidTypeError, match="Buffer: it can be neither copied nor pickled; pass to_nu"
    ):
        use(aivops.Buffer(device, 4))


def test_masks_are_not_dropped(device: aivops.Device) -> None:
    masked = np.ma.masked_less(np.arange(4.0), 2)
    buffer = aivops.Buffer(device, 4, "float64")
    for use in (
        lambda: aivops.Buffer.from_host(device, masked),
        lambda: buffer.copy_from(masked),
        lambda: buffer.to_numpy(masked),
    ):
        with pytest.raises(aivops.InvalidTypeError, match=r"is a masked array.*pass x.filled\(value\)"):
            use()


def test_copies_between_buffers(device: aivops.Device, stream: aivops.Stream) -> None:
    source = aivops.Buffer.from_host(device, np.arange(5))
    now, later = aivops.Buffer(device, 5, "int64"), aivops.Buffer(device, 5, "int64")
    now.copy_from(source)
    later.copy_from(source, stream=stream)
    stream.synchronize()
    assert now.to_numpy().tolist() == later.to_numpy().tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(aivops.InvalidTypeError, match="only a copy between buffers can be queued"):
        now.copy_from(np.arange(5), stream=stream)


def test_to_numpy_into_an_array(device: aivops.Device) -> None:
    buffer = aivops.Buffer.from_host(device, np.arange(4, dtype=np.float32))
    out = np.empty(4, np.float32)
    assert buffer.to_numpy(out) is out
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(aivops.InvalidValueError, match="out must be contiguous and writable"):
        buffer.to_numpy(np.empty(8, np.float32)[::2])


def test_types_that_are_none(device: aivops.Device) -> None:
    with pytest.raises(aivops.InvalidTypeError, match="'complex64' is not an element type of Buffer"):
        aivops.Buffer(device, 4, np.complex64)
    with pytest.raises(aivops.InvalidValueError, match="negative extent"):
        aivops.Buffer(device, (-1, 2))


def test_too_much_memory_is_an_acl_error(device: aivops.Device) -> None:
    with pytest.raises(aivops.AclError) as caught:
        aivops.Buffer(device, 1 << 50)
    assert (caught.value.code, caught.value.name) == (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION")
    assert str(caught.value).startswith(
        f"Buffer of {1 << 50} bytes on device 0: aclrtMalloc failed with 207001"
    )


def test_an_acl_error_says_call_and_code_once(device: aivops.Device) -> None:
    """The runtime's message has them too, and is kept as it is."""
    with pytest.raises(aivops.AclError) as caught:
        aivops.Stream(device).vector_cores = 100_000
    text, message = str(caught.value), caught.value.runtime_message
    assert message.startswith("aclrtSetStreamResLimit: 100000 cores")
    assert message.endswith("[107000 ACL_ERROR_RT_PARAM_INVALID]")
    assert text.startswith(
        "Stream on device 0: aclrtSetStreamResLimit failed with 107000 (ACL_ERROR_RT_PARAM"
    )
    assert text.endswith("INVALID): 100000 cores are more than the 48 that the device has")


def test_memory_goes_with_the_last_slice(device: aivops.Device) -> None:
    gc.collect()
    before = device.memory[0]
    buffer = aivops.Buffer(device, 1 << 22)
    part = buffer[5:6]
    held = device.memory[0]
    assert before - held >= 1 << 22
    del buffer
    gc.collect()
    assert device.memory[0] == held
    del part
    gc.collect()
    assert device.memory[0] == before


class Owner:
    """Someone else's memory."""


def test_borrowed_memory_keeps_its_owner(device: aivops.Device) -> None:
    source = aivops.Buffer.from_host(device, np.arange(6, dtype=np.int16))
    owner = Owner()
    alive = [True]
    weakref.finalize(owner, alive.clear)
    borrowed = aivops.Buffer.borrow(device, source.pointer, (2, 3), "int16", owner)
    del owner
    gc.collect()
    assert borrowed.to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert alive
    del borrowed
    gc.collect()
    assert not alive


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("name", ["int32", "bfloat16", "bool"])
def test_dlpack_goes_around(device: aivops.Device, name: str, version: tuple[int, int] | None) -> None:
    """Out as a capsule and in again: the same memory, which outlives the first buffer."""
    kind = numpy_type(name)
    source = aivops.Buffer.from_host(device, np.arange(2).astype(kind).repeat(3).reshape(2, 3))
    pointer = source.pointer

    class Foreign:
        """What another library would hand over."""

        def __init__(self, buffer: aivops.Buffer) -> None:
            self.buffer = buffer

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.buffer.__dlpack_device__()

        def __dlpack__(self, **arguments: object) -> object:
            return self.buffer.__dlpack__(max_version=version)

    assert source.__dlpack_device__() == (12, 0)
    taken = aivops.Buffer.from_dlpack(device, Foreign(source))
    assert (taken.shape, taken.dtype, taken.pointer) == ((2, 3), name, pointer)
    gc.collect()  # what other tests have left
    before = device.memory[0]
    del source
    gc.collect()
    assert device.memory[0] == before
    assert taken.to_numpy().tobytes() == np.arange(2).astype(kind).repeat(3).tobytes()


def test_dlpack_capsules_that_nobody_takes(device: aivops.Device) -> None:
    gc.collect()
    before = device.memory[0]
    for version in (None, (1, 0)):
        aivops.Buffer(device, 1 << 20).__dlpack__(max_version=version)
    gc.collect()
    assert device.memory[0] == before


def test_dlpack_to_the_host_is_a_copy(device: aivops.Device) -> None:
    buffer = aivops.Buffer.from_host(device, np.arange(3))
    host = np.from_dlpack(buffer, device="cpu", copy=True)
    assert host.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="only as a copy"):
        np.from_dlpack(buffer, device="cpu", copy=False)
    with pytest.raises(BufferError, match="not \\(2, 0\\)"):
        buffer.__dlpack__(dl_device=(2, 0))


def test_dlpack_from_elsewhere_is_refused(device: aivops.Device) -> None:
    with pytest.raises(aivops.InvalidValueError, match=r"on DLPack device \(1, 0\), expected \(12, 0\)"):
        aivops.Buffer.from_dlpack(device, np.arange(3))
    there = aivops.Buffer(aivops.Device(1), 3)
    with pytest.raises(aivops.InvalidValueError, match=r"on DLPack device \(12, 1\), expected \(12, 0\)"):
        aivops.Buffer.from_dlpack(device, there)
