"""Kernels written the way the field writes them compile as they are, with both host compilers, and compute."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.ccec.records import Binary
from emulator.conftest import ARCHITECTURES, KernelCompiler

FLAGS = [
    *("-mllvm", "-cce-aicore-stack-size=0x8000", "-mllvm", "-cce-aicore-function-stack-size=0x8000"),
    *("-mllvm", "-cce-aicore-record-overflow=false", "-mllvm", "-cce-aicore-addr-transform"),
    "-fstack-protector-all",
]
# What distributions and conda put into compiler flags.
HARDENING = ["-D_FORTIFY_SOURCE=2", "-fstack-clash-protection", "-Wformat", "-Werror=format-security"]


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_of_the_field(
    compiler: KernelCompiler, tmp_path: Path, repository: Path, architecture: str, cxx: str
) -> None:
    source = tmp_path / "aiv_copy_op.h"
    shutil.copy(repository / "tests/emulator/ascendc/vendor_style.h", source)
    driver = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    binary = driver.build(source, *FLAGS, *HARDENING, architecture=architecture)
    types = ("half", "int16_t", "float", "int32_t", "int8_t", "bfloat16_t", "int64_t")
    found = Binary(binary)
    assert found.global_functions == {f"vendor_copy_{name}" for name in types}
    records = {f".ascend.meta.vendor_copy_{name}" for name in types}
    assert records <= found.sections.keys()

    machine = NaiveMachine(binary)
    values = np.random.default_rng(1).integers(-100, 100, 60001).astype(np.int16)
    output = np.zeros_like(values)
    flags = np.zeros(512 * 128, np.uint8)
    machine.launch("vendor_copy_int16_t", flags, values, output, values.size, ctypes.c_uint32(2), ctypes.c_int32(7),
                   blocks=3)  # fmt: skip
    assert (output == values).all()
    assert flags.view(np.int32)[: 3 * 32 : 32].tolist() == [7, 7, 7]
    assert machine.faults == []
    assert set(machine.warnings) == {
        "TPipe::InitBuffer: a buffer of 48640 bytes does not fit: 245760 of the unified buffer's 262144 are in use"
    }
    atomics = [entry[1:] for entry in machine.log if entry[0] == "set_atomic"]
    assert atomics[:3] == [(0, 0), (2, 3), (0, 0)]  # a new TPipe, HCCL_REDUCE_MAX of int16_t, off again
