"""Masks of vector instructions: a repeat is 256 bytes, and a mask chooses among its lanes."""

import ctypes
import re

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.ascendc.vector_numbers import DTYPES, HEAD
from emulator.conftest import ARCHITECTURES, KernelCompiler

BINARY, UNARY = "BinaryRepeatParams()", "UnaryRepeatParams()"

# One of every family, with the widest type that says how many lanes a repeat has. `mask` is a word or an array.
FAMILIES = {
    "Add": ("half", f"Add(at<half>(0), at<half>(8), at<half>(8), mask, 1, {BINARY})"),
    "Max": ("float", f"Max(at<float>(0), at<float>(8), at<float>(8), mask, 1, {BINARY})"),
    "Adds": ("int32_t", f"Adds(at<int32_t>(0), at<int32_t>(8), 1, mask, 1, {UNARY})"),
    "Abs": ("half", f"Abs(at<half>(0), at<half>(8), mask, 1, {UNARY})"),
    "Duplicate": ("int16_t", "Duplicate(at<int16_t>(0), int16_t(1), mask, 1, 1, 8)"),
    "Cast": ("float", f"Cast(at<half>(0), at<float>(8), RoundMode::CAST_RINT, mask, 1, {UNARY})"),
    "Compare": (
        "float",
        f"Compare(at<uint8_t>(0), at<float>(8), at<float>(8), CMPMODE::LT, mask, 1, {BINARY})",
    ),
    "CompareScalar": (
        "half",
        f"CompareScalar(at<uint8_t>(0), at<half>(8), half(1), CMPMODE::LT, mask, 1, {UNARY})",
    ),
    "Select": (
        "float",
        "Select(at<float>(0), at<uint8_t>(4), at<float>(8), at<float>(8), SELMODE::VSEL_TENSOR_TENSOR_MODE,"
        f" mask, 1, {BINARY})",
    ),
    "ReduceSum": ("float", "ReduceSum(at<float>(0), at<float>(8), at<float>(16), mask, 1, 8)"),
    "ReduceMax": ("half", "ReduceMax(at<half>(0), at<half>(8), at<half>(16), mask, 1, 8)"),
    "WholeReduceSum": ("half", "WholeReduceSum(at<half>(0), at<half>(8), mask, 1, 1, 1, 8)"),
    "WholeReduceMin": ("float", "WholeReduceMin(at<float>(0), at<float>(8), mask, 1, 1, 1, 8)"),
}

REGISTER = """
K set_half(int32_t lanes) { SetVectorMask<half>(lanes); }
K set_float(int32_t lanes) { SetVectorMask<float>(lanes); }
K set_count(int32_t count) { SetVectorMask<float, MaskMode::COUNTER>(count); }
K by_register(uint64_t high, uint64_t low) {
    SetVectorMask<float>(high, low);
    Add<float, false>(at<float>(0), at<float>(8), at<float>(8), 1000, 1, BinaryRepeatParams());
}
K one_word() {
    uint64_t mask[1] = {uint64_t(1) << 63};
    Add(at<float>(0), at<float>(8), at<float>(8), mask, 1, BinaryRepeatParams());
}
"""


@pytest.fixture(scope="module", params=ARCHITECTURES)
def machine(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> NaiveMachine:
    lines = []
    for name, (_, call) in FAMILIES.items():
        signed = call.replace("mask", "int32_t(mask)") if "Reduce" in name else call
        lines.append(f"K {name}_lanes(uint64_t mask) {{ {signed}; }}")
        lines.append(f"K {name}_bits(uint64_t* mask) {{ {call}; }}")
    source = tmp_path_factory.mktemp("masks") / "masks.asc"
    source.write_text(HEAD + "\n".join(lines) + REGISTER)
    return NaiveMachine(compiler.build(source, "-Wall", "-Werror", architecture=request.param))


def said(machine: NaiveMachine, kernel: str, *arguments: object) -> tuple[list[str], list[str]]:
    """Faults and warnings."""
    machine.faults.clear()
    machine.warnings.clear()
    machine.launch(kernel, *arguments)
    return list(machine.faults), list(machine.warnings)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mask_has_no_more_lanes_than_a_repeat(machine: NaiveMachine, name: str) -> None:
    bytes_ = DTYPES[FAMILIES[name][0]].itemsize
    lanes = 256 // bytes_
    for good in (1, lanes - 1, lanes):
        assert said(machine, f"{name}_lanes", good) == ([], [])
    for wrong in (lanes + 1, lanes + 64, 255):
        faults, warnings = said(machine, f"{name}_lanes", wrong)
        assert len(faults) == 1
        assert not warnings
        assert re.fullmatch(
            rf"{name}: the mask is for {wrong} lanes, but a repeat of 256 bytes has {lanes}, of {bytes_} bytes each; .*",
            faults[0],
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mask_that_selects_nothing_is_a_warning(machine: NaiveMachine, name: str) -> None:
    expected = ([], [f"{name}: the mask selects no lane, so nothing is computed"])
    assert said(machine, f"{name}_lanes", 0) == expected
    assert said(machine, f"{name}_bits", np.zeros(2, np.uint64)) == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mask_of_bits_has_a_second_word_only_above_64_lanes(machine: NaiveMachine, name: str) -> None:
    second = np.array([0, 1], np.uint64)
    wide = DTYPES[FAMILIES[name][0]].itemsize == 2
    _, warnings = said(machine, f"{name}_bits", second)
    assert bool(warnings) != wide
    assert said(machine, f"{name}_bits", np.full(2, 2**64 - 1, np.uint64)) == ([], [])


def test_one_word_is_enough_for_float(machine: NaiveMachine) -> None:
    machine.ub[: 4 * 1024] = 0
    machine.ub[8 * 1024 : 9 * 1024].view(np.float32)[:] = 1.5
    assert said(machine, "one_word") == ([], [])
    assert np.flatnonzero(machine.ub[:1024].view(np.float32)).tolist() == [63]


def test_the_register_is_for_every_type(machine: NaiveMachine) -> None:
    everything = 2**64 - 1
    assert said(machine, "by_register", everything, everything) == ([], [])
    assert said(machine, "by_register", 0, 1) == ([], [])
    assert said(machine, "by_register", 0, 0)[1] == ["Add: the mask selects no lane, so nothing is computed"]


def test_a_number_of_lanes_for_the_register_fits_its_type(machine: NaiveMachine) -> None:
    assert said(machine, "set_half", ctypes.c_int32(128)) == ([], [])
    assert said(machine, "set_float", ctypes.c_int32(64)) == ([], [])
    assert said(machine, "set_count", ctypes.c_int32(1000)) == ([], [])
    for kernel, wrong, lanes in (("set_half", 129, 128), ("set_float", 65, 64), ("set_float", -1, 64)):
        faults, _ = said(machine, kernel, ctypes.c_int32(wrong))
        assert len(faults) == 1
        assert (
            f"SetVectorMask: the mask is for {wrong} lanes, but a repeat of 256 bytes has {lanes}"
            in faults[0]
        )
