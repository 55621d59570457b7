"""`aivops inspect`: one readable page about a kernel binary, from the decoded document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._words import counted

_FLAGS = ((1, "W"), (2, "A"), (4, "X"))
_TYPES = {
    0: "NULL",
    1: "PROGBITS",
    2: "SYMTAB",
    3: "STRTAB",
    4: "RELA",
    6: "DYNAMIC",
    7: "NOTE",
    8: "NOBITS",
    9: "REL",
    11: "DYNSYM",
}
_FILE_TYPES = {1: "relocatable", 2: "executable", 3: "shared"}


def render_page(document: Mapping[str, Any]) -> str:
    return "\n".join(_lines(document))


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    header = document["header"]
    yield document["path"]
    facts = [
        ("machine", f"{document['machine']} (e_machine {header['e_machine']:#x})"),
        ("architecture", f"{document['architecture']} (e_flags {header['e_flags']:#x})"),
        ("type", f"{_FILE_TYPES.get(header['e_type'], 'unknown')} (e_type {header['e_type']})"),
        ("size", counted(header["bytes"], "byte")),
    ]
    if header["contract_version"] is not None:
        facts.append(("contract", f"{header['contract_version']}, toolkit {header['toolkit_version']}"))
    if document["stack_record"] is not None:
        facts.append(("stack record", ", ".join(map(str, document["stack_record"])) or "empty"))
    yield from (f"  {title:<13} {value}" for title, value in facts)

    yield ""
    yield f"Kernels ({len(document['kernels'])})"
    for kernel in document["kernels"]:
        yield from _kernel_lines(kernel)

    if document["binary_records"]:
        yield ""
        yield "Records of the binary"
        yield from _record_lines(document["binary_records"], "  ")

    yield ""
    yield f"Sections ({len(document['sections'])})"
    rows = [
        (
            str(index),
            section["name"],
            _TYPES.get(section["type"], f"{section['type']:#x}"),
            "".join(letter for bit, letter in _FLAGS if section["flags"] & bit),
            f"{section['address']:#x}",
            f"{section['offset']:#x}",
            f"{section['size']:#x}",
        )
        for index, section in enumerate(document["sections"])
    ]
    yield from _table(("", "name", "type", "flags", "address", "offset", "size"), rows)

    yield ""
    yield f"Findings ({len(document['findings'])}, profile any)"
    for finding in document["findings"]:
        yield f"  {finding['severity']} {finding['rule']}: {finding['message']}"


def _kernel_lines(kernel: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {kernel['name']}"
    args_size = kernel["args_size"]
    facts = [
        kernel["type"] or "no type",
        f"{counted(kernel['size'], 'byte')} at {kernel['offset']:#x}",
        "arguments unknown" if args_size is None else f"{counted(args_size, 'byte')} of arguments",
    ]
    if kernel["stack_size"] is not None:
        facts.append(f"{counted(kernel['stack_size'], 'byte')} of stack")
    yield f"    {', '.join(facts)}"
    for parameter in kernel["parameters"] or ():
        name = parameter["name"] or "(no name)"
        size = counted(parameter["size"], "byte")
        yield f"    argument {name}: {parameter['kind']}, {size} at {parameter['offset']}"
    yield from _record_lines(kernel["records"], "    ")


def _record_lines(records: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    for record in records:
        yield f"{indent}record {record['type']:>2} {record['name']}: {record['value']}".rstrip(": ")


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in [titles, *rows]) for column in range(len(titles))]
    for row in [titles, *rows]:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
