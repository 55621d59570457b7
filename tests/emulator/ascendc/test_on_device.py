"""Operators as authors write them, on the emulator's own machine."""

from pathlib import Path

import numpy as np
import pytest
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler

pytestmark = pytest.mark.usefixtures("acl")


@pytest.fixture(scope="module")
def operators(compiler: KernelCompiler, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("operators") / "operators.asc"
    source.write_text((repository / "tests/emulator/ascendc/operators.asc").read_text())
    return compiler.build(source, "-I", repository / "device/include")


@pytest.mark.parametrize("blocks", [1, 5, 48])
def test_double_buffered_arithmetic(acl: Acl, operators: Path, blocks: int) -> None:
    tiles, tile = 3, 1024
    x = np.random.default_rng(7).integers(-64, 64, blocks * tiles * tile).astype(np.float16)
    with acl.device(0):
        kernel = acl.function(acl.load(operators), "scale_and_sum")
        source, target, sums = (acl.malloc(size) for size in (x.nbytes, x.nbytes, blocks * 32))
        acl.write(source, x.tobytes())
        scale, bias = (int(np.float32(value).view(np.uint32)) for value in (0.5, 3))
        acl.ok(acl.launch(kernel, blocks, pack("QQQIII", source, target, sums, tiles, scale, bias)))
        acl.ok(acl.synchronize())
        y = np.frombuffer(acl.read(target, x.nbytes), np.float16)
        totals = np.frombuffer(acl.read(sums, blocks * 32), np.float32)[::8]
    expected = np.maximum(x.astype(np.float32) * 0.5 + 3, 0)
    assert (y == expected.astype(np.float16)).all()
    assert (
        totals.tolist() == expected.reshape(blocks, -1).sum(1).tolist()
    )  # halves of integers: exact in any order


def test_state_of_blocks_and_of_devices(acl: Acl, operators: Path) -> None:
    blocks = 7
    for device in (0, 1):
        with acl.device(device):
            kernel = acl.function(acl.load(operators), "count")
            turns, launches, counts = acl.malloc(blocks * 64), acl.malloc(64), acl.malloc(blocks * 32)
            acl.write(counts, bytes(blocks * 32))
            for launch in range(1, 4 + device):
                acl.ok(acl.launch(kernel, blocks, pack("QQQ", turns, launches, counts), batch=1))
                acl.ok(acl.synchronize())
                assert np.frombuffer(acl.read(turns, blocks * 64), np.uint32)[::16].tolist() == [3] * blocks
                assert np.frombuffer(acl.read(launches, 4), np.uint32)[0] == launch
