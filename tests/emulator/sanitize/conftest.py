"""`aivops sanitize` as users run it, on small programs that launch kernels of races.asc and kernels.asc."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from emulator.conftest import KernelCompiler

TESTS = Path(__file__).parents[2]

# Programs find the tests' modules in argument 1, the toolkit in 2, a binary in 3.
START = """
import ctypes, os, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl, pack
acl = Acl(Path(sys.argv[2]))
acl.set_device(0)
binary = acl.load(Path(sys.argv[3]))
def launch(name, blocks, layout, *values, **attributes):
    acl.ok(acl.launch(acl.function(binary, name), blocks, pack(layout, *values), **attributes))
"""

Program = Callable[..., list[str]]
Sanitize = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module", name="races")
def race_kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """races.asc with source lines."""
    source = tmp_path_factory.mktemp("races with lines") / "races.asc"
    shutil.copy(TESTS / "emulator/machine/races.asc", source)
    return compiler.build(source, "-g")


@pytest.fixture
def program(toolkit: Path) -> Program:
    """The command of a program over a binary."""

    def command(script: str, binary: Path, *arguments: object) -> list[str]:
        return [sys.executable, "-c", START + script, *map(str, (TESTS, toolkit, binary, *arguments))]

    return command


@pytest.fixture
def sanitize() -> Sanitize:
    def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "aivops", "sanitize", *map(str, words)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def document_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.stdout)
    return document
