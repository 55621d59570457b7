"""The host's cost of a whole `comm.all_reduce`, everything but the kernel; the table is in the output (pytest -rP)."""

import json
from pathlib import Path

import pytest
from fixtures.python_process import run_python
from fixtures.stub_toolkit import make_stub_toolkit

HERE = Path(__file__).parent
LIMIT_NS = 20_000
TOP = 5


@pytest.mark.long
def test_a_call_costs_microseconds_and_the_steps_add_up(tmp_path: Path) -> None:
    toolkit = make_stub_toolkit(tmp_path / "stub")
    program = (HERE / "call_overhead.py").read_text()
    done = run_python(program, AIVOPS_TOOLKIT=toolkit, timeout=300)
    assert done.returncode == 0, done.stderr
    wholes, steps = json.loads(done.stdout)
    for name, value in wholes.items():
        print(f"all_reduce {name:<36} {value:8.0f} ns")
    whole = wholes["with buffers"]
    for name, value in sorted(steps.items(), key=lambda step: -step[1])[:TOP]:
        print(f"  {name:<45} {value:8.0f} ns  {value / whole:4.0%}")
    assert whole <= LIMIT_NS
    # The steps are all there is: what lies between them is the interpreter's.
    assert 0.6 * whole <= sum(steps.values()) <= 1.2 * whole
