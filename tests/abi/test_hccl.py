"""Everything that the HCCL headers declare equals the description of CANN's interface, in C and in C++."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest
from abi.abi_program import Abi, load, program

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "host/cann/include"
HEADERS = sorted(
    path.relative_to(INCLUDE) for path in [*(INCLUDE / "hccl").glob("*.h"), *INCLUDE.glob("hcomm*.h")]
)


def description() -> Abi:
    """The description of HCCL in the form of the one of ACL."""
    abi = load("hccl-abi.json")
    types = {name: handle["c"] for name, handle in abi["handles"].items() if "union" not in handle["c"]}
    return {**abi, "errors": {}, "typedefs": types, "callback_types": {}}


@pytest.mark.parametrize(
    ("language", "command"), [("c", ["gcc", "-std=c11"]), ("c++", ["g++", "-std=c++17"])]
)
def test_headers_equal_the_description(tmp_path: Path, language: str, command: list[str]) -> None:
    source = tmp_path / f"abi.{'c' if language == 'c' else 'cpp'}"
    source.write_text(program(description(), [str(header) for header in HEADERS], language))
    binary = tmp_path / "abi"
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-type-limits", f"-I{INCLUDE}"]
    built = subprocess.run(
        [*command, *flags, str(source), "-o", str(binary)], check=False, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr[-4000:]
    ran = subprocess.run([str(binary)], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_header_stands_alone(tmp_path: Path, header: Path) -> None:
    for compiler, suffix in (("gcc", "c"), ("g++", "cpp")):
        source = tmp_path / f"alone.{suffix}"
        source.write_text(f"#include <{header}>\n")
        subprocess.run([compiler, f"-I{INCLUDE}", "-fsyntax-only", "-Werror", str(source)], check=True)


def test_every_function_is_declared_and_no_other() -> None:
    text = "\n".join((INCLUDE / header).read_text() for header in HEADERS)
    declared = set(re.findall(r"^[a-z][\w ]*\*? (H\w+|\w+Init)\(", text, re.MULTILINE | re.IGNORECASE))
    assert declared == {function["name"] for function in load("hccl-abi.json")["functions"]}


RECORDS = [
    ("HcclCommConfig", "HcclCommConfigInit(&record)"),
    ("HcclChannelDesc", "HcclChannelDescInit(&record, 1)"),
    ("CommLink", "CommLinkInit(&record, 1)"),
    ("EndpointDesc", "EndpointDescInit(&record, 1)"),
    ("ThreadConfig", "ThreadConfigInit(&record, 1)"),
]


@pytest.mark.parametrize(("name", "call"), RECORDS)
def test_initialised_records_hold_the_documented_values(tmp_path: Path, name: str, call: str) -> None:
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    source = tmp_path / "record.c"
    source.write_text(
        f"{includes}#include <stdio.h>\n"
        f"int main(void) {{ {name} record; memset(&record, 0x5a, sizeof record); {call};"
        " return fwrite(&record, sizeof record, 1, stdout) != 1; }\n"
    )
    subprocess.run(["gcc", f"-I{INCLUDE}", str(source), "-o", str(tmp_path / "record")], check=True)
    record = subprocess.run([tmp_path / "record"], check=True, capture_output=True).stdout

    layout = load("hccl-abi.json")["structs"][name]
    assert len(record) == layout["size"]
    offsets = {field["name"]: field["offset"] for field in layout["fields"]}
    header = offsets.get("header", 0)
    offsets |= {
        f"header.{part}": header + 4 * i
        for i, part in enumerate(("version", "magicWord", "size", "reserved"))
    }
    if "commAddr" in offsets:  # records inside begin with the field that is set
        offsets |= {"commAddr.type": offsets["commAddr"], "loc.locType": offsets["loc"]}
    widths = {field["name"]: field["size"] for field in layout["fields"]}
    for field, value in layout["init"]["values"].items():
        width = widths.get(field, 4)
        found = int.from_bytes(record[offsets[field] :][:width], "little")
        assert found == value % (1 << 8 * width), field
    if name == "HcclCommConfig":
        constants = load("hccl-abi.json")["constants"]
        expected = (
            layout["size"],
            constants["HCCL_COMM_CONFIG_MAGIC_WORD"],
            constants["HCCL_COMM_CONFIG_VERSION"],
            0,
        )
        assert struct.unpack_from("<QIIQ", record) == expected
