"""Arguments of a wrong kind or size: which one, what it is, what was expected; never a list of native signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import aivops
import numpy as np
import pytest
from aivops import _core

HUGE = 10**400


class Objects(NamedTuple):
    """What the calls below are made on."""

    device: aivops.Device
    stream: aivops.Stream
    event: aivops.Event
    buffer: aivops.Buffer
    kernel: aivops.Kernel
    kernels: Any


@pytest.fixture(scope="module")
def objects(device: aivops.Device) -> Objects:
    kernels = aivops.load_kernels("aivops")
    buffer = aivops.Buffer(device, 4, "float32")
    return Objects(
        device, aivops.Stream(device), aivops.Event(device), buffer, kernels.get_kernel("aiv_probe"), kernels
    )


KINDS: list[tuple[Callable[[Any], object], str]] = [
    (lambda o: aivops.Device("x"), "Device(): id is 'x', expected int"),
    (lambda o: aivops.Device(0, 1), "Device(): too many positional arguments; it takes id, toolkit="),
    (lambda o: aivops.Device(number=1), "Device(): got an unexpected keyword argument 'number'; it takes id"),
    (lambda o: o.device.synchronize("x"), "Device.synchronize(): timeout is 'x', expected float or None"),
    (lambda o: setattr(o.device, "vector_core_limit", None), "Device: vector_core_limit is None, expected a"),
    (lambda o: aivops.Stream(), "Stream(): missing a required argument: 'device'; it takes device"),
    (lambda o: aivops.Stream(0), "Stream(): device is 0, expected Device"),
    (lambda o: o.stream.record(o.stream), "Stream.record(): event is a Stream, expected Event"),
    (lambda o: o.stream.query(1), "Stream.query(): too many positional arguments; it takes nothing"),
    (lambda o: aivops.Stream.borrow(o.device, "x"), "Stream.borrow(): handle is 'x', expected int"),
    (
        lambda o: setattr(o.stream, "vector_cores", "x"),
        "Stream: vector_cores is 'x', expected a whole number",
    ),
    (lambda o: o.event.elapsed_since(None), "Event.elapsed_since(): start is None, expected Event"),
    (lambda o: aivops.LaunchConfig(3), "LaunchConfig(): too many positional arguments; it takes blocks="),
    (lambda o: aivops.LaunchConfig(schedule=3), "LaunchConfig(): schedule is 3, expected str"),
    (lambda o: o.kernel.launch(), "Kernel.launch(): missing a required argument: 'stream'"),
    (lambda o: o.kernel.launch(o.device), "Kernel.launch(): stream is a Device, expected Stream"),
    (lambda o: o.kernel.prepare(o.stream, config=3), "Kernel.prepare(): config is 3, expected LaunchConfig"),
    (lambda o: o.kernels.get_kernel(3), "KernelSet.get_kernel(): name is 3, expected str"),
    (lambda o: aivops.load_kernels(3), "load_kernels(): package is 3, expected the name of a package"),
    (lambda o: aivops.Binary(3), "Binary: source is 3, expected a path or the bytes"),
    (lambda o: aivops.Binary(b"", sha256=3), "Binary: sha256 is 3, expected 64 hexadecimal digits"),
    (
        lambda o: aivops.Kernel(),
        "Kernel(): this does not make one. A kernel of a binary, from `Binary.get_ker",
    ),
    (lambda o: aivops.Kernel("x", y=3), "or `load_kernels(package).get_kernel()`."),
    (
        lambda o: aivops.Toolkit(),
        "Toolkit(): this does not make one. A toolkit in use by this process: `Tool",
    ),
    (lambda o: aivops.Plan(), "Plan(): this does not make one. How a call runs: `Communicator.plan()` and"),
    (lambda o: aivops.PreparedLaunch(), "A launch made ready once by `Kernel.prepare()` and queued many"),
    (lambda o: aivops.Parameter(), "One parameter of a kernel, as `Kernel.parameters` lists them."),
    (lambda o: aivops.Toolkit.open(3), "Toolkit.open(): root is 3, expected str or PathLike"),
    (lambda o: aivops.Buffer(0, 4), "Buffer: device is 0, expected a Device"),
    (lambda o: aivops.Buffer(o.device, "x"), "Buffer: shape is 'x', expected a whole number or several"),
    (lambda o: aivops.Buffer(o.device, (1.5, 2)), "Buffer: shape is (1.5, 2), expected a whole number or"),
    (
        lambda o: aivops.Buffer.from_host(o.device, None),
        "Buffer.from_host(): array is None, expected an array",
    ),
    (
        lambda o: aivops.Buffer.from_host(o.device, {}),
        "Buffer.from_host(): array is a dict, expected an array",
    ),
    (lambda o: aivops.Buffer.from_dlpack(o.device, 3), "Buffer.from_dlpack(): a int is no array that speaks"),
    (lambda o: o.buffer["x"], "Buffer: index is 'x', expected a whole number or a slice"),
    (lambda o: o.buffer.fill("x"), "Buffer.fill(): byte is 'x', expected a whole number"),
    (lambda o: o.buffer.to_numpy("x"), "Buffer.to_numpy(): out is 'x', expected a numpy array or None"),
    (lambda o: o.buffer.copy_from(o.buffer, stream=3), "Buffer.copy_from(): stream is 3, expected a Stream"),
    (lambda o: aivops.verify(3), "verify(): path is 3, expected a path or several"),
    (lambda o: aivops.verify("x", kernels="y"), "verify(): kernels is 'y', expected a list of names"),
]

VALUES: list[tuple[Callable[[Any], object], str]] = [
    (lambda o: aivops.Device(1 << 40), "Device(): id is 1099511627776, which is out of range"),
    (lambda o: o.device.synchronize(HUGE), "Device.synchronize(): timeout is 1000"),
    (lambda o: setattr(o.stream, "vector_cores", -1), "Stream: vector_cores is -1, expected 0 to 4294967295"),
    (
        lambda o: aivops.LaunchConfig(blocks=1 << 80),
        "LaunchConfig(): blocks is 1208925819614629174706176, wh",
    ),
    (lambda o: aivops.LaunchConfig(timeout=HUGE), "LaunchConfig(): timeout is 1000"),
    (lambda o: aivops.Binary("a\0b"), "Binary.load(): path is 'a\\x00b', which is no usable text"),
    (lambda o: o.kernels.get_kernel("\udc80"), "KernelSet.get_kernel(): name is '\\udc80', which is no us"),
    (lambda o: aivops.Buffer(o.device, 1 << 70), "Buffer: shape (1180591620717411303424,) has more elements"),
    (lambda o: aivops.Buffer.borrow(o.device, 8, -3, "int8", None), "Buffer.borrow(): shape (-3,) has a neg"),
    (lambda o: aivops.Buffer.from_host(o.device, [[1], [1, 2]]), "Buffer.from_host(): array is no array: "),
    (lambda o: o.buffer.fill(256), "Buffer.fill(): byte is 256, expected 0 to 255"),
    (lambda o: o.buffer.reshape(-1), "Buffer.reshape(): shape (-1,) has a negative extent"),
    (lambda o: aivops.verify(__file__, machine="x"), "machine x: expected ascend"),
]


@pytest.mark.parametrize(("call", "words"), KINDS, ids=[words for _, words in KINDS])
def test_wrong_kinds(objects: Objects, call: Callable[[Objects], object], words: str) -> None:
    with pytest.raises(aivops.InvalidTypeError, match=re.escape(words)):
        call(objects)


@pytest.mark.parametrize(("call", "words"), VALUES, ids=[words for _, words in VALUES])
def test_wrong_values(objects: Objects, call: Callable[[Objects], object], words: str) -> None:
    with pytest.raises(aivops.InvalidValueError, match=re.escape(words)):
        call(objects)


def test_every_native_function_refuses_in_words(objects: Objects) -> None:
    """With more arguments than any takes, whatever is added later."""
    refused = 0
    for scope in (_core, *(kind for _, kind in inspect.getmembers(_core, inspect.isclass))):
        for name, function in vars(scope).items():
            if type(function).__name__ not in ("nb_func", "nb_method") or "*args" in str(
                function.__nb_signature__[0]
            ):
                continue
            made = object.__new__(type("Any", (), {}))
            owner = next((o for o in objects if type(o) is scope), made)
            with pytest.raises(TypeError) as raised:
                function(owner, *[made] * 20)
            if owner is not made or type(function).__name__ == "nb_func":
                assert isinstance(raised.value, aivops.InvalidTypeError), (scope, name)
                refused += 1
    assert refused > 20


def test_numbers_of_numpy_are_numbers(device: aivops.Device) -> None:
    assert aivops.Device(np.int32(0)) == device
    buffer = aivops.Buffer(device, np.int64(3))
    assert buffer.shape == (3,)
    buffer.fill(np.uint8(7))
    assert buffer[np.int8(1)].to_numpy() == 7
    assert device.effective_timeout(np.float32(1)) > 0
    assert device.effective_timeout(1) == device.effective_timeout(1.0)


def test_a_path_is_text_or_a_path(tmp_path: Path) -> None:
    for path in (str(tmp_path / "no.o"), tmp_path / "no.o"):
        with pytest.raises(aivops.BinaryError, match="cannot be read"):
            aivops.Binary(path)
