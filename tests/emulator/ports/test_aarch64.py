"""The toolkit, the verifier and the collectives built for aarch64 and run under qemu-user.

qemu runs one instruction after the other as x86_64 would, so what a weaker memory order allows does not happen here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aivops
import numpy as np
import pytest
from collectives.reference import bits, fold, numbers
from elftools.elf.elffile import ELFFile
from emulator.conftest import KernelCompiler
from emulator.ports.registers import check_numbers, check_rounding

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("aarch64")]

HERE = Path(__file__).parent
TOOLCHAIN = HERE / "aarch64-linux-gnu.cmake"
SYSROOT = Path("/usr/aarch64-linux-gnu")
CXX = "aarch64-linux-gnu-g++"
EMULATOR = ("qemu-aarch64", "-L", str(SYSROOT))
EM_AARCH64 = 183
VERIFY = Path(aivops.__file__).parent / "bin/aivops-verify"
EXCEPTION, TIMEOUT, TRAP, CUBE_EXCEPTION = 507035, 507034, 507036, 507015


@dataclass(frozen=True)
class CrossCompiler(KernelCompiler):
    """The toolkit's drivers under qemu."""

    @property
    def include(self) -> Path:
        return self.toolkit / "aarch64-linux/asc/include"

    def run(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return super().run(*EMULATOR, *arguments, cwd=cwd)


@dataclass(frozen=True)
class Port:
    """What was built: a tree, and the kernels installed from it."""

    tree: Path
    kernels: Path

    @property
    def toolkit(self) -> Path:
        return self.tree / "aivops/toolkit"

    @property
    def compiler(self) -> CrossCompiler:
        return CrossCompiler(self.toolkit, {"AIVOPS_EMU_CXX": CXX})

    def command(self, program: str, *arguments: object) -> list[str]:
        return [*EMULATOR, str(self.tree / program), *map(str, arguments)]

    def run(self, program: str, *arguments: object, given: str = "", **variables: str) -> str:
        done = subprocess.run(
            self.command(program, *arguments),
            input=given,
            env={**os.environ, "AIVOPS_EMU_MEMORY": "256M", **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def build(*command: object) -> None:
    environment = {**os.environ, "AIVOPS_EMU_CXX": CXX}
    done = subprocess.run(
        [str(part) for part in command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def port(build_dir: Path) -> Port:
    for tool in (CXX, EMULATOR[0]):
        if shutil.which(tool) is None:
            pytest.skip(
                f"{tool} is not installed; on Debian: apt-get install g++-aarch64-linux-gnu qemu-user"
            )
    tree = build_dir / "aarch64"
    build(
        *("cmake", "-S", HERE, "-B", tree, "-G", "Ninja", "--toolchain", TOOLCHAIN),
        *("-DAIVOPS_ARCHITECTURES=dav-c220-vec", "-DCMAKE_BUILD_TYPE=Release"),
    )
    build("cmake", "--build", tree)
    installed = tree / "installed"
    build("cmake", "--install", tree, "--prefix", installed)
    return Port(tree, installed / "kernels")


def programs_and_libraries(port: Port) -> Iterator[Path]:
    yield port.tree / "aivops/host/tools/aivops-verify"
    yield from (port.toolkit / "tools/ccec_compiler/bin").iterdir()
    yield from (port.toolkit / "lib64").iterdir()
    yield from port.kernels.rglob("*.o")


def test_everything_is_for_aarch64(port: Port) -> None:
    files = list(programs_and_libraries(port))
    assert len(files) > 30
    for file in files:
        with file.open("rb") as stream:
            assert ELFFile(stream).header["e_machine"] == "EM_AARCH64", file
        assert struct.unpack_from("<H", file.read_bytes(), 18) == (EM_AARCH64,), file
    assert {file.parents[1].name for file in port.kernels.rglob("*.o")} == {"emulated-aarch64"}
    description = json.loads((port.toolkit / "share/info/aivops/toolkit.json").read_text())
    assert (description["machine"], description["e_machine"]) == ("emulated-aarch64", EM_AARCH64)
    manifest = json.loads((port.kernels / "manifest.json").read_text())
    assert {binary["machine"] for binary in manifest["binaries"]} == {"emulated-aarch64"}


def test_the_verifier_finds_nothing_in_the_kernels(port: Port) -> None:
    expected = ("--profile", "aiv", "--machine", "emulated-aarch64", "--fail-on", "warning")
    output = port.run("aivops/host/tools/aivops-verify", *expected, port.kernels)
    assert output.endswith(" kernels: 0 errors, 0 warnings\n")


def spoilt(kernels: Path, folder: Path) -> list[Path]:
    """A binary, and copies of it that lack something."""
    content = (kernels / "emulated-aarch64/dav-c220-vec/all_gather.o").read_bytes()
    copies = {
        "whole": content,
        "cut": content[: len(content) // 2],
        "unnamed": content.replace(b".ascend.meta.", b".ascend.mete."),
        "empty": b"",
    }
    for name, copy in copies.items():
        (folder / f"{name}.o").write_bytes(copy)
    return [folder / f"{name}.o" for name in copies]


def test_the_verifier_says_what_it_says_here(port: Port, tmp_path: Path) -> None:
    files = own = spoilt(port.kernels, tmp_path)
    if corpus := os.environ.get("AIVOPS_CORPUS"):
        files = own + sorted(Path(corpus).rglob("*.o"))
    for file in files:
        arguments = ("--profile", "aiv", "--format", "json", str(file))
        here, there = (
            subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
            for program in ([str(VERIFY)], port.command("aivops/host/tools/aivops-verify"))
        )
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
        assert file not in own or (here.returncode == 0) == (file.stem == "whole"), here.stdout


def test_c_hosts_see_what_is_documented(port: Port, small_kernels: Path, tmp_path: Path) -> None:
    config = tmp_path / "acl.json"
    config.write_text('{"err_msg_mode": "1"}')
    assert port.run("documented_flow", small_kernels) == "done\n"
    assert port.run("documented_mistakes", small_kernels, config).endswith(" calls, 0 wrong\n")


@pytest.fixture(scope="module")
def small_kernels(port: Port, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(shutil.copy(HERE.parent / "kernels.asc", tmp_path_factory.mktemp("small")))
    return port.compiler.build(source, "-g")


@dataclass(frozen=True)
class Ending:
    """How a launch ended."""

    code: int
    memory: bytes
    message: str


def launch(port: Port, kernels: Path, *lines: str, **variables: str) -> list[Ending]:
    given = "".join(f"{line}\n" for line in lines)
    output = port.run("launches", kernels, given=given, AIVOPS_EMU_TIMEOUT_INTERVAL_US="1000", **variables)
    endings = []
    for code, memory, message in re.findall(r"^(\d+) (\S+) (.*)$", output, re.MULTILINE):
        endings.append(Ending(int(code), b"" if memory == "-" else bytes.fromhex(memory), message))
    assert len(endings) == len(lines), output
    return endings


FAULTS = [
    ("wild_pointer 4 1 0 u64:0x10", EXCEPTION, "touches an address that it must not"),
    ("trap_here 4 1 0 u64:0", TRAP, "trap"),
    ("recurse 4 1 0 u64:10000", EXCEPTION, "overflows its stack"),
    ("set_twice 4 1 0 u64:0", EXCEPTION, "event id 0 is already set"),
    ("miss 4 1 0 u64:0", TIMEOUT, "3 of 4 blocks wait in SyncAll"),
    ("silent 4 1 0 u64:0", CUBE_EXCEPTION, ".ascend.meta.silent"),
    ("endless 1 0 20000 u64:0", TIMEOUT, "never comes back"),
    ("relay 1 0 20000 gm:32 gm:32 u32:1 u32:2", TIMEOUT, "block 0 polls 0x"),
    ("wide_poll 1 0 20000 gm:256 u32:1 u32:256", TIMEOUT, "nothing moved"),
]
EMPTY = "empty 48 1 0 u64:0"


def test_what_kernels_do_wrong_becomes_an_error_and_the_device_goes_on(
    port: Port, small_kernels: Path
) -> None:
    lines = [line for _ in range(3) for fault in FAULTS for line in (fault[0], EMPTY)]
    endings = launch(port, small_kernels, *lines)
    for (line, code, words), wrong, after in zip(FAULTS * 3, endings[::2], endings[1::2], strict=True):
        assert wrong.code == code, (line, wrong)
        assert words in wrong.message, (line, wrong)
        assert after.code == 0, (line, after)


def test_reports_name_the_authors_line(port: Port, small_kernels: Path) -> None:
    (ending,) = launch(port, small_kernels, "wild_pointer 1 0 0 u64:0x10")
    place = re.search(r"kernels\.asc:(\d+)\)", ending.message)
    assert place is not None, ending
    lines = (HERE.parent / "kernels.asc").read_text().splitlines()
    assert any("address = 1" in line for line in lines[int(place[1]) - 1 : int(place[1]) + 1])


def test_flags_move_in_words(port: Port) -> None:
    assert port.run("gm_words") == "every piece, no halves\n"


def test_blocks_meet(port: Port, small_kernels: Path) -> None:
    (ending,) = launch(port, small_kernels, "meet 48 1 0 gm:1536")
    assert ending.code == 0
    found = np.frombuffer(ending.memory, np.uint32).reshape(48, 8)[:, 0]
    assert (found == (np.arange(48) + 1) % 48 + 1).all()


def test_a_block_keeps_its_registers_and_its_rounding(port: Port, tmp_path: Path) -> None:
    source = Path(shutil.copy(HERE / "registers.asc", tmp_path))
    kernels = port.compiler.build(source, f"-I{HERE.parents[2] / 'device/include'}")
    numbers_kept, rounding = launch(
        port, kernels, "keep_numbers 48 1 0 gm:1536", "keep_rounding 48 1 0 gm:1536"
    )
    assert (numbers_kept.code, rounding.code) == (0, 0)
    check_numbers(numbers_kept.memory)
    check_rounding(rounding.memory)


# By kind of check: kernels of ../faulty, and what is said of the wrong ones.
UNORDERED = [
    ("no_event_before_store", "nothing orders two accesses to UB", 1),
    ("no_event_before_reload", "two accesses to UB", 1),
    ("no_barrier_between_computes", "two accesses to UB", 1),
    ("store_not_cleaned", "a read past the data cache", 1),
    ("no_sync_all", "device 0, block", 4),
]


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_strict_mode_finds_what_is_not_ordered(port: Port, tmp_path: Path, seed: str) -> None:
    folder = HERE.parent / "faulty/kernels"
    shutil.copy(folder / "twins.h", tmp_path)
    # Of one rank, whose windows nobody looks at: 2 048 elements, in the first call.
    arguments = "gm:8 gm:8 gm:8192 gm:8192 gm:8192 gm:64 u32:0 u32:1 u32:2048 u32:1"
    for kernel, words, blocks in UNORDERED:
        kernels = port.compiler.build(Path(shutil.copy(folder / f"{kernel}.asc", tmp_path)))
        lines = [f"{kernel}_{ending} {blocks} 1 0 {arguments}" for ending in ("wrong", "right")]
        wrong, right = launch(port, kernels, *lines, AIVOPS_EMU_CHECK="strict", AIVOPS_EMU_SEED=seed)
        assert wrong.code == EXCEPTION, (kernel, wrong)
        assert words in wrong.message, (kernel, wrong)
        assert right.code == 0, (kernel, right)


def test_late_pipes_give_wrong_data_where_nothing_orders_them(port: Port, tmp_path: Path) -> None:
    kernels = port.compiler.build(Path(shutil.copy(HERE.parent / "machine/late.asc", tmp_path)))
    turns = 40
    found = {}
    for kernel in ("store_twice", "store_twice_in_order", "double_twice", "double_twice_in_order"):
        lines = [f"{kernel} 1 1 0 gm:8192 gm:8192"] * turns
        endings = launch(port, kernels, *lines, AIVOPS_EMU_CHECK="late", AIVOPS_EMU_SEED="1")
        assert {ending.code for ending in endings} == {0}, endings
        found[kernel] = {int(np.frombuffer(ending.memory, np.int32)[0]) for ending in endings}
    assert (found["store_twice_in_order"], found["double_twice_in_order"]) == ({2}, {4})
    assert len(found["store_twice"]) > 1
    assert len(found["double_twice"]) > 1


def collective_calls(
    ranks: int, seed: int
) -> dict[str, tuple[str, list[np.ndarray | None], list[np.ndarray | None]]]:
    """By name: what collectives.cpp reads in `calls`, and every rank's input and expected output."""
    everywhere = range(ranks)
    last = ranks - 1
    x = [numbers((40_003,), np.float32, seed + r) for r in everywhere]
    wide = [numbers((ranks, 5001), np.int32, seed + r) for r in everywhere]
    raw = [bits((ranks, 777), np.uint8, seed + r) for r in everywhere]
    half = [numbers((3001,), np.float16, seed + r) for r in everywhere]
    lengths = [5, 0, 3000, 17][:ranks]
    x_rows = [x[r][: lengths[r]] for r in everywhere]
    ends = np.cumsum(lengths)
    exchanged = [[x[i][: (i + 2 * j) % 5 * 100] for j in everywhere] for i in everywhere]
    matrix = " ".join(str(len(part)) for row in exchanged for part in row)
    row = " ".join(map(str, lengths))

    def on(root: int, array: np.ndarray) -> list[np.ndarray | None]:
        return [array if r == root else None for r in everywhere]

    return {
        "all_gather": ("all_gather float32 40003 sum 0 0", list(x), [np.stack(x)] * ranks),
        "all_gather_v": (
            f"all_gather_v float32 0 sum 0 0 {row}",
            list(x_rows),
            [np.concatenate(x_rows)] * ranks,
        ),
        "all_reduce": ("all_reduce float32 40003 sum 0 0", list(x), [fold(x, "sum")] * ranks),
        "all_reduce_half": ("all_reduce float16 3001 prod 0 0", list(half), [fold(half, "prod")] * ranks),
        "reduce_scatter": (
            "reduce_scatter int32 5001 sum 0 0",
            list(wide),
            [fold(wide, "sum")[r] for r in everywhere],
        ),
        "reduce_scatter_v": (
            f"reduce_scatter_v float32 0 max 0 0 {row}",
            [x[r][: ends[-1]] for r in everywhere],
            list(np.split(fold([a[: ends[-1]] for a in x], "max"), ends[:-1])),
        ),
        "all_to_all": (
            "all_to_all uint8 777 sum 0 0",
            list(raw),
            [np.stack([raw[i][r] for i in everywhere]) for r in everywhere],
        ),
        "all_to_all_v": (
            f"all_to_all_v float32 0 sum 0 0 {matrix}",
            [np.concatenate(exchanged[r]) for r in everywhere],
            [np.concatenate([exchanged[i][r] for i in everywhere]) for r in everywhere],
        ),
        "broadcast": (f"broadcast float32 40003 sum {last} 0", on(last, x[last]), [x[last]] * ranks),
        "scatter": ("scatter int32 5001 sum 1 0", on(1, wide[1]), list(wide[1])),
        "gather": (f"gather float32 40003 sum {last} 0", list(x), on(last, np.stack(x))),
        "reduce": (f"reduce int32 {ranks * 5001} min 1 0", list(wide), on(1, fold(wide, "min"))),
        "send": (f"send/recv float32 40003 sum {last} 0", on(last, x[1]), on(0, x[1])),
        "barrier": ("barrier uint8 0 sum 0 0", [None] * ranks, [None] * ranks),
    }


def run_collectives(port: Port, folder: Path, ranks: int, seed: int, **variables: str) -> None:
    calls = collective_calls(ranks, seed)
    with (folder / "calls").open("w") as file:
        for name, (line, inputs, _) in calls.items():
            file.write(f"{name} {line}\n")
            for rank, array in enumerate(inputs):
                (folder / f"{name}.{rank}.in").write_bytes(b"" if array is None else array.tobytes())
    arguments: list[Any] = [port.toolkit, port.kernels, ranks, 48, folder]
    assert port.run("collectives", *arguments, **variables) == "done\n"
    for name, (_, _, outputs) in calls.items():
        for rank, array in enumerate(outputs):
            file = folder / f"{name}.{rank}.out"
            found = file.read_bytes() if file.exists() else b""
            assert found == (b"" if array is None else array.tobytes()), (name, rank)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_collective_gives_what_numpy_says(port: Port, tmp_path: Path, ranks: int) -> None:
    run_collectives(port, tmp_path, ranks, 1)


@pytest.mark.parametrize(("ranks", "seed"), [(4, 1), (4, 2), (3, 3), (2, 4)])
def test_every_collective_is_clean_under_strict_checks(
    port: Port, tmp_path: Path, ranks: int, seed: int
) -> None:
    run_collectives(port, tmp_path, ranks, 10 + seed, AIVOPS_EMU_CHECK="strict", AIVOPS_EMU_SEED=str(seed))


def test_ranks_in_processes_of_their_own_meet(port: Port, tmp_path: Path) -> None:
    kernel = port.compiler.build(Path(shutil.copy(HERE.parent / "hccl/mesh_gather.asc", tmp_path)))
    command = port.command("mesh_gather_host", kernel, 70001, 10, tmp_path / "root")
    processes = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                "AIVOPS_EMU_MEMORY": "256M",
                "HCCL_BUFFSIZE": "1",
                "RANK": str(rank),
                "WORLD_SIZE": "3",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(3)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert outputs == [f"rank {rank} of 3 gathered 10 times\n" for rank in range(3)]
