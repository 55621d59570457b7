"""What the tests of the verifier share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aivops._core import KernelBinary

Check = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def check() -> Check:
    """Verifies bytes in the process: the file's entry of a report."""

    def run(data: bytes, **options: Any) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(KernelBinary.from_bytes(data).verify("x.o", **options))
        return document

    return run


@pytest.fixture(scope="session")
def aivops_verify(build_dir: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the native tool."""
    tool = build_dir / "host" / "tools" / "aivops-verify"

    def run(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        command: Sequence[str] = [str(tool), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)

    return run
