"""What the host hands to the runtime, seen by one that does nothing but remember."""

import struct
from pathlib import Path

import pytest
from fixtures.python_process import run_python
from fixtures.stub_toolkit import make_stub_toolkit

PREPARE = """
import ctypes, gc, os, struct, sys
import numpy as np
import aivops

stub = ctypes.CDLL(os.environ["AIVOPS_TOOLKIT"] + "/lib64/libacl_rt.so")

def number(name, type=ctypes.c_int):
    return type.in_dll(stub, name)

class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("words", ctypes.c_uint32 * 4)]

def attributes():
    found = (Attribute * 8).in_dll(stub, "stub_launch_attribute")
    return {found[i].id: list(found[i].words) for i in range(number("stub_launch_attributes").value)}

device = aivops.Device(0)
stream = aivops.Stream(device)
binary = aivops.Binary(sys.argv[1])
kernel = binary.get_kernel("store")
target = aivops.Buffer(device, 4, "int32")
"""


@pytest.fixture(scope="module")
def stub_toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_stub_toolkit(tmp_path_factory.mktemp("stub") / "toolkit")


@pytest.fixture
def run(stub_toolkit: Path, kernels_path: Path):  # type: ignore[no-untyped-def]
    """Run a program on the stub; returns its lines, and insists on a clean end."""

    def run_program(program: str, **variables: object) -> list[str]:
        done = run_python(PREPARE + program, kernels_path, AIVOPS_TOOLKIT=stub_toolkit, **variables)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.splitlines()

    return run_program


def test_attributes_of_a_launch(run) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
kernel.launch(stream, target, 5)
print(number("stub_launch_blocks").value, attributes())
kernel.launch(stream, target, 5, config=aivops.LaunchConfig(blocks=100, schedule="normal", timeout=1000))
print(number("stub_launch_blocks").value, attributes())
kernel.launch(stream, target, 5, config=aivops.LaunchConfig(blocks=2, timeout=float("inf")))
print(attributes())
print(number("stub_launch_bytes", ctypes.c_ulong).value)
block = (ctypes.c_ubyte * 16).in_dll(stub, "stub_launch_block")
print(struct.unpack_from("<Qi", bytes(block)) == (target.pointer, 5))
""")
    # SCHEM_MODE 1, TIMEOUT_US 8 (low and high word), ENGINE_TYPE 3 (AIV is 1); all other bytes are zero.
    default = 254 * 4294967
    assert lines[0] == f"48 {{1: [1, 0, 0, 0], 8: [{default}, 0, 0, 0], 3: [1, 0, 0, 0]}}"
    assert lines[1] == "100 {1: [0, 0, 0, 0], 8: [1000000000, 0, 0, 0], 3: [1, 0, 0, 0]}"
    assert lines[2] == "{1: [1, 0, 0, 0], 8: [0, 0, 0, 0], 3: [1, 0, 0, 0]}"
    assert lines[3:] == [str(struct.calcsize("@Qi4x")), "True"]


def test_a_time_limit_beyond_32_bits_is_split(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
seconds = 1090.0
kernel.launch(stream, target, 5, config=aivops.LaunchConfig(timeout=seconds))
low, high = attributes()[8][:2]
print(low + (high << 32) == 1_090_000_000)
try:
    kernel.launch(stream, target, 5, config=aivops.LaunchConfig(timeout=5000))
except aivops.InvalidValueError as error:
    print(error)
""")
    assert lines[0] == "True"
    assert lines[1].startswith("timeout: 5000 s is more than this device can count, 1090.92 s")


def test_the_binary_is_loaded_lazily_through_the_right_member(run, kernels_path: Path) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
print(number("stub_binaries_loaded").value)
for _ in range(3):
    kernel.launch(stream, target, 5)
other = aivops.Device(1)
elsewhere = aivops.Stream(other)
for _ in range(3):
    kernel.launch(elsewhere, target, 5)
print(number("stub_binaries_loaded").value, number("stub_functions_taken").value)
print(number("stub_load_option_type").value, list((ctypes.c_uint * 4).in_dll(stub, "stub_load_option_words")))
print(number("stub_load_bytes", ctypes.c_ulong).value)
""")
    # Once per process, its function once per device; LAZY_LOAD is option 1, isLazyLoad = 1, the rest of the union zero.
    assert lines == ["0", "1 2", "1 [1, 0, 0, 0]", str(kernels_path.stat().st_size)]


def test_a_lost_registration_is_renewed_once(run) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
errors = (ctypes.c_int * 8).in_dll(stub, "stub_launch_errors")
kernel.launch(stream, target, 5)
errors[0] = 107017
number("stub_launch_error_count").value = 1
kernel.launch(stream, target, 5)
print(number("stub_launches").value, number("stub_functions_taken").value)
errors[0] = errors[1] = 107017
number("stub_launch_error_count").value = 2
number("stub_message", ctypes.c_char_p).value = b"the handle is gone"
try:
    kernel.launch(stream, target, 5)
except aivops.AclError as error:
    print(error.code, error.name, error.runtime_message)
    print(error)
print(number("stub_launches").value, number("stub_functions_taken").value)
""")
    assert lines[0] == "3 2"
    assert lines[1] == "107017 ACL_ERROR_RT_INVALID_HANDLE the handle is gone"
    assert lines[2].startswith("Kernel store of ")
    assert lines[2].endswith("failed with 107017 (ACL_ERROR_RT_INVALID_HANDLE): the handle is gone")
    assert lines[3] == "5 3"


def test_the_launching_stream_is_selected_before_cores_are_counted(run) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
print(stream.vector_cores, number("stub_selected_streams").value)
number("stub_cores").value = 0
try:
    kernel.launch(stream, target, 5)
except aivops.InvalidValueError as error:
    print(error)
print(number("stub_launches").value)
""")
    assert lines[0] == "48 1"
    assert lines[1].startswith("Stream on device 0: its limit is 0 vector cores, so no kernel can run")
    assert lines[2] == "0"


def test_contexts_are_put_back_and_references_are_balanced(run) -> None:  # type: ignore[no-untyped-def]
    lines = run("""
import ctypes
own = ctypes.c_char.in_dll(stub, "stub_launch_block")  # any address will do for a context of someone else
get, put = stub.aclrtGetCurrentContext, stub.aclrtSetCurrentContext
context = ctypes.c_void_p()
put(ctypes.byref(own))
for _ in range(100):
    kernel.launch(stream, target, 5)
    stream.synchronize()
    aivops.Device(1).synchronize()
    target.fill(1)
get(ctypes.byref(context))
print(context.value == ctypes.addressof(own))
references = (ctypes.c_int * 64).in_dll(stub, "stub_references")
print(references[0], references[1])
del kernel, binary, target, stream, device
gc.collect()
get(ctypes.byref(context))
print(context.value == ctypes.addressof(own), references[0], number("stub_binaries_unloaded").value)
""")
    assert lines == ["True", "1 0", "True 0 1"]


def test_a_toolkit_without_device(run, stub_toolkit: Path) -> None:  # type: ignore[no-untyped-def]
    program = "import aivops; aivops.Device(0)"
    done = run_python(program, AIVOPS_TOOLKIT=stub_toolkit, STUB_DEVICES=0)
    assert done.returncode == 1
    assert f"ToolkitError: Toolkit stub 0 at {stub_toolkit}: has no device" in done.stderr
    assert "npu-smi info" in done.stderr
