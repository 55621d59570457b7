"""One source, two architectures: reductions come out alike, by the instructions that docs/collectives.md publishes."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import aivops
import ml_dtypes
import numpy as np
import pytest
from aivops._arrays import ELEMENT_TYPES
from aivops._dtypes import numpy_dtype
from aivops._locations import get_toolkit_dir
from collectives.fold_everything import RANKS
from collectives.instructions import Issued
from collectives.reference import FOLD, REDUCIBLE

PROGRAM = Path(__file__).parent / "fold_everything.py"
ARCHITECTURES = {"dav-c220-vec": "Ascend910B1", "dav-c310-vec": "Ascend950PR_9599"}
INSTRUCTION = {"sum": "Add", "prod": "Mul", "max": "Max", "min": "Min"}
SIGNALLING = 4000  # bytes of scalar accesses at most that the flags of a small call take


class Published(NamedTuple):
    """A row of the table for one type."""

    folded_in: str
    instructions: dict[str, set[str]]  # by architecture


@pytest.fixture(scope="module")
def table(repository: Path) -> dict[str, Published]:
    """What docs/collectives.md says, by type."""
    lines = (repository / "docs" / "collectives.md").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| type | folded in"))
    published = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), lines[begin + 2 :]):
        types, folded_in, c220, c310 = (cell.strip() for cell in line.strip("|").split("|"))
        c310 = c220 if c310 == "the same" else c310
        instructions = {
            "dav-c220-vec": set(re.findall(r"`(\w+)`", c220)),
            "dav-c310-vec": set(re.findall(r"`(\w+)`", c310)),
        }
        for name in types.split(", "):
            assert name not in published
            published[name] = Published(re.split(r"[,;]", folded_in)[0], instructions)
    return published


def test_the_table_has_the_types_of_the_kernels(table: dict[str, Published]) -> None:
    """Each type that reductions take, and calls refuse all others and say which there are."""
    assert sorted(table) == sorted(np.dtype(dtype).name for dtype in REDUCIBLE)
    with aivops.LocalGroup(1) as group:
        for name in {*ELEMENT_TYPES, "bool"} - set(table):
            special = "hifloat8" if name == "hifloat8" else None
            x = np.zeros(3, np.uint8 if special else numpy_dtype(name))
            with pytest.raises(ValueError, match=f"no kernel folds {name}, expected one of") as caught:
                group.run(lambda comm, x=x, special=special: comm.reduce(x, dtype=special))
            assert all(known in str(caught.value) for known in table)


def width_of(name: str) -> int:
    return np.dtype(getattr(ml_dtypes, name, name)).itemsize


def casts_of(name: str, wide: int) -> tuple[int, int]:
    """Bytes that Cast and Muls read for each element of the result: into the wider type, and back."""
    if (
        name == "int8"
    ):  # int8 -> half -> int16 for each rank; int16 -> half -> int8 at the end, and two products
        return RANKS * (1 + 2) + (2 + 2), 2 + 2
    return RANKS * width_of(name) + wide, 0


def check_instructions(run: dict[str, Any], architecture: str, published: Published) -> None:
    """By name those of the table and no other, and in bytes as many as the folded elements need."""
    name, op = run["call"][2:]
    found = {name: Issued(*numbers) for name, numbers in run["instructions"].items()}
    scalar = {name: found.pop(name, Issued(0, 0, 0)) for name in ("GetValue", "SetValue")}
    others = set(INSTRUCTION.values()) - {INSTRUCTION[op]}
    wanted = published.instructions[architecture] - others
    elements, width = run["elements"], width_of(name)
    wide = width if published.folded_in == "itself" else width_of(published.folded_in)
    if "GetValue" in wanted:
        assert set(found) == set()
        read, written = (2 * RANKS - 1) * elements * width, RANKS * elements * width
    else:
        assert set(found) == wanted
        assert found[INSTRUCTION[op]].read_bytes == 2 * (RANKS - 1) * elements * wide
        assert found[INSTRUCTION[op]].written_bytes == (RANKS - 1) * elements * wide
        if wide != width or "Cast" in wanted:
            casts, products = casts_of(name, wide)
            assert found["Cast"].read_bytes == casts * elements
            assert found.get("Muls", Issued(0, 0, 0)).read_bytes == products * elements
        read = written = 0
    assert 0 <= scalar["GetValue"].read_bytes - read <= SIGNALLING
    assert 0 <= scalar["SetValue"].written_bytes - written <= SIGNALLING


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_type_and_op_by_the_published_instructions(
    architecture: str, table: dict[str, Published]
) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"AIVOPS_EMU_SOC": ARCHITECTURES[architecture]},
    )
    assert done.returncode == 0, done.stderr
    found, *lines = done.stdout.splitlines()
    assert found == architecture
    runs = [json.loads(line) for line in lines]
    assert len(runs) == 8 * len(table) * len(FOLD)
    assert [run["call"] for run in runs if not run["equal"]] == []
    for run in runs:
        check_instructions(run, architecture, table[run["call"][2]])


# ---- Ways that an architecture does not have: the compiler refuses a fold that takes them. ----

FOLD_ONE = """
#include "kernel_operator.h"
#include "aivops/export.h"
#include "aivops/fold.h"

struct Same {{
    __gm__ {type}* place;
    __aicore__ inline __gm__ {type}* operator()(uint32_t) const {{ return place; }}
}};

extern "C" __global__ __aicore__ void fold_one(GM_ADDR x, uint32_t reduction, uint64_t count) {{
    AscendC::TPipe pipe;
    aivops::Fold<{type}> fold(pipe, reduction);
    const Same source{{reinterpret_cast<__gm__ {type}*>(x)}};
    fold.fold(source.place, nullptr, source, 2, count);
}}
AIVOPS_EXPORT_KERNEL(fold_one);
"""
BY_VECTOR = (
    "kScalar = AscendC::Std::is_same<T, int64_t>::value && __NPU_ARCH__ == 2201;",
    "kScalar = false;",
)
DIRECTLY = (
    "struct AccumulatorOf<{type}> {{\n    using Type = {wide};",
    "struct AccumulatorOf<{type}> {{\n    using Type = {type};",
)


def directly(type_name: str, wide: str) -> tuple[str, str]:
    """Folds a type in itself."""
    old, new = (text.format(type=type_name, wide=wide) for text in DIRECTLY)
    return old, new


WAYS: dict[str, tuple[str, tuple[str, str] | None, set[str]]] = {
    "as published": ("int64_t", None, {"dav-c220-vec", "dav-c310-vec"}),
    "int64 by the vector unit": ("int64_t", BY_VECTOR, {"dav-c310-vec"}),
    "bfloat16 in itself": ("bfloat16_t", directly("bfloat16_t", "float"), {"dav-c310-vec"}),
    "int8 in itself": ("int8_t", directly("int8_t", "int16_t"), set()),
    "uint8": ("uint8_t", None, set()),
    "double": ("double", None, set()),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_an_architecture_lacks_is_refused(way: str, repository: Path, tmp_path: Path) -> None:
    type_name, edit, has = WAYS[way]
    headers = tmp_path / "include"
    shutil.copytree(repository / "device" / "include", headers)
    if edit is not None:
        fold = headers / "aivops" / "fold.h"
        text = fold.read_text()
        assert text.count(edit[0]) == 1
        fold.write_text(text.replace(*edit))
    source = tmp_path / "fold_one.asc"
    source.write_text(FOLD_ONE.format(type=type_name))
    toolkit = get_toolkit_dir()
    for architecture in ARCHITECTURES:
        command = [
            *(toolkit / "tools" / "ccec_compiler" / "bin" / "ccec", "-c", "-x", "cce", "-std=c++17"),
            *("--cce-aicore-only", f"--cce-aicore-arch={architecture}", f"-I{headers}"),
            *(source, "-o", tmp_path / "fold_one.o"),
        ]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (architecture in has), done.stderr
        if architecture not in has:
            assert "this architecture" in done.stderr
            assert "lacks" in done.stderr
