"""The scripts of examples/ run with the installed AivOps."""

import sys
from pathlib import Path

from fixtures.wheels import run


def test_all_gather(repository: Path, tmp_path: Path) -> None:
    output = run(sys.executable, repository / "examples/all_gather.py", directory=tmp_path)
    assert output.count("has 8 parts: [0, 1, 2, 3, 4, 5, 6, 7]") == 8


def test_data_parallel(repository: Path, tmp_path: Path) -> None:
    program = [sys.executable, repository / "examples/data_parallel.py"]
    output = run(sys.executable, "-m", "aivops", "run", "-n", "3", *program, directory=tmp_path)
    for rank in range(3):
        assert f"[{rank}] rank {rank} of 3: y = 3.000 x -2.000\n" in output
