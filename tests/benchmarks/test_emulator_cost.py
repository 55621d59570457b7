"""What the emulator costs: copies beside memcpy, launches, block switches, memory, strict mode. One run, side by side.

Figures are reported (pytest -rP), not limits: they depend on the machine and on what else it does. Only gross
disproportion fails.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.kernel_build import build_kernels

HERE = Path(__file__).parent
EMULATOR = HERE.parents[1] / "host/emulator"
TILES = (8 * 1024, 64 * 1024)  # bytes: within the first cache of a core, and beyond it

Run = Callable[[int, str], dict[str, float]]


@pytest.fixture(scope="module")
def run(build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the measuring program with a tile and a check level."""
    folder = tmp_path_factory.mktemp("cost")
    toolkit = build_dir / "toolkit"
    kernels = build_kernels(HERE / "emulator_cost.asc", folder / "kernels.o", "dav-c220-vec")
    program = folder / "emulator_cost"
    sources = (HERE / "emulator_cost.cpp", EMULATOR / "machine/context_switch.cpp")
    libraries = (f"-L{toolkit / 'lib64'}", f"-Wl,-rpath,{toolkit / 'lib64'}", "-lacl_rt", "-o", program)
    command = ("c++", "-std=c++20", "-O2", f"-I{toolkit / 'include'}", f"-I{EMULATOR}", *sources, *libraries)
    subprocess.run([str(word) for word in command], check=True)

    def run_once(tile: int, check: str) -> dict[str, float]:
        environment = {**os.environ, "AIVOPS_EMU_CHECK": check}
        line = [str(program), str(kernels), str(tile)]
        done = subprocess.run(line, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        figures: dict[str, float] = json.loads(done.stdout)
        return figures

    return run_once


@pytest.mark.long
def test_cost(run: Run) -> None:
    figures = {(tile, check): run(tile, check) for tile in TILES for check in ("on", "strict")}
    for (tile, check), found in figures.items():
        print(f"-- tile {tile // 1024} KiB, AIVOPS_EMU_CHECK={check}")
        for name, value in found.items():
            print(f"{name:<64} {value:10.3f}")
    for tile in TILES:
        plain, strict = figures[tile, "on"], figures[tile, "strict"]
        for name in plain:
            if name.endswith("kernel us"):
                print(
                    f"strict / default, tile {tile // 1024} KiB, {name:<28} {strict[name] / plain[name]:6.1f}"
                )
    for found in figures.values():
        assert found["block switch ns"] <= 20 * found["indirect call ns"]
    assert all(figures[TILES[0], "on"][f"copy {kib} KiB, ratio"] > 0.1 for kib in (1024, 8192, 65536))
