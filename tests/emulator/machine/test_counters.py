"""Counters that atomic copies raise are flags as any others, whether somebody happens to wait for them or not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

CALLS = 5

RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
for device in (0, 1):
    acl.set_device(device)
    acl.ok(acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
binary = acl.load(Path(sys.argv[3]))
windows, outputs = [], []
for device in (0, 1):
    acl.set_device(device)
    windows.append(acl.malloc(1024))
    acl.write(windows[-1], bytes(1024))
    outputs.append([acl.malloc(256) for call in range(int(sys.argv[4]))])
for call in range(len(outputs[0])):
    for device in (0, 1):
        acl.set_device(device)
        numbers = device, 10 ** device * (call + 1), call + 1
        arguments = pack("QQQiii", *windows, outputs[device][call], *numbers)
        acl.ok(acl.launch(acl.function(binary, "push"), 1, arguments, timeout_us=20000000))
results = []
for device in (0, 1):
    acl.set_device(device)
    code = acl.synchronize()
    found = [acl.read(output, 256).hex() for output in outputs[device]]
    results.append([code, acl.message() if code else "", found])
print(json.dumps(results))
"""


@pytest.fixture(scope="module", name="binary")
def counting_kernel(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("counters") / "counters.asc"
    shutil.copy(Path(__file__).parent / "counters.asc", source)
    return compiler.build(source, "-g")


@pytest.mark.parametrize("schedule", ["seed", "sweep:0", "sweep:1"])
def test_counters_of_two_ranks(toolkit: Path, binary: Path, schedule: str) -> None:
    """A rank that is held back finds its counter complete at once, in every call."""
    settings = {"AIVOPS_EMU_CHECK": "strict", "AIVOPS_EMU_SCHEDULE": schedule, "AIVOPS_EMU_DEVICES": "2"}
    results = json.loads(run_in_process(RUN, toolkit, binary, CALLS, **settings))
    sums = [(11 * (call + 1)).to_bytes(4, "little").hex() * 64 for call in range(CALLS)]
    assert len(results) == 2
    for code, message, found in results:
        assert code == 0, message
        assert found == sums
