"""What only a machine can show, on a device of each architecture: atomics, rendezvous, caches, events; against numpy."""

from __future__ import annotations

import os
from functools import reduce
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from emulator.conftest import ARCHITECTURES, KernelCompiler
from emulator.own_process import run_in_process

Array = npt.NDArray[Any]
SOCS = {"dav-c220-vec": "Ascend910B1", "dav-c310-vec": "Ascend950PR_9599"}
BLOCKS = 5
DTYPES: dict[str, np.dtype] = {
    "float": np.dtype(np.float32),
    "half": np.dtype(np.float16),
    "bfloat16_t": np.dtype(ml_dtypes.bfloat16),
    **{f"{u}int{8 * n}_t": np.dtype(f"{u or 'i'}{n}") for n in (1, 2, 4, 8) for u in ("", "u")},
}
COPIED = ("float", "half", "bfloat16_t", "int8_t", "int16_t", "int32_t")

# Runs kernels of a binary on one device: each with the arrays that a file holds, written back behind it.
PROGRAM = """
import struct, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from emulator.acl_api import Acl
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
folder = Path(sys.argv[4])
with acl.device(0):
    binary = acl.load(Path(sys.argv[3]))
    for name in sys.argv[6:]:
        with np.load(folder / f"{name}.npz") as stored:
            arrays = {key: stored[key] for key in stored.files}
        pointers = [acl.malloc(array.nbytes) for array in arrays.values()]
        for pointer, array in zip(pointers, arrays.values()):
            acl.write(pointer, array.tobytes())
        arguments = struct.pack(f"@{len(pointers)}Q", *pointers)
        acl.ok(acl.launch(acl.function(binary, name), int(sys.argv[5]), arguments, batch=1))
        acl.ok(acl.synchronize())
        read = [np.frombuffer(acl.read(p, a.nbytes), np.uint8) for p, a in zip(pointers, arrays.values())]
        np.savez(folder / f"{name}.npz", **dict(zip(arrays, read)))
"""


class Machine:
    """Devices of one architecture with the kernels of semantics.asc, in processes of their own."""

    def __init__(self, architecture: str, binary: Path, toolkit: Path, folder: Path) -> None:
        self.architecture, self.binary, self.toolkit, self.folder = architecture, binary, toolkit, folder

    def launch(self, launches: dict[str, list[Array]], blocks: int = BLOCKS) -> dict[str, list[Array]]:
        """The arrays of each kernel after its launch."""
        for name, arrays in launches.items():
            np.savez(self.folder / f"{name}.npz", *(array.view(np.uint8) for array in arrays))
        arguments = (self.binary, self.folder, blocks, *launches)
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        run_in_process(
            PROGRAM,
            self.toolkit,
            *arguments,
            AIVOPS_EMU_SOC=SOCS[self.architecture],
            PYTEST_CURRENT_TEST=test,
        )
        found = {}
        for name, arrays in launches.items():
            with np.load(self.folder / f"{name}.npz") as stored:
                raw = [stored[key] for key in stored.files]
            found[name] = [bytes_.view(array.dtype) for bytes_, array in zip(raw, arrays, strict=True)]
        return found


@pytest.fixture(scope="module", params=ARCHITECTURES)
def machine(
    request: pytest.FixtureRequest,
    compiler: KernelCompiler,
    repository: Path,
    toolkit: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Machine:
    folder = tmp_path_factory.mktemp("semantics")
    source = folder / "semantics.asc"
    source.write_text((repository / "tests/emulator/ascendc/semantics.asc").read_text())
    binary = compiler.build(source, "-Wall", "-I", repository / "device/include", architecture=request.param)
    return Machine(request.param, binary, toolkit, folder)


def test_atomic_copies(machine: Machine) -> None:
    """Sums are exact in every type, so the order of the blocks does not show."""
    random = np.random.default_rng(3)
    operations = {
        "SetAtomicAdd": lambda a, b: (a + b).astype(a.dtype),
        "SetAtomicMax": np.maximum,
        "SetAtomicMin": np.minimum,
        "SetAtomicType": lambda a, b: (a + b).astype(a.dtype),
    }
    launches: dict[str, list[Array]] = {}
    expected = {}
    for name, operation in operations.items():
        for kind in COPIED:
            target = random.integers(-9, 9, 128).astype(DTYPES[kind])
            rows = random.integers(-9, 9, (BLOCKS, 64)).astype(DTYPES[kind])
            launches[f"{name}_{kind}"] = [target, rows.reshape(-1)]
            expected[f"{name}_{kind}"] = reduce(operation, rows, target[:64]), rows
    for name, (target, _) in machine.launch(launches).items():
        total, rows = expected[name]
        assert target[:64].tolist() == total.tolist(), name
        # Behind SetAtomicNone copies overwrite: one block's row is what is left.
        assert target[64:].tolist() in rows.tolist(), name


def test_atomic_sums_of_half_beyond_its_range(machine: Machine) -> None:
    """dav-c310-vec saturates unless CTRL says otherwise; for dav-c220-vec nothing is said, so sums are IEEE's."""
    row = np.array([60000, -60000, np.inf, np.nan] * 16, np.float16)
    target, _ = machine.launch({"too_large": [np.concatenate([row, row]), row]}, 1)["too_large"]
    ieee = np.array([np.inf, -np.inf, np.inf, np.nan] * 16, np.float16)
    saturated = np.array([65504, -65504, 65504, 0] * 16, np.float16)
    default = saturated if machine.architecture == "dav-c310-vec" else ieee
    assert np.array_equal(target[:64], default, equal_nan=True)
    assert np.array_equal(target[64:], ieee, equal_nan=True)


@pytest.mark.parametrize("blocks", [1, 3, 48])
def test_rendezvous(machine: Machine, blocks: int) -> None:
    names = ["by_sync_all", "by_sync_all_default", "by_software", "by_some_cores", "by_core_flags"]
    if machine.architecture == "dav-c310-vec":
        names += ["by_configured", "by_everything"]
    words = np.zeros(8 * blocks, np.int32)
    found = machine.launch({name: [words - 1, words, words] for name in names}, blocks)
    for name in names:
        assert found[name][1][::8].tolist() == [(block + 1) % blocks for block in range(blocks)], name


def test_words_past_the_cache(machine: Machine) -> None:
    kinds = [kind for kind in DTYPES if "int" in kind]
    values = {kind: np.array([np.iinfo(DTYPES[kind]).max // 2 - 3, 0], DTYPES[kind]) for kind in kinds}
    found = machine.launch({f"past_the_cache_{kind}": [values[kind]] for kind in kinds}, 1)
    for kind in kinds:
        assert found[f"past_the_cache_{kind}"][0][1] == values[kind][0] * 2, kind


def test_the_data_cache(machine: Machine) -> None:
    lines = 6 if machine.architecture == "dav-c310-vec" else 5
    (found,) = machine.launch({"cached": [np.zeros(16 * 6, np.uint32)]}, 1)["cached"]
    stored = np.arange(1, lines + 1) * 10
    assert found.reshape(6, 16)[:lines, 0].tolist() == (stored + 1).tolist()
    assert found.reshape(6, 16)[:lines, 8].tolist() == (stored + 1).tolist()


def test_events_between_all_pipes(machine: Machine) -> None:
    data = np.random.default_rng(4).integers(-1000, 1000, 128).astype(np.int32)
    output = np.zeros(192, np.int32)
    _, found = machine.launch({"through_all_pipes": [data, output]}, 1)["through_all_pipes"]
    first = data[:64] + 1
    first[0] *= 3
    first *= 2
    assert found[:64].tolist() == first.tolist()
    assert found[64:128].tolist() == data[64:].tolist()
    assert found[128:].tolist() == (first + first + 5 + 1).tolist()


@pytest.mark.parametrize("machine", ["dav-c310-vec"], indirect=True)
def test_scalar_atomics(machine: Machine) -> None:
    kinds = ("int32_t", "uint32_t", "int64_t", "uint64_t", "float")
    start = [5, 2, 4, 10, 50, 30, 6, 9, 7, 0]
    launches = {
        f"scalar_atomic_{kind}": [np.array(start, DTYPES[kind]), np.zeros(8, DTYPES[kind])] for kind in kinds
    }
    for name, (x, before) in machine.launch(launches).items():
        swapped = name != "scalar_atomic_float"
        assert x[:3].tolist() == [5 + 15, 5, 1], name  # 1 to 5 added; the largest; the smallest
        assert x[3:7].tolist() == [14, 100, 1, 77], name
        assert x[7:9].tolist() == ([3, 7] if swapped else [9, 7]), name
        assert before[:4].tolist() == [10, 50, 30, 6], name
        if swapped:
            assert before[4:6].tolist() == [9, 7], name
