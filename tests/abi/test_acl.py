"""Everything that the ACL headers declare equals the description of CANN's interface, in C and in C++."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from abi.abi_program import load, program

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "host/cann/include"


@pytest.mark.parametrize(
    ("language", "command"), [("c", ["gcc", "-std=c11"]), ("c++", ["g++", "-std=c++17"])]
)
def test_headers_equal_the_description(tmp_path: Path, language: str, command: list[str]) -> None:
    source = tmp_path / f"abi.{'c' if language == 'c' else 'cpp'}"
    source.write_text(program(load("acl-abi.json"), ["acl/acl.h"], language))
    binary = tmp_path / "abi"
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-type-limits", f"-I{INCLUDE}"]
    built = subprocess.run(
        [*command, *flags, str(source), "-o", str(binary)], check=False, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr[-4000:]
    ran = subprocess.run([str(binary)], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    "header", sorted(p.relative_to(INCLUDE) for p in (INCLUDE / "acl").rglob("*.h")), ids=str
)
def test_header_stands_alone(tmp_path: Path, header: Path) -> None:
    for compiler, suffix in (("gcc", "c"), ("g++", "cpp")):
        source = tmp_path / f"alone.{suffix}"
        source.write_text(f"#include <{header}>\n")
        subprocess.run([compiler, f"-I{INCLUDE}", "-fsyntax-only", "-Werror", str(source)], check=True)


def test_nothing_is_declared_that_the_description_lacks() -> None:
    text = "\n".join(path.read_text() for path in (INCLUDE / "acl").rglob("*.h"))
    declared = set(re.findall(r"ACL_FUNC_VISIBILITY\s[^;(]*?\b(acl\w+)\(", text))
    assert declared == {function["name"] for function in load("acl-abi.json")["functions"]}
