"""Which algorithm a call runs, on how many blocks: read, asked for, refused, and brought by another package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aivops
import numpy as np
import pytest
from collectives.cases import OPERATORS, REGISTERED, Case, inputs_of, is_right, place

GroupOf = Callable[[int], aivops.LocalGroup]


def both_ways(group: aivops.LocalGroup, case: Case, how: dict[str, Any]) -> list[tuple[str, int]]:
    """The algorithm and blocks of one call at once and of one queued, whose results are right."""
    operator = OPERATORS[case.operator]
    inputs = inputs_of(case)
    expected = operator.expected(case, inputs)
    registered = (case.operator, how.get("algorithm")) in REGISTERED

    def call(comm: aivops.Communicator) -> list[tuple[str, int]]:
        x, more = inputs[comm.rank], dict(how)
        if registered:
            x = place(comm, x, 0, registered=True)
            if case.operator == "all_reduce":
                more["out"] = comm.empty(case.count, case.dtype)
        assert is_right(operator.call(comm, x, case, more), expected[comm.rank])
        plan = comm.last_plan
        work = operator.call(comm, x, case, more | {"async_op": True, "stream": aivops.Stream(comm.device)})
        assert is_right(work.wait(), expected[comm.rank])
        return [(plan.algorithm, plan.blocks), (work.algorithm, work.blocks)]

    return [way for ways in group.run(call) for way in ways]


@pytest.mark.parametrize(
    ("operator", "algorithm"), [(name, a) for name, op in OPERATORS.items() for a in op.algorithms]
)
def test_every_operator_takes_algorithm_and_blocks(group_of: GroupOf, operator: str, algorithm: str) -> None:
    case = Case(operator, 3, 3000, np.float32, seed=1)
    ways = both_ways(group_of(3), case, {"algorithm": algorithm, "blocks": 7})
    assert ways == [(algorithm, 7)] * 6


def test_point_to_point_and_barrier_take_them_too(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> list[str]:
        x, out = np.arange(5000), np.empty(5000, np.int64)
        how: dict[str, Any] = {"stream": aivops.Stream(comm.device), "async_op": True, "blocks": 2}
        work = comm.send(x, 1, **how) if comm.rank == 0 else comm.recv(0, out, **how)
        assert comm.rank == 0 or (work.wait() == x).all()
        barrier = comm.barrier(algorithm="mesh", **how)
        assert work.wait() is (None if comm.rank == 0 else out)
        assert barrier.wait() is None
        return [work.algorithm, barrier.algorithm]

    assert group_of(2).run(call) == [["channel", "mesh"]] * 2


def test_a_plan_says_what_a_call_will_do(group_of: GroupOf) -> None:
    def call(comm: aivops.Communicator) -> bool:
        same = True
        for nbytes in (4, 4096, 100_000, 1 << 20):
            expected = comm.plan("all_reduce", nbytes)
            comm.all_reduce(np.ones(nbytes // 4, np.float32))
            same &= (comm.last_plan.algorithm, comm.last_plan.blocks) == (expected.algorithm, expected.blocks)
        return same

    assert all(group_of(2).run(call))
    comm = group_of(2).communicators[0]
    assert comm.plan("all_reduce", 1 << 20, algorithm="one_shot", blocks=3).blocks == 3
    assert repr(comm.plan("broadcast", 8, algorithm="direct", blocks=1)) == "<aivops.Plan direct on 1 block>"
    assert comm.plan("all_gather", 1 << 20, registered=True).algorithm == "direct"
    assert comm.plan("all_gather", 1 << 20).algorithm == "mesh"
    assert comm.plan("broadcast", 8 << 20).algorithm == "direct"
    assert comm.plan("send", 100).algorithm == "channel"


def test_registered_arrays_are_read_where_they_lie(group_of: GroupOf) -> None:
    """Nobody asks for it: both arrays qualify and are long enough."""

    def call(comm: aivops.Communicator) -> list[str]:
        x, out = comm.empty((3, 100_000), "float32"), comm.empty((3, 100_000), "float32")
        x.fill(0)
        found = []
        for run in (
            lambda: comm.all_gather(x),
            lambda: comm.all_reduce(x, out=out),
            lambda: comm.all_reduce(x, out=x),
            lambda: comm.reduce_scatter(x),
            lambda: comm.all_to_all(x),
            lambda: comm.all_to_all(x, out=x),
            lambda: comm.all_reduce(x),
        ):
            run()
            found.append(comm.last_plan.algorithm)
        return found

    chosen = ["direct", "two_shots_direct", "two_shots_direct", "direct", "direct", "mesh", "two_shots"]
    assert group_of(3).run(call) == [chosen] * 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c: c.all_gather(np.ones(3), algorithm="ring"), "'ring', expected one of mesh, direct"),
        (lambda c: c.all_gather(np.ones(3), algorithm="direct"), r"'direct' reads x where it lies .*comm\.empty\(\)"),
        (
            lambda c: c.all_reduce(c.empty(9, "float32"), algorithm="two_shots_direct"),
            r"'two_shots_direct' reads out where it lies",
        ),
        (
            lambda c: c.all_to_all(x := c.empty((2, 9), "float32"), out=x, algorithm="direct"),
            "'direct' writes out while other ranks read x, and these two share memory; pass another out",
        ),
        (lambda c: c.barrier(algorithm="tree"), r"barrier\(\): algorithm is 'tree', expected one of mesh"),
        (lambda c: c.all_gather(np.ones(3), blocks=0), "blocks is 0, expected 1 to 65535"),
        (lambda c: c.all_gather(np.ones(3), blocks=49), "blocks is 49, expected 1 to 48, the vector cores"),
        (lambda c: c.plan("gossip", 8), "operation is 'gossip', expected one of all_gather, all_reduce"),
        (lambda c: c.plan("all_reduce", 8, algorithm="direct"), "'direct', expected one of one_shot, two_shots, one_s"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_that_way(
    group_of: GroupOf, call: Callable[[aivops.Communicator], object], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        group_of(2).run(call)


def test_unknown_options_are_refused(group_of: GroupOf) -> None:
    comm = group_of(1).communicators[0]
    with pytest.raises(
        TypeError, match=r"Communicator\.barrier\(\) got an unexpected keyword argument 'root'"
    ):
        comm.barrier(root=0)  # type: ignore[call-arg]


def test_a_mismatch_names_the_algorithms(group_of: GroupOf) -> None:
    with pytest.raises(
        aivops.CallMismatchError, match=r"algorithm (one_shot|two_shots).*algorithm (one|two)_shot"
    ):
        group_of(2).run(
            lambda c: c.all_reduce(np.ones(9, np.float32), algorithm=("one_shot", "two_shots")[c.rank])
        )


# ---- Algorithms of other packages. ----


@pytest.mark.parametrize(
    ("name", "constraints", "words"),
    [
        *[(name, {}, "expected 1 to 64 printable characters") for name in ("", " ", "a\0b", "\n", "a" * 65)],
        ("ring", {"ranks": (0, 0)}, r"ranks are \(0, 0\), expected 1 to 64"),
        ("ring", {"ranks": (65, 99)}, r"ranks are \(65, 99\), expected 1 to 64"),
        ("ring", {"ranks": (-2, 8)}, r"ranks are \(-2, 8\), expected 1 to 64"),
        ("ring", {"nbytes": (-1, None)}, r"nbytes are \(-1, None\), expected 0 to"),
        ("ring", {"nbytes": (0, 2**64)}, r"nbytes are .*, expected 0 to"),
        ("ring", {"nbytes": (2**64, None)}, r"nbytes are .*, expected 0 to"),
        ("ring", {"architectures": ["dav-c999"]}, "there is no architecture 'dav-c999'"),
    ],
)
def test_algorithms_that_make_no_sense(name: str, constraints: dict[str, Any], words: str) -> None:
    with pytest.raises(aivops.InvalidValueError, match=words):
        aivops.register_algorithm(
            "all_gather", name, kernels="aivops", kernel="ring", types=["float32"], **constraints
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"operation": 3}, "operation is 3, expected the name of a collective"),
        ({"name": None}, "name is None, expected a name"),
        ({"kernel": 3}, "kernel is 3, expected what the names of kernels begin with"),
        ({"kernels": 3}, "package is 3, expected the name of a package"),
        ({"types": "float32"}, "types is 'float32', expected a list of names"),
        ({"types": 3}, "types is 3, expected a list of names"),
        ({"types": [3]}, "types is 3, expected a name"),
        ({"ranks": 4}, "ranks is 4, expected the fewest and the most"),
        ({"ranks": (1, 2, 3)}, r"ranks is \(1, 2, 3\), expected the fewest and the most"),
        ({"ranks": ("a", 2)}, "ranks is 'a', expected a whole number"),
        ({"nbytes": (0, 1.5)}, "nbytes is 1.5, expected a whole number"),
        ({"architectures": "dav-c220-vec"}, "architectures is 'dav-c220-vec', expected a list of names"),
        ({"preferred": 1}, "preferred is 1, expected True or False"),
    ],
)
def test_arguments_of_a_wrong_kind(arguments: dict[str, Any], words: str) -> None:
    right = {"operation": "all_gather", "name": "ring", "kernels": "aivops", "kernel": "k", "types": ["int8"]}
    with pytest.raises(aivops.InvalidTypeError, match=words):
        aivops.register_algorithm(**right | arguments)


RING = """
import aivops
import numpy as np

def refused(*args, **how):
    try:
        aivops.register_algorithm(*args, **how)
    except ValueError as error:
        print(error)

ring = dict(kernels="ring_all_gather", kernel="ring_all_gather", types=["float32", "float16"], ranks=(2, 8))
refused("all_gather", "mesh", **ring)
refused("all_gather", "ring", **ring | {"types": ["int8"]})
refused("all_gather", "ring", **ring | {"ranks": (3, 2)})
refused("all_father", "ring", **ring)
refused("send/recv", "ring", **ring)
aivops.register_algorithm("all_gather", "ring", nbytes=(0, 100_000), **ring)
aivops.register_algorithm("all_gather", "slow_ring", nbytes=(4, 8), preferred=True, **ring)

def call(comm, count, dtype=np.float32, **how):
    result = comm.all_gather(np.full(count, comm.rank, dtype), **how)
    assert (result == np.arange(comm.size)[:, None]).all()
    return comm.last_plan.algorithm

for ranks in (2, 3, 8):
    with aivops.LocalGroup(ranks, window_bytes=400_000) as group:
        for count in (0, 1, 7, 20_011):
            assert group.run(lambda c: call(c, count, algorithm="ring")) == ["ring"] * ranks
            assert group.run(lambda c: call(c, count, np.float16, algorithm="ring", blocks=3)) == ["ring"] * ranks
        assert group.run(lambda c: call(c, 2)) == ["slow_ring"] * ranks
        assert group.run(lambda c: call(c, 3)) == ["mesh"] * ranks
        for how in ((9, np.int8), (50_000, np.float32)):
            try:
                group.run(lambda c: call(c, *how, algorithm="ring"))
            except ValueError as error:
                print(error)
with aivops.LocalGroup(1) as group:
    try:
        group.run(lambda c: call(c, 9, algorithm="ring"))
    except ValueError as error:
        print(error)
print("right")
"""


@pytest.mark.xdist_group("ring")
def test_another_package_brings_an_algorithm(ring_package: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RING],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ring_package)},
    )
    assert done.returncode == 0, done.stderr
    *errors, last = done.stdout.splitlines()
    assert last == "right"
    for error, text in zip(
        errors,
        [
            "all_gather(): algorithm 'mesh' is registered already",
            "have no ring_all_gather_int8_t; they have ring_all_gather_float, ring_all_gather_half",
            "no call could ever use it",
            "operation is 'all_father', expected one of",
            "send(), recv(): they have one algorithm",
            *[
                "algorithm 'ring' takes float32, float16, this is int8",
                "0 to 100000 bytes, this one has 200000",
            ]
            * 3,
            "algorithm 'ring' is for 2 to 8 ranks, here are 1",
        ],
        strict=True,
    ):
        assert text in error
