"""The collectives between processes against mpi4py on Open MPI and against torch's Gloo, in one run.

    python tests/benchmarks/collectives_against_others.py [--ranks 2,4,8] [--sizes 4096,…] [--json FILE]

needs Open MPI's mpirun; mpi4py and torch are measured where they are installed, and named where they are not.
Every process holds all contenders at once. Their repetitions are interleaved, the time of a repetition is that of
the slowest rank, and a figure is the median over repetitions. Table 1 has `aivops.Buffer`s of `comm.empty()` in and
out, table 2 numpy arrays; the others take their own arrays in both. Results are compared with each other once per
line.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aivops
import numpy as np

COLLECTIVES = ("all_gather", "all_reduce", "reduce_scatter", "all_to_all", "broadcast")
RANKS = (2, 4, 8)
SIZES = tuple(4096 << (2 * step) for step in range(8))
MOST_BYTES = 1 << 30  # over all ranks, inputs and outputs
REPETITIONS = 7
SECONDS_PER_REPETITION = 0.03
MOST_CALLS = 50
AIMS = {"Open MPI": 1.5, "Gloo": 2.0}
FLOOR, FLOOR_FROM = 0.8, 64 << 10


class Shape(NamedTuple):
    """Elements of float32 on one rank; a size in bytes is that of the larger side."""

    input: int
    output: int


def shape_of(collective: str, size: int, ranks: int) -> Shape:
    whole = size // 4
    part = whole // ranks
    return {
        "all_gather": Shape(part, part * ranks),
        "all_reduce": Shape(whole, whole),
        "reduce_scatter": Shape(part * ranks, part),
        "all_to_all": Shape(part * ranks, part * ranks),
        "broadcast": Shape(whole, whole),
    }[collective]


class Contender(NamedTuple):
    call: Callable[[], object]
    result: Callable[[], np.ndarray]


# ---- One rank ----


def aivops_buffers(comm: Any, collective: str, x: np.ndarray, outputs: int) -> Contender:
    target = comm.empty(outputs)
    source = target if collective == "broadcast" else comm.empty(x.size)
    source.copy_from(x)
    return Contender(aivops_call(comm, collective, source, target), target.to_numpy)


def aivops_arrays(comm: Any, collective: str, x: np.ndarray, outputs: int) -> Contender:
    target = x.copy() if collective == "broadcast" else np.zeros(outputs, np.float32)
    source = target if collective == "broadcast" else x
    return Contender(aivops_call(comm, collective, source, target), lambda: target)


def aivops_call(comm: Any, collective: str, source: Any, target: Any) -> Callable[[], object]:
    n = comm.size
    if collective == "all_gather":
        target = (
            target.reshape(n, -1) if isinstance(target, np.ndarray) else target.reshape(n, source.shape[0])
        )
    if collective == "all_to_all":
        part = source.shape[0] // n
        source, target = source.reshape(n, part), target.reshape(n, part)
    call = getattr(comm, collective)
    return lambda: call(source, out=target)


def open_mpi(comm: Any, collective: str, x: np.ndarray, outputs: int) -> Contender:
    target = np.zeros(outputs, np.float32)
    calls: dict[str, Callable[[], object]] = {
        "all_gather": lambda: comm.Allgather(x, target),
        "all_reduce": lambda: comm.Allreduce(x, target),
        "reduce_scatter": lambda: comm.Reduce_scatter_block(x, target),
        "all_to_all": lambda: comm.Alltoall(x, target),
        "broadcast": lambda: comm.Bcast(target),
    }
    if collective == "broadcast" and comm.Get_rank() == 0:
        target[:] = x
    return Contender(calls[collective], lambda: target)


def gloo(torch: Any, collective: str, x: np.ndarray, outputs: int, rank: int) -> Contender:
    dist = torch.distributed
    source, target = torch.from_numpy(x), torch.zeros(outputs)

    def all_reduce() -> None:
        # It works in place, so that the copy belongs to the call as it does for the others.
        target.copy_(source)
        dist.all_reduce(target)

    calls: dict[str, Callable[[], object]] = {
        "all_gather": lambda: dist.all_gather_into_tensor(target, source),
        "all_reduce": all_reduce,
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(target, source),
        "all_to_all": lambda: dist.all_to_all_single(target, source),
        "broadcast": lambda: dist.broadcast(target, 0),
    }
    if collective == "broadcast" and rank == 0:
        target.copy_(source)
    return Contender(calls[collective], target.numpy)


def run_rank(sizes: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    comm = aivops.Communicator.from_env()
    mpi = open_mpi_world()
    torch = torch_with_gloo(comm)
    rng = np.random.default_rng(comm.rank)
    for collective in COLLECTIVES:
        for size in sizes:
            shape = shape_of(collective, size, comm.size)
            if 4 * (shape.input + shape.output) * comm.size > MOST_BYTES:
                continue
            x = rng.integers(-100, 100, shape.input).astype(np.float32)
            contenders = {
                "AivOps buffers": aivops_buffers(comm, collective, x, shape.output),
                "AivOps numpy": aivops_arrays(comm, collective, x, shape.output),
            }
            if mpi is not None:
                contenders["Open MPI"] = open_mpi(mpi, collective, x, shape.output)
            if torch is not None:
                contenders["Gloo"] = gloo(torch, collective, x, shape.output, comm.rank)
            yield {
                "collective": collective,
                "ranks": comm.size,
                "bytes": size,
                "seconds": measure(comm, contenders),
            }
    comm.close()


def measure(comm: Any, contenders: dict[str, Contender]) -> dict[str, float]:
    """Median seconds of a call by contender."""
    calls = {}
    for name, contender in contenders.items():
        for _ in range(2):
            comm.barrier()
            took = slowest(comm, timed(contender.call, 1))
        calls[name] = int(min(max(SECONDS_PER_REPETITION / took, 1), MOST_CALLS))
    results = {name: contender.result() for name, contender in contenders.items()}
    first = results["AivOps buffers"]
    different = [name for name, result in results.items() if not np.array_equal(result, first)]
    if different:
        raise SystemExit(f"{', '.join(different)}: another result than AivOps")
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(REPETITIONS):
        for name, contender in contenders.items():
            comm.barrier()
            times[name].append(slowest(comm, timed(contender.call, calls[name])))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def timed(call: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - started) / count


def slowest(comm: Any, seconds: float) -> float:
    return float(comm.all_gather(np.float64(seconds)).max())


def open_mpi_world() -> Any:
    mpi = optional_module("mpi4py.MPI")
    return None if mpi is None else mpi.COMM_WORLD


def torch_with_gloo(comm: aivops.Communicator) -> Any:
    torch = optional_module("torch")
    if torch is not None:
        torch.set_num_threads(1)
        torch.distributed.init_process_group(
            "gloo", init_method=os.environ["GLOO_STORE"], rank=comm.rank, world_size=comm.size
        )
    return torch


def optional_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# ---- The command ----


def start_ranks(ranks: int, sizes: tuple[int, ...], folder: Path) -> list[dict[str, Any]]:
    launcher = [
        *("mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"),
        *("-np", str(ranks)),
    ]
    output = folder / f"{ranks}.json"
    environment = {**os.environ, "GLOO_STORE": f"file://{folder}/gloo-{ranks}"}
    own = [sys.executable, __file__, "--rank-output", str(output), "--sizes", ",".join(map(str, sizes))]
    subprocess.run([*launcher, *own], env=environment, check=True)
    lines: list[dict[str, Any]] = json.loads(output.read_text())
    return lines


def print_table(title: str, own: str, lines: list[dict[str, Any]]) -> None:
    others = [name for name in AIMS if name in lines[0]["seconds"]]
    print(f"\n{title}\n")
    head = f"{'collective':<15} {'ranks':>5} {'bytes':>9} {'AivOps µs':>11}"
    print(head + "".join(f" {name + ' µs':>12} {'ratio':>6}" for name in others))
    for line in lines:
        seconds = line["seconds"]
        text = f"{line['collective']:<15} {line['ranks']:>5} {line['bytes']:>9} {seconds[own] * 1e6:>11.1f}"
        print(text + "".join(f" {seconds[o] * 1e6:>12.1f} {seconds[o] / seconds[own]:>6.2f}" for o in others))
    for other in others:
        ratios = [line["seconds"][other] / line["seconds"][own] for line in lines]
        long = [r for r, line in zip(ratios, lines, strict=True) if line["bytes"] >= FLOOR_FROM]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        below = sum(r < FLOOR for r in long)
        print(
            f"{other}'s time / AivOps': geometric mean {mean:.2f} (aim {AIMS[other]}), from {FLOOR_FROM} bytes up "
            f"least {min(long, default=math.nan):.2f}, {below} of {len(long)} below {FLOOR}"
        )


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=numbers, default=RANKS)
    parser.add_argument("--sizes", type=numbers, default=SIZES)
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--rank-output", type=Path, help=argparse.SUPPRESS)  # a rank of this very program
    args = parser.parse_args()
    if args.rank_output is not None:
        lines = list(run_rank(args.sizes))
        if lines and int(os.environ["OMPI_COMM_WORLD_RANK"]) == 0:
            args.rank_output.write_text(json.dumps(lines))
        return
    if shutil.which("mpirun") is None:
        raise SystemExit("collectives_against_others: mpirun is missing; install Open MPI")
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for ranks in args.ranks for line in start_ranks(ranks, args.sizes, Path(folder))]
    missing = [
        f"{package} ({name})"
        for name, package in (("Open MPI", "mpi4py"), ("Gloo", "torch"))
        if name not in lines[0]["seconds"]
    ]
    if missing:
        print(f"not measured, because it is not installed: {', '.join(missing)}")
    print_table("1. aivops.Buffer in and out", "AivOps buffers", lines)
    print_table("2. numpy arrays in and out", "AivOps numpy", lines)
    if args.json is not None:
        args.json.write_text(json.dumps({"schema": 1, "lines": lines}, indent=1))


if __name__ == "__main__":
    main()
