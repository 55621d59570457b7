"""On this machine's own processor: what a switch between blocks has to keep, and how flags move."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
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


def test_flags_move_in_words(repository: Path, tmp_path: Path) -> None:
    program, emulator = tmp_path / "gm_words", repository / "host/emulator"
    sources = (HERE / "gm_words.cpp", emulator / "machine/gm_words.cpp")
    command = [
        "g++",
        "-std=c++20",
        "-O2",
        f"-I{emulator}",
        *map(str, sources),
        "-o",
        str(program),
        "-pthread",
    ]
    subprocess.run(command, check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == "every piece, no halves\n"


@pytest.mark.parametrize("place", [0, 1, 6, 32, 100])
@pytest.mark.parametrize("size", [1, 31, 128, 129, 1000, 8191, 8192, 8193])
def test_copies_of_the_host_take_what_they_should_and_no_more(acl: Acl, size: int, place: int) -> None:
    content = np.random.default_rng(size + place).integers(0, 256, size, np.uint8).tobytes()
    with acl.device(0):
        memory = acl.malloc(place + size + 64)
        acl.write(memory, bytes(place + size + 64))
        acl.write(memory + place, content)
        assert acl.read(memory, place + size + 64) == bytes(place) + content + bytes(64)
        assert acl.read(memory + place, size) == content
