"""Where the runtime of hardware silently does something else: a note by default, an error in strict mode."""

from __future__ import annotations

import json
from pathlib import Path

from emulator.conftest import KernelCompiler
from emulator.own_process import run_in_process

PARAM_INVALID, EXCEPTION, SYNC_TIMEOUT = 107000, 507035, 507046

DANGERS = """
import ctypes, json, sys
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
from pathlib import Path
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
stream = acl.create_stream()
found = {}
def launch(name, binary, kernel, blocks, arguments, **attributes):
    acl.message()
    code = acl.launch(acl.function(binary, kernel), blocks, arguments, stream, **attributes)
    message = acl.message()
    waited = acl.aclrtSynchronizeStreamWithTimeout(stream, 50) if code == 0 else None
    acl.ok(acl.aclrtStreamAbort(stream))
    found[name] = [code, message, waited]
    acl.message()
binary = acl.load(Path(sys.argv[3]))
launch("cut to one", binary, "empty", 65537, pack("Q", 0))
launch("cut to none", binary, "empty", 65536, pack("Q", 0))
launch("short arguments", binary, "copy", 1, pack("Q", 0)[:1])
launch("batch", binary, "empty", 49, pack("Q", 0), batch=1)
launch("right", binary, "empty", 48, pack("Q", 0), batch=1)
other = ctypes.c_void_p()
acl.message()
code = acl.aclrtBinaryLoadFromFile(sys.argv[4].encode(), None, ctypes.byref(other))
found["load"] = [code, acl.message(), None]
if code == 0:
    launch("architecture", other, "empty", 1, pack("Q", 0))
print(json.dumps(found))
"""

WORDS = {
    "cut to one": "65537 blocks are cut to 16 bits: 1",
    "cut to none": "65536 blocks are cut to 16 bits: 0",
    "short arguments": "kernel copy takes 20 bytes of arguments and gets 1",
    "batch": "49 blocks in batch mode can never start on 48 vector cores",
    "right": "",
    "load": "was built for dav-c310-vec, and Ascend910B1 is dav-c220-vec",
}


def dangers(
    toolkit: Path, kernels: Path, compiler: KernelCompiler, folder: Path, check: str
) -> dict[str, list]:
    source = folder / "kernels.asc"
    source.write_text((Path(__file__).parents[1] / "kernels.asc").read_text())
    other = compiler.build(source, architecture="dav-c310-vec")
    output = run_in_process(DANGERS, toolkit, kernels, other, AIVOPS_EMU_CHECK=check)
    found: dict[str, list] = json.loads(output)
    for name, words in WORDS.items():
        message = found[name][1]
        assert words in message if words else message == "", (name, message)
    return found


def test_by_default_the_call_succeeds_and_leaves_a_note(
    toolkit: Path, kernels: Path, compiler: KernelCompiler, tmp_path: Path
) -> None:
    found = dangers(toolkit, kernels, compiler, tmp_path, "on")
    assert {name: result[0] for name, result in found.items()} == dict.fromkeys(found, 0)
    waited = {name: result[2] for name, result in found.items()}
    assert waited["cut to one"] == waited["cut to none"] == waited["right"] == 0
    assert waited["batch"] == SYNC_TIMEOUT
    assert waited["architecture"] == EXCEPTION


def test_strict_makes_it_an_error(
    toolkit: Path, kernels: Path, compiler: KernelCompiler, tmp_path: Path
) -> None:
    found = dangers(toolkit, kernels, compiler, tmp_path, "strict")
    codes = {name: result[0] for name, result in found.items()}
    assert codes.pop("right") == 0
    assert codes == dict.fromkeys(codes, PARAM_INVALID)
