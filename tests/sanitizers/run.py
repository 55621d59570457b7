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
SUITES = ("tests/emulator", "tests/collectives", "tests/dispatch", "tests/kernel_binary")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "mpicc")

# Faults of kernels are the emulator's to handle; what has no handler of its own ends the process as it always does.
OURS = [f"handle_{fault}=0" for fault in ("segv", "sigbus", "sigfpe", "sigill", "abort")]


@dataclass(frozen=True)
class Sanitizer:
    """How a program is run with it."""

    libraries: tuple[str, ...]
    options: dict[str, list[str]]
    deselected: str  # as -k takes it: what cannot work or says nothing with it


# A process that grows on purpose, or times what it does.
NEITHER = "not leave_nothing_behind and not cost and not flat and not growth"

SANITIZERS = {
    "address,undefined": Sanitizer(
        libraries=("libasan.so", "libubsan.so"),
        options={
            # Python never frees what lives as long as the process.
            "ASAN_OPTIONS": [*OURS, "detect_leaks=0", "detect_stack_use_after_return=0"],
            "UBSAN_OPTIONS": ["print_stacktrace=1"],
        },
        deselected=NEITHER,
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
        # It holds signals back until a thread calls something, which kernels that never end do not.
        deselected=f"{NEITHER} and not timeouts_end_kernels",
    ),
}


def without_preload(folder: Path) -> None:
    """Compilers by their names, run without the sanitizer."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COMPILERS:
        real = shutil.which(name)
        if real is not None:
            script = folder / name
            script.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec {real} "$@"\n')
            script.chmod(0o755)


def install(name: str, folder: Path) -> Path:
    """The Python that has AivOps built with the sanitizer, and everything that this one has."""
    environment = folder / "venv"
    python = environment / "bin/python"
    if not python.exists():
        venv.create(environment, symlinks=True, with_pip=True)
        (packages,) = (environment / "lib").glob("python*/site-packages")
        (packages / "tools.pth").write_text(sysconfig.get_path("purelib") + "\n")
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
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
    )
    return python


def main(name: str, *arguments: str) -> int:
    sanitizer = SANITIZERS[name]
    folder = ROOT / "build/sanitized" / name.replace(",", "-")
    python = install(name, folder)
    without_preload(folder / "bin")
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={library}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for library in sanitizer.libraries
    ]
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    options = {
        variable: ":".join([*values, f"log_path={reports}/report"])
        for variable, values in sanitizer.options.items()
    }
    selection = arguments or ("-m", "not long", "-k", sanitizer.deselected, *SUITES)
    done = subprocess.run(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", *selection],
        cwd=ROOT,
        check=False,
        env={
            **os.environ,
            **options,
            "AIVOPS_BUILD_DIR": str(folder / "tree"),
            "LD_PRELOAD": ":".join(libraries),
            "PATH": f"{folder / 'bin'}:{python.parent}:{os.environ['PATH']}",
        },
    )
    found = sorted(reports.iterdir())
    for report in found:
        print(f"\n{report}:\n{report.read_text(errors='replace')}")
    print(f"{name}: pytest ended with {done.returncode}; {len(found)} processes reported something")
    return 1 if found else done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
