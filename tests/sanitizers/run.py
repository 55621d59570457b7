"""Builds everything native with a sanitizer of GCC and runs the suites that exercise it.

usage: run.py address,undefined|thread [argument of pytest…]

The build, a virtual environment of its own and the sanitizer's reports lie in build/sanitized/. Kernels are not
instrumented: they reach memory through the emulator, which is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

EMULATOR = tuple(f"tests/emulator/{name}" for name in ("acl", "hccl", "machine", "ports", "sanitize"))
# What starts devices, streams and ranks. Not the faulty kernels: the races that TSan would find are theirs.
CONCURRENT = (
    "tests/collectives",
    *(f"tests/dispatch/test_{name}.py" for name in ("buffers", "cpp", "interrupts", "launches")),
    "tests/dispatch/test_threads_and_processes.py",
    *EMULATOR,
)
# All but the tests of the Ascend C headers, which kernels alone include.
EVERYTHING = (
    *("tests/collectives", "tests/dispatch", "tests/kernel_binary", *EMULATOR),
    *("tests/emulator/ascendc/test_on_device.py", "tests/emulator/ccec", "tests/emulator/faulty"),
)

# Faults of kernels are the emulator's to handle; what has no handler of its own ends the process as it always does.
OURS = [f"handle_{fault}=0" for fault in ("segv", "sigbus", "sigfpe", "sigill", "abort")]


@dataclass(frozen=True)
class Sanitizer:
    """How a program is run with it."""

    libraries: tuple[str, ...]
    options: dict[str, list[str]]
    suites: tuple[str, ...]
    deselected: str  # as -k takes it: what cannot work or says nothing with it


# A process that grows on purpose, or times what it does.
NEITHER = "not leave_nothing_behind and not cost and not flat and not growth and not memory_is_bounded"

SANITIZERS = {
    "address,undefined": Sanitizer(
        libraries=("libasan.so", "libubsan.so"),
        options={
            # Python never frees what lives as long as the process.
            "ASAN_OPTIONS": [*OURS, "detect_leaks=0", "detect_stack_use_after_return=0"],
            "UBSAN_OPTIONS": ["print_stacktrace=1"],
        },
        suites=EVERYTHING,
        # Fuzzing has sanitizers of its own; and it reports what it cannot allocate, which is what that test is about.
        deselected=f"{NEITHER} and not fuzz and not memory_that_cannot_be_had",
    ),
    "thread": Sanitizer(
        libraries=("libtsan.so",),
        options={
            "TSAN_OPTIONS": [
                *OURS,
                f"suppressions={HERE / 'tsan.supp'}",
                "second_deadlock_stack=1",
                "exitcode=66",
            ]
        },
        suites=CONCURRENT,
        # It holds signals back until a thread calls something, which kernels that never end do not; and a constant tag
        # is a race.
        deselected=f"{NEITHER} and not timeouts_end_kernels and not forced_reset_ends and not must_end_may_be_told "
        "and not constant_tag_is_noticed",
    ),
}


def wrap_compilers(name: str, folder: Path) -> None:
    """GCC by its names, instrumenting what tests compile. Kernels stay as they are: ccec's own options tell them."""
    folder.mkdir(parents=True, exist_ok=True)
    for compiler in ("cc", "c++", "gcc", "g++"):
        script = folder / compiler
        script.write_text(
            f"""#!/bin/sh
case "$*" in
*-idirafter*|*-nodefaultlibs*) exec {shutil.which(compiler)} "$@" ;;
*) exec {shutil.which(compiler)} -fsanitize={name} "$@" ;;
esac
"""
        )
        script.chmod(0o755)


def wrap_python(python: Path, plain: Path, libraries: tuple[str, ...]) -> None:
    """Lets Python begin with the sanitizer's runtime, and what it starts without: not all programs can."""
    paths = [
        subprocess.run(
            ["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for library in libraries
    ]
    python.unlink()
    python.write_text(
        f"""#!/bin/bash
LD_PRELOAD={":".join(paths)} exec -a "$0" {plain.resolve()} "$@"
"""
    )
    python.chmod(0o755)


def install(name: str, folder: Path, libraries: tuple[str, ...]) -> Path:
    """The Python that has AivOps built with the sanitizer, and everything that this one has."""
    environment = folder / "venv"
    python, plain = environment / "bin/python", environment / "bin/plain-python"
    if not plain.exists():
        venv.create(environment, symlinks=True, with_pip=True)
        (packages,) = (environment / "lib").glob("python*/site-packages")
        (packages / "tools.pth").write_text(
            f"{sysconfig.get_path('purelib')}\nimport os; os.environ.pop('LD_PRELOAD', None)\n"
        )
        plain.symlink_to(python.resolve())
        wrap_python(python, plain, libraries)
    subprocess.run(
        [
            *(str(python), "-m", "pip", "install", "--quiet", "--no-build-isolation", "--force-reinstall"),
            *("--no-deps", "--disable-pip-version-check", f"--config-settings=build-dir={folder / 'tree'}"),
            *(
                f"--config-settings=cmake.define.AIVOPS_SANITIZE={name}",
                "--config-settings=install.strip=false",
            ),
            *("--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1", str(ROOT)),
        ],
        check=True,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_bugs=0"},
    )
    return python


def main(name: str, *arguments: str) -> int:
    sanitizer = SANITIZERS[name]
    folder = ROOT / "build/sanitized" / name.replace(",", "-")
    python = install(name, folder, sanitizer.libraries)
    wrap_compilers(name, folder / "bin")
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    options = {
        variable: ":".join([*values, f"log_path={reports}/report"])
        for variable, values in sanitizer.options.items()
    }
    environment = {
        **os.environ,
        **options,
        "AIVOPS_BUILD_DIR": str(folder / "tree"),
        "PATH": f"{folder / 'bin'}:{python.parent}:{os.environ['PATH']}",
    }
    processes = ("-n", "2", "--dist", "loadgroup")
    default = ("-m", "not long", "-k", sanitizer.deselected)
    failed: list[str] = []
    # A suite at a time: what a sanitizer remembers of memory only grows as long as a process lives, to gigabytes.
    for selection in (arguments,) if arguments else [(*default, suite) for suite in sanitizer.suites]:
        command = [str(python), "-m", "pytest", "-v", "--capture=sys", *processes, *selection]
        if subprocess.run(command, cwd=ROOT, check=False, env=environment).returncode != 0:
            failed.append(selection[-1])
    found = sorted(reports.iterdir())
    for report in found:
        print(f"\n{report}:\n{report.read_text(errors='replace')}")
    print(f"{name}: {len(found)} processes reported something; failed: {', '.join(failed) or 'none'}")
    return 1 if found or failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
