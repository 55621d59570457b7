"""The kernels of this subject, built once with the emulated compiler, and the runtime that runs them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from emulator.conftest import KernelCompiler


@pytest.fixture(scope="session")
def kernels(compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("kernels") / "kernels.asc"
    shutil.copy(Path(__file__).parent / "kernels.asc", source)
    return compiler.build(source)
