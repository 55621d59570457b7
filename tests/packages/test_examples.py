"""The scripts of examples/ run with the installed AivOps."""

import sys
from pathlib import Path

from fixtures.wheels import run


def test_all_gather(repository: Path, tmp_path: Path) -> None:
    output = run(sys.executable, repository / "examples/all_gather.py", directory=tmp_path)
    assert output.count("has 8 parts: [0, 1, 2, 3, 4, 5, 6, 7]") == 8
