"""Kernels that signal through pointers of their own: blocks take turns, faults between them show, right ones pass."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

SEEDS = (0, 1, 7)  # two that choose uniformly, one by priorities

# Two devices with `blocks` members each; prints what each call leaves in the rows, or the message of a failure.
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
kernel, blocks, calls = sys.argv[4], int(sys.argv[5]), int(sys.argv[6])
rows, flags = [], []
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
    row, flag = acl.malloc(512 * blocks), acl.malloc(64 * blocks)
    acl.write(flag, bytes(64 * blocks))
    rows += [row + 512 * block for block in range(blocks)]
    flags += [flag + 64 * block for block in range(blocks)]
binary = acl.load(Path(sys.argv[3]))
fill = [0] * (8 - 2 * blocks)
results = []
for call in range(calls):
    for device in (0, 1):
        acl.set_device(device)
        ring = pack("QQQQQQQQQQQQQQQQIIi", *rows, *fill, *flags, *fill, device * blocks, 2 * blocks, call + 1)
        acl.ok(acl.launch(acl.function(binary, kernel), blocks, ring, batch=1, timeout_us=20000000))
    for device in (0, 1):
        acl.set_device(device)
        code = acl.synchronize()
        if code:
            results.append([code, acl.message()])
    if results and results[-1][0]:
        break
    for device in (0, 1):
        acl.set_device(device)
        results.append([0, acl.read(rows[device * blocks], 512 * blocks).hex()])
print(json.dumps(results))
"""

# One block waits for a member that no launch has.
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
row, flag = acl.malloc(1024), acl.malloc(128)
acl.write(flag, (7).to_bytes(4, "little") * 32)
ring = pack("QQQQQQQQQQQQQQQQIIi", row, row + 512, *[0] * 6, flag, flag + 64, *[0] * 6, 0, 2, 1)
acl.ok(acl.launch(acl.function(acl.load(Path(sys.argv[3])), "by_lines"), 1, ring, timeout_us=50000))
print(acl.synchronize(), acl.message())
"""


@pytest.fixture(scope="module", name="binary")
def pointer_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("pointers") / "pointers.asc"
    shutil.copy(Path(__file__).parent / "pointers.asc", source)
    return compiler.build(source, "-g")


def line_of(mark: str) -> str:
    lines = (Path(__file__).parent / "pointers.asc").read_text().splitlines()
    return f"pointers.asc:{next(n for n, line in enumerate(lines, 1) if line.endswith(f'[{mark}]'))})"


def run(
    toolkit: Path, binary: Path, kernel: str, blocks: int, check: str, seed: int
) -> list[tuple[int, str]]:
    settings = {"AIVOPS_EMU_CHECK": check, "AIVOPS_EMU_SEED": str(seed)}
    printed = run_in_process(RUN, toolkit, binary, kernel, blocks, 3, **settings)
    return [(code, text) for code, text in json.loads(printed)]


@pytest.mark.parametrize("kernel", ["by_lines", "by_caches", "copied_flag"])
@pytest.mark.parametrize("blocks", [1, 4])
@pytest.mark.parametrize(("check", "seed"), [("on", 0), ("late", 1), *(("strict", seed) for seed in SEEDS)])
def test_what_is_right_passes(
    toolkit: Path, binary: Path, kernel: str, blocks: int, check: str, seed: int
) -> None:
    results = run(toolkit, binary, kernel, blocks, check, seed)
    assert [code for code, _ in results] == [0] * 6, results
    size = 2 * blocks
    for call in range(3):
        rows = np.frombuffer(
            bytes.fromhex("".join(text for _, text in results[2 * call : 2 * call + 2])), np.int32
        )
        own, others = rows.reshape(size, 2, 64).transpose(1, 0, 2)
        expected = np.broadcast_to(100 * (call + 1) + np.arange(size)[:, None], (size, 64))
        if kernel == "copied_flag":
            assert (own == expected).all()
        assert (others == np.roll(expected, 1, axis=0)).all()


@pytest.mark.parametrize("kernel", ["no_barrier", "no_barrier_by_caches"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_missing_barrier_before_the_flag(toolkit: Path, binary: Path, kernel: str, seed: int) -> None:
    code, message = run(toolkit, binary, kernel, 2, "strict", seed)[0]
    assert code == 507035
    assert "racecheck: nothing orders two accesses to GM at 0x" in message
    assert line_of("write") in message
    assert line_of("read") in message


@pytest.mark.parametrize("check", ["on", "strict"])
def test_a_flag_that_nobody_sets(toolkit: Path, binary: Path, check: str) -> None:
    settings = {"AIVOPS_EMU_CHECK": check, "AIVOPS_EMU_TIMEOUT_INTERVAL_US": "1000"}
    printed = run_in_process(ALONE, toolkit, binary, **settings)
    assert printed.startswith("507034 "), printed
    assert "deadlock: nothing moved for 0." in printed
    assert "block 0 polls 0x" in printed
    assert "byte 64 of [" in printed
    assert ", where it finds 0x7 0x7 0x7 0x7 …" in printed
    assert line_of("clean") in printed
