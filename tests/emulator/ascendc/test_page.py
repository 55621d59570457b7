"""docs/ascendc.md tells the truth: it is what the headers give, its names compile, and what real kernels use is there."""

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from emulator.conftest import ARCHITECTURES, KernelCompiler

CLASSES = ("TBuf", "TQueBind", "TQue", "TQueSync", "TPipe", "LocalTensor", "GlobalTensor")
NOT_CALLED = ("PrimType",)


@pytest.fixture(scope="module")
def describe(repository: Path) -> ModuleType:
    path = repository / "host/emulator/ascendc/describe.py"
    specification = importlib.util.spec_from_file_location("describe", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs/ascendc.md").read_text()


def test_the_page_is_what_the_headers_give(describe: ModuleType, page: str) -> None:
    assert page == describe.page(), "run python host/emulator/ascendc/describe.py"


def scope_of(header: str) -> str:
    if header.startswith("aivops_emulator/") or header.endswith("kernel_meta.h"):
        return "::"
    return "AscendC::Std::" if header.endswith("std_type_traits.h") else "AscendC::"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_its_names_exist(
    describe: ModuleType, compiler: KernelCompiler, tmp_path: Path, architecture: str
) -> None:
    """Every name of the headers that are Ascend C's own, by a using-declaration in another namespace."""
    lines = ['#include "kernel_operator.h"', "namespace user {"]
    for path in describe.headers():
        header = describe.describe(path)
        for entry in header.entries:
            kind, _, rest = entry.partition(":")
            if kind in ("Functions", "Constants and variables", "Types"):
                names = re.findall(r"`(\w+)`", rest)
            elif kind == "Macros":
                lines += [f"#ifndef {name}\n#error {name}\n#endif" for name in re.findall(r"`(\w+)`", rest)]
                continue
            else:
                names = re.findall(r"`(\w+)`", kind)
            lines += [f"using {scope_of(path)}{name};" for name in names]
    assert len(lines) > 100
    source = tmp_path / "names.asc"
    source.write_text("\n".join([*lines, "}"]))
    result = compiler.compile(source, tmp_path / "names.o", architecture=architecture)
    assert result.returncode == 0, result.stderr


def test_what_is_said_not_to_exist_does_not(describe: ModuleType, page: str) -> None:
    listed = page.partition("## Not emulated")[0]
    assert not set(describe.not_emulated()) & set(re.findall(r"`(\w+)`", listed))


def symbols(repository: Path) -> list[dict[str, str]]:
    """Every symbol that public AIV communication kernels use, with how much it matters."""
    with (repository / "tests/emulator/ascendc/symbols.tsv").open() as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def test_what_real_kernels_use_is_there(repository: Path, page: str) -> None:
    listed, _, refused = page.partition("## Not emulated")
    words = set(re.findall(r"\w+", listed))
    missing = {row["symbol"] for row in symbols(repository) if row["priority"] in "12"} - words
    assert missing == set()
    # Of what matters less, everything is either there or named as not there.
    rest = {row["symbol"] for row in symbols(repository)} - words - set(re.findall(r"\w+", refused))
    assert rest == set()


def test_every_function_is_run_by_a_test(describe: ModuleType, repository: Path) -> None:
    """Functions and members of the page occur in kernels of the tests, by name."""
    folder = repository / "tests/emulator/ascendc"
    sources = [path for path in folder.iterdir() if path.suffix in (".py", ".h", ".asc")]
    sources = [path for path in sources if path.name != Path(__file__).name]
    words = set(re.findall(r"\w+", "".join(path.read_text() for path in sources)))
    names: set[str] = set()
    for path in describe.headers():
        for entry in describe.describe(path).entries:
            kind, _, rest = entry.partition(":")
            if kind == "Functions" or kind.strip("`") in CLASSES:
                names |= {
                    name for name in re.findall(r"`([A-Z]\w+|[a-z]+_\w+)`", rest) if name not in NOT_CALLED
                }
    assert names - words == set()
    assert len(names) > 100


def test_symbols_by_priority(repository: Path, page: str) -> None:
    """How many of the symbols of real kernels there are."""
    words = set(re.findall(r"\w+", page.partition("## Not emulated")[0]))
    counts = {}
    for row in symbols(repository):
        there, all_ = counts.get(row["priority"], (0, 0))
        counts[row["priority"]] = (there + (row["symbol"] in words), all_ + 1)
    print({priority: f"{there} of {all_}" for priority, (there, all_) in sorted(counts.items())})
    assert counts["1"][0] == counts["1"][1]
    assert counts["2"][0] == counts["2"][1]
