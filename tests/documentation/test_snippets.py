"""What README and docs show is what it says: blocks of Python are programs, those of consoles can be typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


class Snippet(NamedTuple):
    page: Path
    code: str

    @property
    def name(self) -> str:
        number = [snippet.code for snippet in SNIPPETS if snippet.page == self.page].index(self.code)
        return f"{self.page.stem}-{number}"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


SNIPPETS = [Snippet(page, code) for page in PAGES for code in blocks(page, "python")]
ALL_AT_ONCE = "Communicator.from_env"
NEEDS_KERNELS = "build/saxpy"
# With packages of their own: tests/collectives/test_documentation.py builds those and runs these.
WITH_PACKAGES = ("ring_all_gather", "my_package")
SPECIAL = (ALL_AT_ONCE, NEEDS_KERNELS, "pytest.mark", *WITH_PACKAGES)


def those_with(mark: str) -> list[object]:
    return [pytest.param(snippet, id=snippet.name) for snippet in SNIPPETS if mark in snippet.code]


def run(folder: Path, *command: str | Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "AIVOPS_TOOLKIT": "emulator"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def write(folder: Path, snippet: Snippet, name: str = "program.py") -> Path:
    program = folder / name
    program.write_text(snippet.code)
    return program


@pytest.mark.parametrize(
    "snippet",
    [pytest.param(s, id=s.name) for s in SNIPPETS if not any(mark in s.code for mark in SPECIAL)],
)
def test_programs(snippet: Snippet, tmp_path: Path) -> None:
    run(tmp_path, sys.executable, write(tmp_path, snippet))


@pytest.mark.parametrize("snippet", those_with(ALL_AT_ONCE))
def test_programs_of_several_processes(snippet: Snippet, tmp_path: Path) -> None:
    run(tmp_path, "aivops", "run", "-n", "2", "python", write(tmp_path, snippet))


@pytest.mark.parametrize("snippet", those_with("pytest.mark"))
def test_tests(snippet: Snippet, tmp_path: Path) -> None:
    options = ["-q", "-p", "no:cacheprovider", "--aiv-seeds=2"]
    output = run(tmp_path, sys.executable, "-m", "pytest", *options, write(tmp_path, snippet, "test_it.py"))
    assert "4 passed" in output


@pytest.mark.long
@pytest.mark.parametrize("snippet", those_with(NEEDS_KERNELS))
def test_programs_with_kernels(snippet: Snippet, tmp_path: Path) -> None:
    """The page says how to build them in a clone."""
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    (console,) = blocks(snippet.page, "console")
    for line in console.splitlines():
        run(tmp_path, "sh", "-c", line.removeprefix("$ "))
    assert run(tmp_path, sys.executable, write(tmp_path, snippet)).startswith("[7. 7. 7. ")
