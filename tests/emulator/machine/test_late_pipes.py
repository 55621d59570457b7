"""Pipes that may be late are: what is missing shows in the data, what is there keeps it right, and a seed does it again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from emulator.conftest import KernelCompiler

TURNS = 60

# Runs each kernel of the list many times over and prints what it left in its first buffer, and in its second.
RUN = """
import ctypes, json, struct, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
to, source = acl.malloc(8192), acl.malloc(8192)
results = {}
for name, blocks, turns in json.loads(sys.argv[4]):
    results[name] = []
    for turn in range(turns):
        acl.write(to, bytes(8192))
        acl.write(source, struct.pack("<2048i", *range(100, 2148)))
        acl.ok(acl.launch(acl.function(binary, name), blocks, pack("QQ", to, source), batch=1))
        code = acl.synchronize()
        results[name].append([acl.read(to, 2048).hex(), acl.read(source, 1024).hex(), code, acl.message()])
devices, instructions = ctypes.c_uint64(), ctypes.c_uint64()
acl.ok(acl.aivopsEmuGetSweep(ctypes.byref(devices), ctypes.byref(instructions)))
results["sweep"] = [devices.value, instructions.value]
print(json.dumps(results))
"""


@pytest.fixture(scope="module", name="binaries")
def late_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("late")
    built = {}
    for name in ("late", "races"):
        source = folder / f"{name}.asc"
        shutil.copy(Path(__file__).parent / f"{name}.asc", source)
        built[name] = compiler.build(source)
    built["late on 950"] = compiler.build(folder / "late.asc", architecture="dav-c310-vec")
    return built


class Runs:
    """What the turns of the kernels left behind."""

    def __init__(self, results: dict[str, list[list[object]]]) -> None:
        self.results = results

    def first(self, kernel: str) -> list[np.ndarray]:
        return [np.frombuffer(bytes.fromhex(str(run[0])), np.int32) for run in self.results[kernel]]

    def second(self, kernel: str) -> list[np.ndarray]:
        return [np.frombuffer(bytes.fromhex(str(run[1])), np.int32) for run in self.results[kernel]]

    def codes(self, kernel: str) -> set[object]:
        return {run[2] for run in self.results[kernel]}


def run(toolkit: Path, binary: Path, kernels: list[tuple[str, int, int]], **settings: object) -> Runs:
    variables = {f"AIVOPS_EMU_{name.upper()}": str(value) for name, value in settings.items()}
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            RUN,
            str(Path(__file__).parents[2]),
            str(toolkit),
            str(binary),
            json.dumps(kernels),
        ],
        env={**os.environ, "AIVOPS_EMU_CHECK": "late", "AIVOPS_EMU_DEVICES": "2", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return Runs(json.loads(ran.stdout))


def test_what_is_not_ordered_comes_out_wrong_and_what_is_never(
    toolkit: Path, binaries: dict[str, Path]
) -> None:
    wrong = ["store_twice", "double_twice", "peek_too_early"]
    right = ["store_twice_in_order", "double_twice_in_order", "peek_in_time"]
    runs = run(toolkit, binaries["late"], [(name, 1, TURNS) for name in (*wrong, *right)], seed=1)
    expected = {"store_twice": 2, "double_twice": 4, "peek_too_early": 107}
    for bad, good in zip(wrong, right, strict=True):
        last = [int(data[0]) for data in runs.first(good)]
        assert set(last) == {expected[bad]}, good
        assert len({int(value) for data in runs.first(bad) for value in data[:256:255]}) > 1, bad
        assert runs.codes(bad) == runs.codes(good) == {0}


def test_vector_instructions_are_in_order_on_the_3510(toolkit: Path, binaries: dict[str, Path]) -> None:
    runs = run(toolkit, binaries["late on 950"], [("double_twice", 1, TURNS)], soc="Ascend950PR_9599", seed=1)
    assert all((data[:256] == 4).all() for data in runs.first("double_twice"))


def test_events_and_barriers_keep_late_copies_right(toolkit: Path, binaries: dict[str, Path]) -> None:
    kernels = [
        (name, 1, TURNS)
        for name in ("copy_without_barrier", "copy_with_event", "copy_with_barrier", "reuse_in_time")
    ]
    runs = run(toolkit, binaries["races"], kernels, seed=2)
    source = np.arange(100, 612, dtype=np.int32)
    for name in ("copy_with_event", "copy_with_barrier"):
        assert all((data[:256] == source[:256]).all() for data in runs.first(name)), name
    assert all((data[:512] == source[:512]).all() for data in runs.first("reuse_in_time"))
    right = [bool((data[:256] == source[:256]).all()) for data in runs.first("copy_without_barrier")]
    assert not all(right)


def test_the_atomic_mode_is_that_of_the_issue(toolkit: Path, binaries: dict[str, Path]) -> None:
    runs = run(toolkit, binaries["late"], [("add_then_set", 3, TURNS)], seed=3)
    for data in runs.first("add_then_set"):
        assert (data[:256] == 3).all()
        assert (data[256:512] == 2).all()


def test_the_control_bits_are_those_of_the_issue(toolkit: Path, binaries: dict[str, Path]) -> None:
    runs = run(
        toolkit, binaries["late on 950"], [("add_then_unbound", 1, TURNS)], soc="Ascend950PR_9599", seed=3
    )
    largest = np.float16(65504)
    for data in runs.first("add_then_unbound"):
        assert (data.view(np.float16)[:512] == largest).all()


def test_a_store_may_be_seen_half_done(toolkit: Path, binaries: dict[str, Path]) -> None:
    runs = run(toolkit, binaries["late"], [("store_and_look", 2, 5 * TURNS)], seed=4)
    seen = {tuple(sorted(set(data.tolist()))) for data in runs.second("store_and_look")}
    assert seen == {(0,), (1,), (0, 1)}


def without_addresses(results: object) -> str:
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", json.dumps(results))


def test_a_seed_does_the_same_again(toolkit: Path, binaries: dict[str, Path]) -> None:
    def once(check: str, seed: int) -> str:
        kernels = [("store_and_look", 5, 8), ("peek_too_early", 3, 8), ("store_twice", 2, 8)]
        return without_addresses(run(toolkit, binaries["late"], kernels, check=check, seed=seed).results)

    assert once("late", 5) == once("late", 5) != once("late", 6)
    assert once("strict", 7) == once("strict", 7)


def test_a_sweep_holds_back_each_instruction_once(toolkit: Path, binaries: dict[str, Path]) -> None:
    """The load held back, the store has nothing to store yet; the store held back, everything is there."""
    kernels = [("copy_without_barrier", 1, 5)]
    source = np.arange(100, 356, dtype=np.int32)
    right = {}
    for held in range(5):
        runs = run(toolkit, binaries["races"], kernels, schedule=f"sweep:{held}")
        assert runs.results["sweep"] == [2, 2]
        right[held] = {bool((data[:256] == source).all()) for data in runs.first("copy_without_barrier")}
    assert right == {0: {True}, 1: {True}, 2: {False}, 3: {True}, 4: {True}}
