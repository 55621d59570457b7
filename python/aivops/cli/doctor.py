"""``aivops doctor``: what AivOps finds on this machine, and what is wrong with it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any, NamedTuple

from .. import _core, _toolkit
from .._binary import ENTRY_POINT_GROUP, load_kernels
from .._words import counted
from ..errors import Error

VARIABLES = [
    "AIVOPS_TOOLKIT",
    "ASCEND_HOME_PATH",
    "AIVOPS_EMU_SOC",
    "AIVOPS_EMU_DEVICES",
    "AIVOPS_EMU_CXX",
    "CXX",
]


PROBE_SECONDS = 30.0


class Check(NamedTuple):
    """One line of the report; ``problem`` is None when all is well."""

    name: str
    value: str
    problem: str | None = None


def register(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "doctor",
        help="show toolkit, devices, compiler and kernels, and what is wrong with them",
        description="Show what AivOps finds on this machine. Exit status 1 when something does not work.",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    checks = list(_checks())
    if args.format == "json":
        print(json.dumps({"schema": 1, "checks": [check._asdict() for check in checks]}, indent=2))
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            mark = "ok" if check.problem is None else "!!"
            print(f"{mark}  {check.name:<{width}}  {check.value}".rstrip())
            if check.problem is not None:
                print(f"    {'':<{width}}  {check.problem}")
    return 1 if any(check.problem is not None for check in checks) else 0


def _checks() -> Iterator[Check]:
    yield Check("aivops", _core.__version__)
    yield Check("python", f"{platform.python_version()} on {platform.machine()}")
    for distribution in ["numpy", "ml_dtypes", "nanobind-backend"]:
        yield Check(distribution, _installed(distribution))
    for variable in VARIABLES:
        if variable in os.environ:
            yield Check(variable, os.environ[variable])
    yield _try("toolkit", _describe_choice)
    devices = _try("devices", _describe_devices)
    yield devices
    yield _find_compiler()
    if devices.problem is None:
        yield _try("launch", _launch_probe)
        for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
            yield _try(f"kernels {point.name}", partial(_describe_kernels, point.name))


def _try(name: str, describe: Callable[[], str]) -> Check:
    try:
        return Check(name, describe())
    except Error as error:
        return Check(name, "", str(error))


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _describe_choice() -> str:
    choice = _toolkit.choose()
    info = _core.read_toolkit_info(choice.root)
    chosen = (
        "no variable is set and there is no NPU" if choice.reason == "default" else f"{choice.reason} says so"
    )
    return f"{info.name} {info.version} at {info.root} (machine {info.machine}; {chosen})"


def _describe_devices() -> str:
    toolkit = _core.Toolkit.open(_toolkit.choose().root)
    device = _core.Device(0, toolkit=toolkit)
    return (
        f"{toolkit.device_count} x {device.soc_name}, {device.vector_cores} vector cores each, "
        f"architecture {device.architecture}, runtime {toolkit.library}"
    )


def _launch_probe() -> str:
    """Launches a kernel that does nothing, so that "ok" means ok."""
    toolkit = _core.Toolkit.open(_toolkit.choose().root)
    stream = _core.Stream(_core.Device(0, toolkit=toolkit))
    probe = load_kernels("aivops", toolkit=toolkit).get_kernel("aiv_probe")
    started = time.perf_counter()
    probe.launch(stream)
    stream.synchronize(PROBE_SECONDS)
    milliseconds = (time.perf_counter() - started) * 1e3
    return f"a kernel ran on {stream.vector_cores} vector cores, the first time in {milliseconds:.1f} ms"


def _find_compiler() -> Check:
    """The host compiler that the emulated toolkit drives, found in its order."""
    for variable in ["AIVOPS_EMU_CXX", "CXX"]:
        if os.environ.get(variable):
            wanted = os.environ[variable]
            found = shutil.which(wanted)
            problem = None if found else f"{variable} names {wanted}, which is not there; correct or unset it"
            return Check("C++ compiler", found or wanted, problem)
    for name in ["c++", "g++", "clang++"]:
        found = shutil.which(name)
        if found:
            return Check("C++ compiler", found)
    return Check(
        "C++ compiler", "none", "kernels cannot be compiled for emulated devices; install g++ or clang++"
    )


def _describe_kernels(name: str) -> str:
    kernels = load_kernels(name, toolkit=_core.Toolkit.open(_toolkit.choose().root))
    return f"{counted(len(kernels.kernel_names), 'kernel')} at {kernels.folder}"
