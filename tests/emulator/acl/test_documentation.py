"""docs/emulator.md says what the library says of itself."""

from __future__ import annotations

import re
from pathlib import Path

from abi.abi_program import load
from emulator.acl_api import Acl


def page(repository: Path) -> str:
    return (repository / "docs/emulator.md").read_text()


def test_settings_table_is_the_librarys(acl: Acl, repository: Path) -> None:
    table = acl.aivopsEmuDescribeSettings().decode()
    assert table in page(repository), (
        "put the text of aivopsEmuDescribeSettings into docs/emulator.md:\n" + table
    )


def test_every_variable_that_is_read_is_in_the_table(acl: Acl, repository: Path) -> None:
    read = set()
    for source in (repository / "host/emulator").rglob("*.cpp"):
        read |= set(re.findall(r'"(AIVOPS_EMU_[A-Z_]+)"', source.read_text()))
    documented = set(re.findall(r"`(AIVOPS_EMU_[A-Z_]+)`", acl.aivopsEmuDescribeSettings().decode()))
    assert documented == {name for name in read if not name.endswith(("_SECTION", "_SYMBOL", "_MAGIC"))}


def test_functions_that_are_not_provided_are_listed(acl: Acl, repository: Path) -> None:
    text = page(repository)
    listed = set(re.findall(r"`(acl\w+)`", text[text.index("not provided exist") :]))
    source = (repository / "host/emulator/acl/not_provided.cpp").read_text()
    assert listed == set(re.findall(r"^AIVOPS_NOT_PROVIDED\((\w+)\)", source, re.MULTILINE))


def test_every_function_of_the_interface_exists_in_both_libraries(toolkit: Path) -> None:
    names = [function["name"] for function in load("acl-abi.json")["functions"]]
    for library in ("libacl_rt.so", "libascendcl.so"):
        opened = Acl(toolkit, library)
        assert [name for name in names if not hasattr(opened.library, name)] == []
