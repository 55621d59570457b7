"""Strict mode: kernels that order nothing are reported in every seed, their corrected twins in none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler

SEEDS = 10

# Runs each case of the list and prints its code and message.
RUN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
results = {}
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
binary = acl.load(Path(sys.argv[3]))

def buffers(device):
    acl.set_device(device)
    memory = [acl.malloc(8192) for _ in range(3)]
    for index, block in enumerate(memory):
        acl.write(block, bytes(range(1 + index, 129 + index)) * 64)
    return memory

def outcome(devices):
    codes = []
    for device in devices:
        acl.set_device(device)
        codes.append(acl.synchronize())
    return max(codes), acl.message()

for case in json.loads(sys.argv[4]):
    first, second = buffers(0), buffers(1)
    if len(case) == 1:
        acl.set_device(0)
        blocks = 4 if case[0].startswith("share") else 1
        acl.ok(acl.launch(acl.function(binary, case[0]), blocks, pack("QQ", first[0], first[1]), batch=1))
        results[case[0]] = outcome([0])
    else:
        sender, receiver, tags = case[0], case[1], case[2]
        for tag in tags:
            acl.set_device(1)
            acl.ok(acl.launch(acl.function(binary, receiver), 1, pack("QQI", second[0], second[1], tag)))
            if "without" not in receiver:
                acl.aclrtSynchronizeStreamWithTimeout(None, 5)  # it polls
            acl.set_device(0)
            acl.ok(acl.launch(acl.function(binary, sender), 1, pack("QQI", second[0], first[1], tag)))
        results[f"{sender}+{receiver}"] = outcome([0, 1])
    acl.message()
print(json.dumps(results))
"""

CASES = [
    ["copy_without_barrier"],
    ["copy_with_wrong_event"],
    ["copy_with_event"],
    ["copy_with_barrier"],
    ["reuse_too_early"],
    ["reuse_in_time"],
    ["read_too_early"],
    ["read_in_time"],
    ["stale_line"],
    ["fresh_line"],
    ["store_not_cleaned"],
    ["store_cleaned"],
    ["add_in_place"],
    ["share_without_sync"],
    ["share_with_sync"],
    ["share_with_flags"],
    ["vector_without_barrier"],
    ["vector_with_barrier"],
    ["send_flag_unordered", "receive", [1]],
    ["send_flag_first", "receive", [1]],
    ["send_flag_behind_data", "receive_without_wait", [1]],
    ["send_flag_behind_data", "receive", [1]],
    ["send_small", "receive_small", [1]],
    ["send_small", "receive_small_without_wait", [1]],
    ["send_small", "count_small", [1]],
    ["send_small", "count_small_without_wait", [1]],
]

# What each wrong case says; cases that are not here are right.
WRONG = {
    "copy_without_barrier": [
        "nothing orders two accesses to UB",
        "DataCopyPad writing",
        "then DataCopyPad reading",
    ],
    "copy_with_wrong_event": ["two accesses to UB"],
    "reuse_too_early": [
        "two accesses to UB",
        "then DataCopyPad writing",
    ],  # after the first load, or after the store
    "read_too_early": ["two accesses to UB", "then GetValue reading"],
    "stale_line": ["a stale line", "DataCacheCleanAndInvalid"],
    "store_not_cleaned": ["a copy past the data cache", "DataCacheCleanAndInvalid"],
    "vector_without_barrier": ["two accesses to UB", "Duplicate writing", "then Adds"],
    "share_without_sync": ["GM at 0x", "device 0, block"],
    "send_flag_unordered+receive": [
        "GM at 0x",
        "kernel send_flag_unordered on device 0",
        "kernel receive on device 1",
    ],
    "send_flag_first+receive": [
        "GM at 0x",
        "kernel send_flag_first on device 0",
        "kernel receive on device 1",
    ],
    "send_flag_behind_data+receive_without_wait": ["GM at 0x", "kernel receive_without_wait on device 1"],
    "send_small+receive_small_without_wait": [
        "GM at 0x",
        "kernel send_small on device 0",
        "kernel receive_small_without_wait on device 1",
    ],
    "send_small+count_small_without_wait": [
        "GM at 0x",
        "kernel send_small on device 0",
        "kernel count_small_without_wait on device 1",
    ],
}


@pytest.fixture(scope="module", name="races")
def race_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("races") / "races.asc"
    shutil.copy(Path(__file__).parent / "races.asc", source)
    return compiler.build(source)


def run(toolkit: Path, races: Path, cases: list[list[object]], seed: int) -> dict[str, tuple[int, str]]:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            RUN,
            str(Path(__file__).parents[2]),
            str(toolkit),
            str(races),
            json.dumps(cases),
        ],
        env={
            **os.environ,
            "AIVOPS_EMU_CHECK": "strict",
            "AIVOPS_EMU_SEED": str(seed),
            "AIVOPS_EMU_DEVICES": "2",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    results: dict[str, tuple[int, str]] = json.loads(ran.stdout)
    return results


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_wrong_kernel_and_no_right_one_is_reported(toolkit: Path, races: Path, seed: int) -> None:
    results = run(toolkit, races, CASES, seed)
    assert len(results) == len(CASES)
    for case, (code, message) in results.items():
        if case in WRONG:
            assert code == 507035, (case, code, message)
            for word in ["racecheck: ", *WRONG[case]]:
                assert word in message, message
        else:
            assert code == 0, (case, message)


def test_a_constant_tag_is_reported(toolkit: Path, races: Path) -> None:
    """The second call sets its flag to what the first left there."""
    sender, receiver = "send_flag_behind_data", "receive"
    changing = run(toolkit, races, [[sender, receiver, [1]]], 1)
    assert changing[f"{sender}+{receiver}"][0] == 0
    code, message = run(toolkit, races, [[sender, receiver, [1, 1]]], 1)[f"{sender}+{receiver}"]
    assert code == 507035
    assert "synccheck" in message or "racecheck" in message
