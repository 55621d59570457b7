"""What blocks print comes out in whole lines, whatever turns they take, and nothing of it is lost."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
memory = acl.malloc(64)
acl.write(memory, bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]))
binary = acl.load(Path(sys.argv[3]))
acl.launch(acl.function(binary, sys.argv[4]), int(sys.argv[5]), pack("Q", memory), batch=1)
acl.synchronize()
"""


@pytest.fixture(scope="module")
def printing(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("prints") / "prints.asc"
    source.write_bytes((Path(__file__).parent / "prints.asc").read_bytes())
    return compiler.build(source)


@pytest.mark.parametrize("check", ["on", "strict"])
def test_lines_of_blocks_stay_whole(toolkit: Path, printing: Path, check: str) -> None:
    blocks, turns = 8, 4
    output = run_in_process(
        PROGRAM, toolkit, printing, "in_pieces", str(blocks), AIVOPS_EMU_CHECK=check, AIVOPS_EMU_SEED="3"
    )
    # A block that has ended leaves its unfinished line where another may go on.
    ends = re.findall(r"<end of (\d)>", output)
    assert sorted(ends) == [str(block) for block in range(blocks)]
    expected: Counter[str] = Counter()
    for block in range(blocks):
        expected.update(f"block {block} in turn {turn}, done" for turn in range(turns))
        expected.update(
            {f"and more of {block}": turns, f"DumpTensor: desc {block}, block {block}: 1 2 3": turns}
        )
    assert Counter(re.sub(r"<end of \d>", "", output).splitlines()) == expected


def test_what_a_block_printed_before_its_fault_is_not_lost(toolkit: Path, printing: Path) -> None:
    assert run_in_process(PROGRAM, toolkit, printing, "half_a_line", "2").count("half") >= 1
