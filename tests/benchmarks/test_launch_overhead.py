"""Limits of what launching from Python costs. One run, all ways side by side; the table is in the output (pytest -rP)."""

import json
import subprocess
from pathlib import Path

import pytest
from fixtures.kernel_build import build_kernels
from fixtures.python_process import run_python
from fixtures.stub_toolkit import ROOT, make_stub_toolkit

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def nanoseconds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("overhead")
    toolkit = make_stub_toolkit(folder / "stub")
    kernels = build_kernels(ROOT / "tests/dispatch/kernels.asc", folder / "kernels.o", "dav-c220-vec")
    loop = folder / "launch_loop.so"
    command = [
        "cc",
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{ROOT / 'host/cann/include'}",
        HERE / "launch_loop.c",
        "-o",
        loop,
    ]
    subprocess.run(list(map(str, command)), check=True)
    program = (HERE / "launch_overhead.py").read_text()
    done = run_python(program, kernels, loop, AIVOPS_TOOLKIT=toolkit, timeout=300)
    assert done.returncode == 0, done.stderr
    figures: dict[str, float] = json.loads(done.stdout)
    for name, value in figures.items():
        print(f"{name:<32} {value:8.0f} ns  {value - figures['C loop']:+8.0f}")
    return figures


@pytest.mark.long
def test_a_prepared_launch_is_nearly_free(nanoseconds: dict[str, float]) -> None:
    assert nanoseconds["prepared"] - nanoseconds["C loop"] <= 200


@pytest.mark.long
def test_24_arguments_packed_per_call(nanoseconds: dict[str, float]) -> None:
    assert nanoseconds["prepared, 24 arguments packed"] - nanoseconds["C loop"] <= 800


@pytest.mark.long
def test_ctypes_costs_five_times_as_much(nanoseconds: dict[str, float]) -> None:
    ours = nanoseconds["prepared"] - nanoseconds["C loop"]
    assert nanoseconds["ctypes, prepared"] - nanoseconds["C loop"] >= 5 * ours


@pytest.mark.long
def test_importing_costs_at_most_three_starts_of_the_interpreter(tmp_path: Path) -> None:
    def best(program: str) -> float:
        time_it = f"""
import subprocess, sys, time
best = 1e9
for _ in range(15):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", {program!r}], check=True)
    best = min(best, time.perf_counter() - started)
print(best)
"""
        return float(run_python(time_it).stdout)

    nothing, ours = best("pass"), best("import aivops")
    print(f"python -c pass {nothing * 1e3:.1f} ms, import aivops {(ours - nothing) * 1e3:+.1f} ms")
    assert ours - nothing <= 3 * nothing
