"""On this machine's own processor: what a switch between blocks has to keep."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler
from emulator.ports.registers import BLOCKS, check_numbers, check_rounding

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def registers(compiler: KernelCompiler, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(shutil.copy(HERE / "registers.asc", tmp_path_factory.mktemp("registers")))
    return compiler.build(source, f"-I{repository / 'device/include'}")


@pytest.mark.parametrize(
    ("kernel", "check"), [("keep_numbers", check_numbers), ("keep_rounding", check_rounding)]
)
def test_a_block_keeps_its_registers(
    acl: Acl, registers: Path, kernel: str, check: Callable[[bytes], None]
) -> None:
    with acl.device(0):
        out = acl.malloc(BLOCKS * 32)
        acl.ok(acl.launch(acl.function(acl.load(registers), kernel), BLOCKS, pack("Q", out), batch=1))
        acl.ok(acl.synchronize())
        check(acl.read(out, BLOCKS * 32))
