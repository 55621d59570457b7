"""Which symbols of real AIV kernels are emulated, by priority and architecture: run it to see the table.

A symbol counts when tests that pass have run each of its documented overloads (overloads.tsv), for every type that the
architecture has. What ran is measured, not looked up in sources: kernels of the tests are built with a recorder
(recorder.h). A call that the headers themselves make counts for nothing. Symbols that do not run, such as enumerators
and macros, count when they stand in a source whose kernels ran on that architecture.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
HEADERS = TESTS.parent / "host/emulator/ascendc"
DRIVER_NAMES = TESTS.parent / "host/emulator/ccec/missing_names.cpp"
ARCHITECTURES = {2201: "dav-c220-vec", 3510: "dav-c310-vec"}
RUNS = ("function", "member", "builtin_func", "class")  # kinds of symbols that something executes
INTEGERS = {
    "signed char": "int8_t",
    "unsigned char": "uint8_t",
    "short": "int16_t",
    "unsigned short": "uint16_t",
    "int": "int32_t",
    "unsigned int": "uint32_t",
    "long": "int64_t",
    "unsigned long": "uint64_t",
}


def rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open() as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def enumerators() -> dict[tuple[str, int], str]:
    """Names of the values of the enumerations, which demangled names show as numbers."""
    names: dict[tuple[str, int], str] = {}
    for header in sorted(HEADERS.rglob("*.h")):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        for enum in re.finditer(r"\benum (?:class )?(\w+)(?: : \w+)? \{([^}]*)\}", text):
            value = -1
            for entry in filter(None, (part.strip() for part in enum[2].split(","))):
                name, _, given = (part.strip() for part in entry.partition("="))
                value = int(given) if given.isdigit() else value + 1
                names.setdefault((enum[1], value), name)
    pipes = {"PIPE_S": 0, "PIPE_V": 1, "PIPE_MTE2": 4, "PIPE_MTE3": 5, "PIPE_ALL": 6}
    return names | {("pipe_t", value): name for name, value in pipes.items()}


def split(text: str) -> list[str]:
    """What commas outside of brackets separate."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def closing(text: str, start: int, brackets: str) -> int:
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        depth += {brackets[0]: 1, brackets[1]: -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise ValueError(text)


@dataclass(frozen=True)
class Function:
    """A function that ran: `TQueBind::EnQue`, the arguments of its templates, its parameters."""

    name: str
    class_arguments: tuple[str, ...]
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]

    @staticmethod
    def of(demangled: str, names: dict[tuple[str, int], str]) -> Function | None:
        text = re.sub(
            r"\boperator (\w)", r"operator_\1", demangled.replace("AscendC::", "").removesuffix(" const")
        )
        text = re.sub(r"\boperator\(\)", "operator_call", text)
        text = re.sub(
            r"\boperator([-+*/=<>&|]+)(?=[(<])", lambda found: f"operator{found[1].encode().hex()}", text
        )
        try:
            qualified, path, at = [], [], 0
            # A return type, if there is one, ends at the last blank outside of brackets before the parameters.
            open_at = next(
                index
                for index, character in enumerate(text)
                if character == "(" and text[:index].count("<") == text[:index].count(">")
            )
            head = text[:open_at]
            depth, blank = 0, -1
            for index, character in enumerate(head):
                depth += {"<": 1, ">": -1}.get(character, 0)
                if character == " " and depth == 0:
                    blank = index
            head = head[blank + 1 :]
            while at < len(head):
                end = next(
                    (i for i in range(at, len(head)) if head[i] == "<" or head.startswith("::", i)), len(head)
                )
                qualified.append(head[at:end])
                path.append(())
                if end < len(head) and head[end] == "<":
                    close = closing(head, end, "<>")
                    path[-1] = tuple(value_of(argument, names) for argument in split(head[end + 1 : close]))
                    end = close + 1
                at = end + 2
            parameters = split(text[open_at + 1 : closing(text, open_at, "()")])
        except (StopIteration, ValueError):
            return None
        if not path:
            return None  # a lambda, or code that is nobody's
        name = "::".join(re.sub(r"operator([0-9a-f]{2,4})$", undo_operator, part) for part in qualified)
        return Function(
            name.replace("operator_call", "operator()"),
            path[-2] if len(path) > 1 else (),
            path[-1],
            tuple(type_of(parameter) for parameter in parameters),
        )


def undo_operator(found: re.Match[str]) -> str:
    return "operator" + bytes.fromhex(found[1]).decode()


def type_of(text: str) -> str:
    """A parameter's type without const, references and the arguments of templates."""
    bare = re.sub(r"\bconst\b|&", "", text).strip()
    while "<" in bare:
        start = bare.index("<")
        bare = bare[:start] + bare[closing(bare, start, "<>") + 1 :]
    pointer = bare.endswith("*")
    bare = bare.removesuffix("*").strip()
    return INTEGERS.get(bare, bare) + ("*" if pointer else "")


def value_of(argument: str, names: dict[tuple[str, int], str]) -> str:
    if found := re.fullmatch(r"\((\w[\w ]*)\)(\d+)", argument):
        return names.get((found[1], int(found[2])), found[2])
    return type_of(argument)


@dataclass
class Overload:
    symbol: str
    form: str
    instances: dict[str, list[str]]
    found: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        head, _, parameters = self.form.replace("operator()", "operator_call").partition("(")
        kinds = re.search(r"<(.*)>$", head)
        self.kinds = None if kinds is None else split(kinds[1])
        self.name = re.sub(r"<.*>$", "", head).replace("operator_call", "operator()")
        self.parameters = split(parameters.removesuffix(")"))

    def instance_of(self, function: Function, kinds: dict[str, str]) -> tuple[str, ...] | None:
        """The template arguments that tell its instances apart; None when the function is none of them."""
        wanted_parameters = [parameter for parameter in self.parameters if parameter != "..."]
        found_parameters = function.parameters
        if wanted_parameters != self.parameters:  # any number more
            found_parameters = found_parameters[: len(wanted_parameters)]
        if function.name != self.name or len(found_parameters) != len(wanted_parameters):
            return None
        for found, wanted in zip(found_parameters, wanted_parameters, strict=True):
            if wanted != found and (wanted not in ("T", "T*") or found.endswith("*") != wanted.endswith("*")):
                return None
        enums = [kinds[value] for value in function.arguments if value in kinds]
        if self.kinds is not None:
            return function.arguments if enums == self.kinds else None
        if "::" not in function.name:
            return function.arguments
        return None if enums else function.class_arguments

    def missing(self, architecture: str) -> list[str]:
        return [name for name in self.instances[architecture] if name not in self.found[architecture]]

    def note(self, architecture: str, instance: tuple[str, ...]) -> None:
        for name in self.instances[architecture]:
            wanted = [] if name == "any" else name.split("/")
            pairs = zip(wanted, instance, strict=False)
            if len(wanted) <= len(instance) and all(want in ("*", have) for want, have in pairs):
                self.found[architecture].add(name)


def overloads() -> list[Overload]:
    table = []
    for row in rows("overloads.tsv"):
        instances = {name: row[name].split() for name in ARCHITECTURES.values()}
        table.append(
            Overload(row["symbol"], row["form"], {k: [] if v == ["-"] else v for k, v in instances.items()})
        )
    return table


def functions_of(binary: Path) -> dict[int, str]:
    """Offsets of a binary's functions and their demangled names."""
    with binary.open("rb") as stream:
        symbols = ELFFile(stream).get_section_by_name(".symtab")
        found = {s["st_value"]: s.name for s in symbols.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}
    demangled = subprocess.run(
        ["c++filt"], input="\n".join(found.values()), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return dict(zip(found, demangled, strict=True))


@dataclass
class Coverage:
    table: list[Overload]
    words: dict[str, set[str]]  # by architecture: of the sources whose kernels ran

    def gaps(self, symbol: dict[str, str], architecture: str) -> list[str]:
        """What no test runs of a symbol; empty when it is covered."""
        own = [overload for overload in self.table if overload.symbol == symbol["symbol"]]
        if symbol["kind"] in RUNS and own:
            return [f"{o.form} [{name}]" for o in own for name in o.missing(architecture)]
        return [] if symbol["symbol"] in self.words[architecture] else [symbol["symbol"]]


def read_trace(trace: Path) -> Coverage:
    names = enumerators()
    kinds = {name: kind for (kind, _), name in names.items()}
    table = overloads()
    by_name = defaultdict(list)
    for overload in table:
        by_name[overload.name].append(overload)
    words: dict[str, set[str]] = defaultdict(set)
    read: dict[str, dict[int, str]] = {}
    for source, binary, number, _, offset, caller in csv.reader(
        trace.read_text().splitlines(), delimiter="\t"
    ):
        architecture = ARCHITECTURES[int(number)]
        if binary not in read:
            read[binary] = functions_of(Path(binary))
        words[architecture] |= set(re.findall(r"\w+", Path(source).read_text()))
        if re.search(r"\b(AscendC|aivops_emulator)::", read[binary].get(int(caller, 16), "").split("(")[0]):
            continue
        function = Function.of(read[binary].get(int(offset, 16), ""), names)
        for overload in by_name[function.name] if function is not None else ():
            instance = overload.instance_of(function, kinds)
            if instance is not None:
                overload.note(architecture, instance)
    return Coverage(table, words)


def measure() -> Coverage:
    """Runs the tests of this folder with the recorder; they must pass."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.tsv"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
        # What only compiles runs nothing, and the conversions of test_types go through no overload, one by one.
        command += ["-m", "not long", "-k", "not does_not_compile", "--ignore", str(HERE / "test_types.py")]
        command += ["--basetemp", f"{folder}/tests", str(HERE)]
        environment = {**os.environ, "AIVOPS_TEST_TRACE": str(trace), "AIVOPS_EMU_CXX": "g++"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise SystemExit(ran.stdout + ran.stderr)
        return read_trace(trace)


def refused() -> set[str]:
    """Names of Ascend C that the compiler refuses, and says so."""
    text = DRIVER_NAMES.read_text()
    return set(re.findall(r'"(\w+)"', text[text.index("kNotEmulated{") : text.index("};")]))


def report(coverage: Coverage) -> tuple[list[str], list[str]]:
    """The table as lines, and what is missing."""
    on_purpose = refused()
    lines = ["priority  architecture   covered  refused on purpose"]
    missing = []
    for priority in "123":
        symbols = [row for row in rows("symbols.tsv") if row["priority"] == priority]
        there = [row for row in symbols if row["symbol"] not in on_purpose]
        for architecture in ARCHITECTURES.values():
            gaps = {row["symbol"]: coverage.gaps(row, architecture) for row in there}
            covered = sum(not gap for gap in gaps.values())
            lines.append(
                f"{priority:8}  {architecture}  {covered:3} of {len(there):3}  "
                + " ".join(sorted(row["symbol"] for row in symbols if row["symbol"] in on_purpose))
            )
            missing += [f"{architecture}: {name}: {gap}" for name, found in gaps.items() for gap in found]
    return lines, missing


if __name__ == "__main__":
    lines, missing = report(measure())
    print("\n".join(lines))
    if missing:
        print("\nnot covered:\n" + "\n".join(missing))
    sys.exit(bool(missing))
