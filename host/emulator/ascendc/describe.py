"""Writes docs/ascendc.md: the Ascend C that the emulated toolkit has, read from the headers themselves.

Run it without arguments after a change of a header; a test compares its output with the committed page.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

HEADERS = Path(__file__).resolve().parent
REPOSITORY = HEADERS.parents[2]
PAGE = REPOSITORY / "docs" / "ascendc.md"
INTRODUCTION = HEADERS / "ascendc.md.in"
DRIVER_NAMES = REPOSITORY / "host" / "emulator" / "ccec" / "missing_names.cpp"

# Headers whose names kernels use; the rest of aivops_emulator/ is how they work.
OF_THE_COMPILER = (
    "aivops_emulator/builtins.h",
    "aivops_emulator/float_types.h",
    "aivops_emulator/qualifiers.h",
)


@dataclass
class Header:
    path: str
    purpose: str
    entries: list[str] = field(default_factory=list)


def purpose_of(text: str) -> str:
    """The comment at the top of a header."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return " ".join(lines)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def public_part(text: str) -> str:
    """Namespace AscendC and the global scope; the namespace of the emulator is how things work."""
    return re.sub(
        r"^namespace aivops_emulator \{.*?^\} // namespace aivops_emulator$", "", text, flags=re.S | re.M
    )


def body_at(text: str, start: int) -> str:
    """What stands between the brace behind `start` and the one that closes it."""
    depth, begin = 0, text.index("{", start)
    for index in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[begin + 1 : index]
    raise ValueError("a brace is not closed")


def unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def quoted(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def enumerations(text: str) -> list[tuple[str, list[str]]]:
    found = []
    for match in re.finditer(r"\benum (?:class )?(\w+)(?: : [\w ]+)? \{([^}]*)\}", text):
        values = [re.split(r"[ =]", value.strip())[0] for value in match[2].split(",") if value.strip()]
        found.append((match[1], values))
    return found


def classes(text: str) -> list[tuple[str, list[str]]]:
    """Classes with a body, and their public members."""
    found = []
    for match in re.finditer(r"^(?:class|struct) (\w+)\b[^;{()]*\{", text, flags=re.M):
        body = body_at(text, match.start()).split("\n  private:")[0]
        flat = re.sub(r"\{[^{}]*\}", ";", re.sub(r"\{[^{}]*\}", ";", re.sub(r"\{[^{}]*\}", ";", body)))
        members = re.findall(
            r"(?<!operator )\b(operator[^\w\s]+|\w+)\([^;]*\)(?: const)?(?: : [^;]*)?\s*;", flat
        )
        members += re.findall(r"^    [\w:<>]+(?: [\w:<>]+)*\*? (\w+)(?: = [^;]*|)?;", flat, flags=re.M)
        hidden = {match[1], f"~{match[1]}", "static_assert", "sizeof", "bits", "kParameterKind"}
        shown = [name for name in unique(members) if name not in hidden]
        found.append((match[1], [name for name in shown if not name.endswith("_") or name == "address_"]))
    return found


def functions(text: str) -> list[str]:
    outside = text
    for match in reversed(list(re.finditer(r"^(?:class|struct) \w+\b[^;{()]*\{", text, flags=re.M))):
        body = body_at(text, match.start())
        outside = outside.replace(body, "")
    names = re.findall(r"AIVOPS_EMU_INLINE (?:constexpr )?[\w:<>,&* ]*?[ *&](\w+)\(", outside)
    names += re.findall(
        r"^AIVOPS_EMU_(?:BINARY|SCALAR|UNARY|REDUCE|WHOLE_REDUCE)\((\w+)", outside, flags=re.M
    )
    if "AIVOPS_EMU_MIN_MAX(" in text:
        names += ["min", "max"]
    return [name for name in unique(names) if name != "name"]


def macros(text: str) -> list[str]:
    return [name for name in unique(re.findall(r"^#define (\w+)", text, flags=re.M)) if "AIVOPS_" not in name]


def describe(path: str) -> Header:
    original = (HEADERS / path).read_text()
    header = Header(path, purpose_of(original))
    text = without_comments(public_part(original))
    if names := functions(re.sub(r"#define (?:.*\\\n)*.*\n", "", text)):
        header.entries.append(f"Functions: {quoted(names)}")
    for name, members in classes(text):
        header.entries.append(f"`{name}`" + (f": {quoted(members)}" if members else ""))
    for name, values in enumerations(text):
        header.entries.append(f"`{name}`: {quoted(values)}")
    variables = re.findall(r"^constexpr [\w:]+ (\w+)(?:\{| =)", text, flags=re.M)
    if variables:
        header.entries.append(f"Constants and variables: {quoted(unique(variables))}")
    aliases = re.findall(r"^using (?:std::)?(\w+)(?: =|;)", text, flags=re.M)
    if aliases:
        header.entries.append(f"Types: {quoted(unique(aliases))}")
    if names := macros(text):
        header.entries.append(f"Macros: {quoted(names)}")
    return header


def headers() -> list[str]:
    """Those of kernels' names; all of them come with kernel_operator.h, at once or through another."""
    folders = ("adv_api/hccl", "basic_api")
    paths = [str(path.relative_to(HEADERS)) for folder in folders for path in (HEADERS / folder).glob("*.h")]
    return [path for path in [*OF_THE_COMPILER, *sorted(paths)] if describe(path).entries]


def not_emulated() -> list[str]:
    source = DRIVER_NAMES.read_text()
    return sorted(
        re.findall(r'"(\w+)"', source[source.index("kNotEmulated{") : source.index("};")]), key=str.lower
    )


def page() -> str:
    parts = [INTRODUCTION.read_text()]
    for path in headers():
        header = describe(path)
        parts.append(f"### {header.path}\n\n{header.purpose}\n")
        parts.append("".join(f"- {entry}\n" for entry in header.entries))
    parts.append("## Not emulated\n\nKnown to `ccec`, which names them when a kernel uses them:\n")
    parts.append(quoted(not_emulated()) + "\n")
    parts.append(
        "`TPipe::InitBuffer` with addresses of the caller's choice is not there either.\n\n"
        "In a clone, `python tests/emulator/ascendc/symbol_coverage.py` shows what tests have run of the\n"
        "symbols that public AIV kernels use: every documented overload for every type, by architecture.\n"
    )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
