"""What a launch costs above a C loop over the same function pointer, on a runtime that does nothing.

Arguments: a kernel binary with kernels `store` and `wide`, the library of launch_loop.c. Prints nanoseconds per call as
JSON.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import repeat

import aivops

CALLS = 1_000
ROUNDS = 300


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("words", ctypes.c_uint32 * 4)]


class Config(ctypes.Structure):
    _fields_ = [("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_size_t)]


class WideBlock(ctypes.Structure):
    _fields_ = (
        [(f"a{i}", ctypes.c_uint64) for i in range(8)]
        + [(f"a{i}", ctypes.c_int64) for i in range(8, 12)]
        + [(f"a{i}", ctypes.c_int32) for i in range(12, 16)]
        + [(f"a{i}", ctypes.c_uint32) for i in range(16, 18)]
        + [(f"a{i}", ctypes.c_uint64) for i in range(18, 20)]
        + [(f"a{i}", ctypes.c_float) for i in range(20, 24)]
    )


def time_calls(call: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    for _ in repeat(None, CALLS):
        call(*arguments)
    return time.perf_counter() - started


def main() -> None:
    runtime = ctypes.CDLL(os.environ["AIVOPS_TOOLKIT"] + "/lib64/libacl_rt.so")
    loop = ctypes.CDLL(sys.argv[2]).time_launches
    loop.argtypes, loop.restype = [ctypes.c_void_p, ctypes.c_long], ctypes.c_double

    device = aivops.Device(0)
    stream = aivops.Stream(device)
    binary = aivops.Binary(sys.argv[1])
    target = aivops.Buffer(device, 64)
    wide_values = [*[target] * 8, *range(8, 20), 0.5, 1.5, 2.5, 3.5]
    prepared = binary.get_kernel("store").prepare(stream, target, 1)
    prepared_wide = binary.get_kernel("wide").prepare(stream, *wide_values)
    launch, launch_wide = binary.get_kernel("store").launch, binary.get_kernel("wide").launch
    for warm in (prepared, prepared_wide):
        warm()
    ctypes.c_int.in_dll(runtime, "stub_recording").value = 0

    function = runtime.aclrtLaunchKernelWithHostArgs
    function.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.POINTER(Config)]
    function.argtypes += [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
    attributes = (Attribute * 3)(Attribute(1), Attribute(8), Attribute(3))
    config = Config(attributes, 3)
    block = WideBlock()
    fixed = (stream.handle, 48, stream.handle, ctypes.byref(config), ctypes.byref(block), 16, None, 0)
    address = target.pointer
    ctypes_values = [*[address] * 8, *range(8, 20), 0.5, 1.5, 2.5, 3.5]

    def pack_by_ctypes() -> None:
        packed = WideBlock(*ctypes_values)
        handle = stream.handle
        function(
            handle, 48, handle, ctypes.byref(config), ctypes.byref(packed), ctypes.sizeof(packed), None, 0
        )

    ways: dict[str, Callable[[], float]] = {
        "C loop": lambda: loop(ctypes.cast(function, ctypes.c_void_p), CALLS),
        "prepared": lambda: time_calls(prepared),
        "prepared, 24 arguments packed": lambda: time_calls(prepared_wide, *wide_values),
        "launch, 2 arguments": lambda: time_calls(launch, stream, target, 1),
        "launch, 24 arguments": lambda: time_calls(launch_wide, stream, *wide_values),
        "ctypes, prepared": lambda: time_calls(function, *fixed),
        "ctypes, 24 arguments packed": lambda: time_calls(pack_by_ctypes),
    }
    # Interleaved, and each round short enough to run undisturbed on a busy machine: the least of them is the cost.
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, way in ways.items():
            best[name] = min(best[name], way())
    print(json.dumps({name: seconds / CALLS * 1e9 for name, seconds in best.items()}))


main()
