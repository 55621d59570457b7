"""Launch settings and prepared launches on an emulated device."""

import math

import aivops
import numpy as np
import pytest


@pytest.fixture
def target(device: aivops.Device) -> aivops.Buffer:
    made = aivops.Buffer(device, (64, 2), "int32")
    made.fill(0xFF)
    return made


@pytest.mark.parametrize(("blocks", "schedule"), [(1, "batch"), (48, "batch"), (1, "normal"), (60, "normal")])
def test_blocks(
    binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer, blocks: int, schedule: str
) -> None:
    config = aivops.LaunchConfig(blocks=blocks, schedule=schedule)
    binary.get_kernel("report_blocks").launch(stream, target, config=config)
    stream.synchronize()
    wanted = [[block, blocks] if block < blocks else [-1, -1] for block in range(64)]
    assert target.to_numpy().tolist() == wanted


def test_batch_mode_takes_no_more_blocks_than_cores(
    binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    with pytest.raises(aivops.InvalidValueError, match="49 blocks in batch mode, but its stream may use 48"):
        binary.get_kernel("report_blocks").launch(stream, target, config=aivops.LaunchConfig(blocks=49))
    assert (target.to_numpy() == -1).all()


def test_limits_of_device_and_stream_count(
    device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    kernel = binary.get_kernel("report_blocks")
    try:
        device.vector_core_limit = 12
        assert (device.vector_cores, device.vector_core_limit, stream.vector_cores) == (48, 12, 12)
        stream.vector_cores = 5
        other = aivops.Stream(device)
        assert (stream.vector_cores, other.vector_cores) == (5, 12)
        kernel.launch(stream, target)
        stream.synchronize()
        assert target.to_numpy()[:6].tolist() == [[0, 5], [1, 5], [2, 5], [3, 5], [4, 5], [-1, -1]]
        with pytest.raises(
            aivops.InvalidValueError, match="6 blocks in batch mode, but its stream may use 5"
        ):
            kernel.launch(stream, target, config=aivops.LaunchConfig(blocks=6))
        stream.reset_vector_core_limit()
        assert stream.vector_cores == 12
    finally:
        device.reset_vector_core_limit()
    assert stream.vector_cores == 48


@pytest.mark.parametrize("cores", [0, 49])
def test_limits_that_make_no_sense(device: aivops.Device, cores: int) -> None:
    with pytest.raises(aivops.InvalidValueError, match=f"a limit of {cores} vector cores"):
        device.vector_core_limit = cores


@pytest.mark.parametrize("settings", [{"blocks": 0}, {"blocks": -1}, {"blocks": 65536}, {"schedule": "later"},
                                      {"timeout": 0}, {"timeout": -1.0}, {"timeout": math.nan}])  # fmt: skip
def test_settings_that_make_no_sense(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"LaunchConfig|timeout"):
        aivops.LaunchConfig(**settings)


def test_time_limits(device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream) -> None:
    interval = 4294967e-6  # 2^32 ns, in whole microseconds, is what the runtime reports
    assert device.max_timeout == pytest.approx(254 * interval)
    assert device.effective_timeout() == pytest.approx(device.max_timeout, rel=1e-6)
    assert device.effective_timeout(1.0) == pytest.approx(interval)
    assert device.effective_timeout(interval * 1.5) == pytest.approx(2 * interval)
    assert device.effective_timeout(math.inf) == math.inf
    with pytest.raises(aivops.InvalidValueError, match="2000 s is more than this device can count"):
        binary.get_kernel("nothing").launch(stream, config=aivops.LaunchConfig(timeout=2000))


def test_a_kernel_without_type_is_refused(
    binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    kernel = binary.get_kernel("untyped")
    assert kernel.type == ""
    with pytest.raises(
        aivops.InvalidValueError, match=r"type is not recorded.*AIVOPS_EXPORT_KERNEL\(untyped\)"
    ):
        kernel.launch(stream, target)


def test_a_prepared_launch_takes_changes(
    device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream
) -> None:
    values = aivops.Buffer(device, 4, "int32")
    values.fill(0)
    prepared = binary.get_kernel("store").prepare(stream, values[0:1], 10)
    assert prepared.blocks == device.vector_cores
    prepared()
    prepared[0] = values[1:2]
    prepared["value"] = 11
    prepared()
    prepared(values[2:3], 12)
    prepared["to"] = values[3:4]
    prepared()
    stream.synchronize()
    assert values.to_numpy().tolist() == [10, 11, 12, 12]


def test_a_prepared_launch_checks_like_a_launch(
    device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream, target: aivops.Buffer
) -> None:
    kernel = binary.get_kernel("store")
    with pytest.raises(aivops.InvalidTypeError, match="takes 2 arguments, found 1"):
        kernel.prepare(stream, target)
    prepared = kernel.prepare(stream, target, 1)
    with pytest.raises(aivops.InvalidValueError, match='has no parameter "size"'):
        prepared["size"] = 1
    with pytest.raises(aivops.InvalidValueError, match="has no parameter 2"):
        prepared[2] = 1
    with pytest.raises(aivops.InvalidTypeError, match="chosen by index or name"):
        prepared[1.5] = 1
    with pytest.raises(aivops.InvalidValueError, match="cannot hold 2147483648"):
        prepared[1] = 2**31
    with pytest.raises(aivops.InvalidTypeError, match="takes 2 arguments, found 3"):
        prepared(target, 1, 2)


def test_memory_lives_until_launches_are_done(
    device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream
) -> None:
    """Buffers are dropped while a kernel that waits for another stream still holds the queue."""
    flag = aivops.Buffer(device, 1, "int32")
    flag.fill(0)
    free_before = device.memory[0]
    binary.get_kernel("wait_for").launch(stream, flag, 1, config=aivops.LaunchConfig(blocks=1))
    binary.get_kernel("store").launch(stream, aivops.Buffer(device, 1 << 22, "uint8"), 1)
    assert device.memory[0] < free_before
    flag.copy_from(np.ones(1, np.int32))
    stream.synchronize()
    assert device.memory[0] == free_before


def test_events_order_streams_and_measure(device: aivops.Device, binary: aivops.Binary) -> None:
    first, second = aivops.Stream(device), aivops.Stream(device)
    values = aivops.Buffer(device, 2, "int32")
    values.fill(0)
    start, end = aivops.Event(device), aivops.Event(device)
    first.record(start)
    binary.get_kernel("store").launch(first, values, 5)
    first.record(end)
    second.wait(end)
    binary.get_kernel("wait_for").launch(second, values, 5)
    second.synchronize()
    end.synchronize()
    assert end.query()
    assert first.query()
    assert 0 <= end.elapsed_since(start) < 60


def test_waiting_has_a_limit(device: aivops.Device, binary: aivops.Binary, stream: aivops.Stream) -> None:
    flag = aivops.Buffer(device, 1, "int32")
    flag.fill(0)
    binary.get_kernel("wait_for").launch(stream, flag, 1, config=aivops.LaunchConfig(blocks=1))
    for wait in (stream.synchronize, device.synchronize):
        with pytest.raises(TimeoutError) as caught:
            wait(0.05)
        assert isinstance(caught.value, aivops.AclTimeoutError)
        assert (caught.value.code, caught.value.name) == (507046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT")
    flag.copy_from(np.ones(1, np.int32))
    stream.synchronize()


def test_a_borrowed_stream_is_left_alone(device: aivops.Device, binary: aivops.Binary) -> None:
    owner = aivops.Stream(device)
    values = aivops.Buffer(device, 1, "int32")
    borrowed = aivops.Stream.borrow(device, owner.handle)
    binary.get_kernel("store").launch(borrowed, values, 3)
    del borrowed
    binary.get_kernel("store").launch(owner, values, 4)
    owner.synchronize()
    assert values.to_numpy()[0] == 4
    default = aivops.Stream.borrow(device, 0)
    binary.get_kernel("store").launch(default, values, 6)
    default.synchronize()
    assert values.to_numpy()[0] == 6


def test_one_binary_on_every_device(binary: aivops.Binary) -> None:
    for number in range(8):
        device = aivops.Device(number)
        values = aivops.Buffer(device, 1, "int32")
        stream = aivops.Stream(device)
        binary.get_kernel("store").launch(stream, values, number)
        stream.synchronize()
        assert values.to_numpy()[0] == number


def test_there_are_only_so_many_devices() -> None:
    for number in (8, -1):
        with pytest.raises(aivops.InvalidValueError, match=f"Device {number}: there are 8 devices, 0 to 7"):
            aivops.Device(number)


def test_devices_compare_by_identity() -> None:
    assert aivops.Device(1) == aivops.Device(1)
    assert aivops.Device(1) != aivops.Device(2)
    assert aivops.Device(1) != 1
    assert len({aivops.Device(1), aivops.Device(1), aivops.Device(2)}) == 2
