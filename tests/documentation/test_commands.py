"""Commands and options that README and docs name exist, and every command is in the README."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from aivops.cli import COMMANDS, _parser

REPOSITORY = Path(__file__).parents[2]
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "examples/README.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
]
# Of programs that are not ours.
FOREIGN = {"--cce-auto-sync", "--find-links", "--no-build-isolation", "--npu-arch", "--oversubscribe"}


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


def subparsers_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def all_options() -> set[str]:
    """Of all commands, of the plugin and of the native verifier."""
    waiting, found = [_parser()], set[str]()
    while waiting:
        parser = waiting.pop()
        found |= options_of(parser)
        waiting += subparsers_of(parser).values()
    plugin = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True
    )
    return found | set(re.findall(r"--aiv-[a-z]+", plugin.stdout))


def code_of(page: Path) -> list[str]:
    """Spans and lines of code."""
    text = page.read_text()
    fenced = re.findall(r"^```(?:console|sh)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in fenced for line in block.splitlines()]
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return lines + [span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", outside)]


def commands_of(page: Path) -> list[str]:
    """Calls of aivops, also those inside of other commands and such as `aivops bench launch|copies`."""
    return [call for code in code_of(page) for call in re.findall(r"\baivops ([a-z][^)]*)", code)]


def check(call: str) -> None:
    parser = _parser()
    words = shlex.split(call.replace("[", " ").replace("]", " "))
    while words:
        choices = subparsers_of(parser)
        first = words[0]
        if not choices or not re.fullmatch(r"[a-z][-a-z_|]*", first):
            break
        for name in first.split("|"):
            assert name in choices, f"aivops {call}: there is no {name}"
        parser = choices[first.split("|")[0]]
        words = words[1:]
    for word in words:
        if word == "--" or not word.startswith("-"):
            if word == "--" or re.fullmatch(r"\.?/?[a-z]+", word):
                break  # the options of another program follow
            continue
        assert word.partition("=")[0] in options_of(parser), f"aivops {call}: there is no option {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_exist(page: Path) -> None:
    for call in commands_of(page):
        check(call)


def test_options_exist() -> None:
    known = all_options() | FOREIGN
    for page in PAGES:
        for code in code_of(page):
            for option in re.findall(r"^(--[a-z][-a-z]+)", code):
                assert option in known, f"{page.name}: there is no {option}"


def test_the_readme_has_every_command() -> None:
    named = {call.split()[0] for call in commands_of(REPOSITORY / "README.md")}
    assert named == set(COMMANDS)


def test_a_wrong_one_would_be_found() -> None:
    for call in ("demonstrate", "bench lunch", "verify --formats json x.o", "sanitize --sed=3 -- program"):
        with pytest.raises(AssertionError, match="there is no"):
            check(call)
