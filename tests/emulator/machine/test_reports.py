"""Reports name the pipes, ids and sizes that a kernel asked for, what there is, and what to do."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

EXCEPTION, TIMEOUT = 507035, 507034
EITHER, STRICT = ("on", "strict"), ("strict",)
SOURCE = Path(__file__).with_name("mistakes.asc")

RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
to, source = acl.malloc(8192), acl.malloc(8192)
found = []
for kernel, number in json.loads(sys.argv[4]):
    acl.write(source, bytes(8192))
    acl.ok(acl.launch(acl.function(binary, kernel), 1, pack("QQi", to, source, number)))
    found.append([acl.synchronize(), acl.message()])
print(json.dumps(found))
"""

STREAMS = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
copy = acl.function(acl.load(Path(sys.argv[3])), "copy")
first, second = acl.create_stream(), acl.create_stream()
buffers = [acl.malloc(256) for _ in range(3)]
acl.write(buffers[0], bytes(256))
for ordered in (True, False):
    acl.ok(acl.launch(copy, 1, pack("QQi", buffers[1], buffers[0], 0), first))
    if ordered:
        acl.ok(acl.synchronize(first))
    acl.ok(acl.launch(copy, 1, pack("QQi", buffers[2], buffers[1], 0), second))
    found = [(acl.synchronize(stream), acl.message()) for stream in (first, second)]
    assert any(code == 507035 for code, _ in found) != ordered, found
print(*(message for _, message in found))
"""


@dataclass(frozen=True)
class Mistake:
    kernel: str
    code: int
    says: tuple[str, ...]
    number: int = 0
    checks: tuple[str, ...] = EITHER


def no_event(kernel: str, call: str, pipes: str, number: int) -> Mistake:
    words = (
        f"synccheck: {call}: no event {pipes} has the id {number}; the ids of a pair of pipes go from 0 to 7"
    )
    return Mistake(kernel, EXCEPTION, (words,), number)


MISTAKES = [
    *(no_event("set_event", "SetFlag", "MTE2_MTE3", number) for number in (8, 16, 63, -1, -(2**31))),
    *(no_event("wait_event", "WaitFlag", "V_S", number) for number in (8, -1)),
    *(no_event("set_raw_event", "SetFlag", "MTE3_S", number) for number in (8, -1, 2**31 - 1)),
    Mistake(
        "wrong_id",
        TIMEOUT,
        (
            "deadlock: WaitFlag: MTE2_MTE3 event id 1 is not set before the barrier at ",
            "MTE2_MTE3 id 0 set and not waited for, at wrong_id+",
            "[wrong_id set]",
            "MTE2_MTE3 id 1 waited for and not set, at wrong_id+",
        ),
        checks=STRICT,
    ),
    Mistake(
        "wait_twice",
        TIMEOUT,
        (
            "deadlock: WaitFlag: MTE2_V event id 3 is not set before the barrier at ",
            "[wait_twice barrier]",
            "MTE2_V id 3 waited for and not set",
        ),
        checks=STRICT,
    ),
    Mistake(
        "scalar_waits",
        TIMEOUT,
        (
            "deadlock: WaitFlag: MTE2_S event id 4 was not set, so this waits for ever; ",
            "MTE2_S id 2 set and not waited for, at scalar_waits+",
            "[scalar_waits set]",
        ),
    ),
    Mistake(
        "wait_in_a_circle",
        TIMEOUT,
        ("deadlock: WaitFlag: V_MTE2 event id 5 is never set, so this waits for ever",),
        checks=STRICT,
    ),
    Mistake(
        "buffers_too_large",
        EXCEPTION,
        (
            "memcheck: TPipe::InitBuffer: a buffer of 100001 bytes does not fit: 100000 of the unified buffer's 196608",
        ),
        checks=STRICT,
    ),
    Mistake(
        "tensor_too_large",
        EXCEPTION,
        ("TBuf: a tensor of 4000 bytes at offset 0 reaches beyond the 256 bytes that InitBuffer gave it",),
    ),
    Mistake("cross_core_id", EXCEPTION, ("cross-core flag: there is no id 16; the ids go from 0 to 15",), 16),
    Mistake("many_blocks", EXCEPTION, ("memcheck: DataCopyPad: blockCount 5000 is above 4095",)),
    Mistake(
        "ub_pointer",
        EXCEPTION,
        (
            "touches an address that it must not: 0x0",
            "a __ubuf__ pointer, which is an offset into the unified buffer",
        ),
    ),
    Mistake(
        "vector_race",
        EXCEPTION,
        ("both are on one pipe", "use PipeBarrier<PIPE_V>() between them", "[vector_race first]"),
        checks=STRICT,
    ),
    *(
        Mistake(
            "no_buffer",
            EXCEPTION,
            (f"memcheck: {name}: the tensor has no buffer: it was declared, and nothing was assigned to it",),
            number,
        )
        for number, name in enumerate(
            ("SetValue", "GetValue", "DataCopy", "DataCopyPad", "Duplicate", "ReduceSum")
        )
    ),
    Mistake(
        "leaves_buffer",
        EXCEPTION,
        (
            "memcheck: DataCopy: 8224 bytes at UB offset 0 leave their buffer of 8192 bytes at offset 0; what lies",
        ),
        checks=STRICT,
    ),
    Mistake("load_race", EXCEPTION, ("use PipeBarrier<PIPE_MTE2>() between them",), checks=STRICT),
]


@pytest.fixture(scope="module", name="mistakes")
def mistaken_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiler.build(Path(shutil.copy(SOURCE, tmp_path_factory.mktemp("mistakes"))), "-g")


def line_of(mark: str) -> str:
    lines = SOURCE.read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if mark in line)
    return f"{SOURCE.name}:{number})"


@pytest.mark.parametrize("check", EITHER)
def test_a_mistake_is_told_with_its_numbers(toolkit: Path, mistakes: Path, check: str) -> None:
    made = [mistake for mistake in MISTAKES if check in mistake.checks]
    work = json.dumps([[mistake.kernel, mistake.number] for mistake in made])
    found = json.loads(run_in_process(RUN, toolkit, mistakes, work, AIVOPS_EMU_CHECK=check))
    for mistake, (code, message) in zip(made, found, strict=True):
        assert code == mistake.code, (mistake.kernel, code, message)
        place = line_of(f"[{mistake.kernel}]")
        for words in (*mistake.says, f"kernel {mistake.kernel} on device 0"):
            assert (line_of(words) if words.startswith("[") else words) in message, message
        assert place in message.rpartition("; at ")[2], message


@pytest.mark.parametrize("check", EITHER)
def test_events_of_queues_are_no_kernel_events(toolkit: Path, mistakes: Path, check: str) -> None:
    work = json.dumps([["every_buffer", 0]])
    assert json.loads(run_in_process(RUN, toolkit, mistakes, work, AIVOPS_EMU_CHECK=check)) == [[0, ""]]


def test_launches_on_two_streams_that_nothing_orders(toolkit: Path, mistakes: Path) -> None:
    message = run_in_process(STREAMS, toolkit, mistakes, AIVOPS_EMU_CHECK="strict")
    assert "nothing orders two accesses to GM" in message
    assert "of launch 3 on stream " in message
    assert "of launch 4 on stream " in message
    assert "call aclrtSynchronizeStream between them, or let one stream wait for an event" in message
