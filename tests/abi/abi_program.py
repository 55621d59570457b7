"""Turns a JSON description of a C interface into a program whose compilation is the comparison."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Abi = dict[str, Any]


def load(name: str) -> Abi:
    """Read one of the descriptions next to this file."""
    abi: Abi = json.loads((Path(__file__).parent / name).read_text())
    return abi


def _layout(abi: Abi, language: str) -> list[str]:
    assert_ = "static_assert" if language == "c++" else "_Static_assert"
    align = "alignof" if language == "c++" else "_Alignof"
    lines = []
    for name, enumerators in abi["enums"].items():
        layout = abi["enum_layout"][name]
        lines.append(f'{assert_}(sizeof({name}) == {layout["size"]}, "{name}");')
        if language == "c++":
            signed = "" if layout["signed"] else "!"
            lines.append(
                f'static_assert({signed}std::is_signed_v<std::underlying_type_t<{name}>>, "{name}");'
            )
        else:
            negative = "<" if layout["signed"] else ">"
            lines.append(f'_Static_assert(({name})-1 {negative} ({name})0, "sign of {name}");')
        lines += [f'{assert_}((long long){key} == {value}LL, "{key}");' for key, value in enumerators.items()]
    for name, struct in abi["structs"].items():
        lines.append(f'{assert_}(sizeof({name}) == {struct["size"]}, "{name}");')
        lines.append(f'{assert_}({align}({name}) == {struct["align"]}, "{name}");')
        for field in struct["fields"]:
            label = f"{name}.{field['name']}"
            lines.append(f'{assert_}(offsetof({name}, {field["name"]}) == {field["offset"]}, "{label}");')
            lines.append(f'{assert_}(sizeof((({name}*)0)->{field["name"]}) == {field["size"]}, "{label}");')
    return lines


def _field_types(abi: Abi) -> list[str]:
    lines = []
    for name, struct in abi["structs"].items():
        for field in struct["fields"]:
            if field["type"].startswith("union"):
                continue
            lines.append(
                f"static_assert(std::is_same_v<decltype((({name}*)0)->{field['name']}), {field['type']}>, "
                f'"{name}.{field["name"]}");'
            )
    return lines


def _functions(abi: Abi) -> list[str]:
    lines = []
    for function in abi["functions"]:
        parameters = ", ".join(parameter["type"] for parameter in function["params"]) or "void"
        name = function["name"]
        pointer = f"{function['returns']} (*)({parameters})"
        lines.append(f'static_assert(std::is_same_v<decltype(&{name}), {pointer}>, "{name}");')
    return lines


def _named_values(abi: Abi) -> list[str]:
    """Values that C does not take as constant expressions; the program returns the number of differences."""
    values = {**abi["errors"], **abi["constants"]}
    return [f'    wrong += differs("{key}", (long long)({key}), {value}LL);' for key, value in values.items()]


def _typedefs(abi: Abi) -> list[str]:
    lines = []
    for name, type_ in {**abi["typedefs"], **abi["callback_types"]}.items():
        lines.append(f'static_assert(std::is_same_v<{name}, {re.sub(r"^struct ", "", type_)}>, "{name}");')
    return lines


def program(abi: Abi, includes: list[str], language: str) -> str:
    """A program in C or C++ that compiles, and returns 0, only when the headers equal the description."""
    lines = [f"#include <{include}>" for include in includes]
    lines += ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>"]
    if language == "c++":
        lines.append("#include <type_traits>")
    lines += _layout(abi, language)
    if language == "c++":
        lines += _field_types(abi) + _functions(abi) + _typedefs(abi)
    lines += [
        "static int differs(const char* name, long long found, long long expected) {",
        "    if (found == expected) return 0;",
        '    printf("%s is %lld, expected %lld\\n", name, found, expected);',
        "    return 1;",
        "}",
        "int main(void) {",
        "    int wrong = 0;",
        *_named_values(abi),
        "    return wrong != 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"
