"""Every function that the emulated toolkit provides is called by a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from abi.abi_program import load

ROOT = Path(__file__).parents[2]
SUFFIXES = {".py", ".c", ".cpp", ".h"}


def words_of_tests() -> set[str]:
    """All words of the tests, those that compare declarations left out."""
    sources = (path for path in (ROOT / "tests").rglob("*") if path.suffix in SUFFIXES)
    return {
        word
        for path in sources
        if "abi" not in path.parts
        for word in re.findall(r"\w+", path.read_text(errors="replace"))
    }


@pytest.mark.parametrize(
    ("description", "not_provided"),
    [("acl-abi.json", "acl/not_provided.cpp"), ("hccl-abi.json", "hccl/api_not_provided.cpp")],
)
def test_a_test_calls_every_function(description: str, not_provided: str) -> None:
    source = (ROOT / "host/emulator" / not_provided).read_text()
    missing = set(re.findall(r"^AIVOPS_NOT_PROVIDED\((\w+)\)$", source, re.MULTILINE))
    provided = {
        function["name"] for function in load(description)["functions"] if not function.get("inline", False)
    } - missing
    assert provided
    assert sorted(provided - words_of_tests()) == []
