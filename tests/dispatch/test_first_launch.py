"""From a file on disk to numbers in host memory."""

import aivops
import numpy as np


def test_a_kernel_writes_what_it_is_given(
    device: aivops.Device, stream: aivops.Stream, binary: aivops.Binary
) -> None:
    target = aivops.Buffer(device, 4, "int32")
    target.copy_from(np.zeros(4, np.int32))
    binary.get_kernel("store").launch(stream, target, -7)
    stream.synchronize()
    assert target.to_numpy().tolist() == [-7, 0, 0, 0]


def test_blocks_number_themselves(
    device: aivops.Device, stream: aivops.Stream, binary: aivops.Binary
) -> None:
    cores = device.vector_cores
    target = aivops.Buffer(device, (cores, 2), "int32")
    binary.get_kernel("report_blocks").launch(stream, target)
    stream.synchronize()
    assert target.to_numpy().tolist() == [[block, cores] for block in range(cores)]


def test_shipped_kernels_are_found_by_package_name(device: aivops.Device) -> None:
    kernel = aivops.load_kernels("aivops").get_kernel("aiv_all_gather_int32_t")
    assert kernel.type == "K_TYPE_AIV"
    assert [parameter.kind for parameter in kernel.parameters or []][:3] == ["pointer"] * 3
