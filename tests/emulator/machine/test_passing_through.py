"""What passes through the unified buffer is copied once where nobody can tell; these kernels could tell."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler

pytestmark = pytest.mark.usefixtures("acl")

TILE = 16384
Bytes = npt.NDArray[np.uint8]


@pytest.fixture(scope="module")
def passing_through(
    compiler: KernelCompiler, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    source = tmp_path_factory.mktemp("passing_through") / "passing_through.asc"
    shutil.copy(Path(__file__).parent / source.name, source)
    return compiler.build(source, f"-I{repository / 'device/include'}")


def run(acl: Acl, binary: Path, kernel: str, to: Bytes, source: Bytes, count: int, blocks: int = 1) -> None:
    """Runs it on copies of both arrays in device memory, which come back in them."""
    with acl.device(0):
        places = [acl.malloc(to.nbytes), acl.malloc(source.nbytes)]
        for place, array in zip(places, (to, source), strict=True):
            acl.write(place, array.tobytes())
        acl.ok(
            acl.launch(acl.function(acl.load(binary), kernel), blocks, pack("QQQ", *places, count), batch=1)
        )
        acl.ok(acl.synchronize())
        for place, array in zip(places, (to, source), strict=True):
            array[:] = np.frombuffer(acl.read(place, array.nbytes), np.uint8)
            acl.free(place)


def random_bytes(count: int) -> Bytes:
    return np.random.default_rng(count).integers(1, 256, count, dtype=np.uint8)


@pytest.mark.parametrize("count", [1, 1023, 1024, TILE - 1, 4 << 20, (4 << 20) + 4099])
def test_a_stream_is_stored_twice(acl: Acl, passing_through: Path, count: int) -> None:
    to, source = np.zeros(2 * count, np.uint8), random_bytes(count)
    run(acl, passing_through, "twice", to, source, count)
    assert np.array_equal(to, np.tile(source, 2))


def test_a_tile_moves_over_itself(acl: Acl, passing_through: Path) -> None:
    to = random_bytes(2 * TILE)
    expected = to.copy()
    expected[TILE // 2 : TILE // 2 + TILE] = to[:TILE]
    run(acl, passing_through, "shift", to, random_bytes(32), TILE)
    assert np.array_equal(to, expected)


def test_tiles_change_places(acl: Acl, passing_through: Path) -> None:
    one, other = random_bytes(TILE), random_bytes(TILE)[::-1].copy()
    expected = other.copy(), one.copy()
    run(acl, passing_through, "swap", one, other, TILE)
    assert np.array_equal(one, expected[0])
    assert np.array_equal(other, expected[1])


@pytest.mark.parametrize("kernel", ["own_code", "own_code_after_v", "own_code_after_mte3"])
def test_the_kernels_own_code_writes_behind_a_load(acl: Acl, passing_through: Path, kernel: str) -> None:
    to, source = np.zeros(TILE, np.uint8), random_bytes(TILE)
    expected = source.copy()
    run(acl, passing_through, kernel, to, source, TILE)
    assert np.array_equal(to, expected)
    assert not source.any()


def test_a_byte_changes_on_the_way(acl: Acl, passing_through: Path) -> None:
    to, source = np.zeros(TILE, np.uint8), random_bytes(TILE)
    expected = source.copy()
    expected[1000] += 1
    run(acl, passing_through, "one_byte", to, source, TILE)
    assert np.array_equal(to, expected)


def test_half_a_tile_is_loaded_again(acl: Acl, passing_through: Path) -> None:
    to, source = np.zeros(TILE, np.uint8), random_bytes(2 * TILE)
    expected = np.concatenate([source[: TILE // 2], source[TILE : TILE + TILE // 2]])
    run(acl, passing_through, "second_half", to, source, TILE)
    assert np.array_equal(to, expected)


def test_many_tiles_wait_at_once(acl: Acl, passing_through: Path) -> None:
    to, source = np.zeros(6 * TILE, np.uint8), random_bytes(6 * TILE)
    expected = source.reshape(6, TILE)[::-1].ravel()
    run(acl, passing_through, "turn_round", to, source, 6 * TILE)
    assert np.array_equal(to, expected)


def test_another_block_writes_once_it_may(acl: Acl, passing_through: Path) -> None:
    to, source = np.zeros(TILE, np.uint8), random_bytes(TILE)
    expected = source.copy()
    run(acl, passing_through, "after_the_other", to, source, TILE, blocks=2)
    assert np.array_equal(to, expected)
    assert not source.any()
