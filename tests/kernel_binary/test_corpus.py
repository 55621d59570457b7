"""The vendor's sample binaries: facts and findings are exactly those that are written down beside them, and those that
readelf and pyelftools see."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aivops
import pytest
from aivops import _core
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

KERNEL_TYPES = {
    2: "K_TYPE_AIC",
    3: "K_TYPE_AIV",
    4: "K_TYPE_MIX_AIC_MAIN",
    5: "K_TYPE_MIX_AIV_MAIN",
    6: "K_TYPE_AIC_ROLLBACK",
    7: "K_TYPE_AIV_ROLLBACK",
}


@pytest.fixture(scope="module")
def expected(corpus: Path) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads((corpus / "expected.json").read_text())["files"]
    assert len(files) == 24
    return files


def rules(findings: list[dict[str, Any]], severity: str) -> list[str]:
    return sorted({finding["rule"] for finding in findings if finding["severity"] == severity})


@pytest.mark.parametrize("profile", ["any", "aiv"])
def test_findings(
    corpus: Path, expected: list[dict[str, Any]], aivops_verify: Callable[..., Any], profile: str
) -> None:
    for facts in expected:
        path = corpus / facts["file"]
        report = aivops.verify(path, profile=profile, architecture=facts["arch"]).document()
        (entry,) = report["files"]
        found = {severity: rules(entry["findings"], severity) for severity in ("error", "warning", "info")}
        assert found == facts["expected"][profile], facts["file"]

        run = aivops_verify("--profile", profile, "--architecture", facts["arch"], "--format", "json", path)
        assert json.loads(run.stdout) == report
        assert run.returncode == (1 if facts["expected"][profile]["error"] else 0)


def test_facts(corpus: Path, expected: list[dict[str, Any]]) -> None:
    for facts in expected:
        page = json.loads(_core.KernelBinary.open(str(corpus / facts["file"])).inspect("x"))
        header = page["header"]
        elf = facts["elf"]
        assert header["bytes"] == facts["size"]
        assert (header["e_type"], header["e_flags"]) == (elf["e_type"], elf["e_flags"])
        assert (header["e_machine"], header["e_version"]) == (elf["e_machine"], elf["e_version"])
        assert (header["sections"], header["program_headers"]) == (elf["sections"], elf["program_headers"])
        assert page["stack_record"] == facts["stack_record"]
        records = [[r["type"], r["length"]] for r in page["binary_records"]]
        assert records == [[kind, length] for kind, length, _ in facts["binary_meta_tlvs"]]
        kernels = {kernel["name"]: kernel for kernel in page["kernels"]}
        assert kernels.keys() == {kernel["name"] for kernel in facts["kernels"]}
        for kernel in facts["kernels"]:
            found = kernels[kernel["name"]]
            assert (found["offset"], found["size"]) == (kernel["offset"], kernel["size"])
            assert found["args_size"] == kernel["arg_size"]
            assert found["type"] == KERNEL_TYPES.get(kernel.get("k_type"))
            assert [[r["type"], r["length"]] for r in found["records"]] == (kernel.get("tlvs") or [])
            assert found["stack_size"] == kernel.get("su_stack_size")
            values = {record["type"]: record["value"] for record in found["records"]}
            if kernel.get("task_ratio") is not None:
                cube, vector = kernel.get("task_ratio")
                assert values[3] == f"{cube} cube : {vector} vector"
            if kernel.get("dfx_arg_records") is not None:
                assert values[4].startswith(f"{kernel['dfx_arg_records']} argument")


def test_sections_and_symbols_are_those_of_pyelftools(corpus: Path, expected: list[dict[str, Any]]) -> None:
    for facts in expected:
        path = corpus / facts["file"]
        page = json.loads(_core.KernelBinary.open(str(path)).inspect("x"))
        with path.open("rb") as file:
            elf = ELFFile(file)
            sections = [
                (s.name, s["sh_offset"], s["sh_size"], s["sh_addr"], s["sh_flags"])
                for s in elf.iter_sections()
            ]
            symbols = sorted(global_functions(elf))
        keys = ("name", "offset", "size", "address", "flags")
        assert [tuple(section[key] for key in keys) for section in page["sections"]] == sections
        assert sorted((k["name"], k["offset"], k["size"]) for k in page["kernels"]) == symbols


def global_functions(elf: ELFFile) -> Iterator[tuple[str, int, int]]:
    table = next(section for section in elf.iter_sections() if isinstance(section, SymbolTableSection))
    for symbol in table.iter_symbols():
        info = symbol["st_info"]
        if (
            info["type"] == "STT_FUNC"
            and info["bind"] == "STB_GLOBAL"
            and symbol["st_other"]["visibility"] != 2
        ):
            yield symbol.name, symbol["st_value"], symbol["st_size"]


def test_completed_binaries(corpus: Path, tmp_path: Path) -> None:
    """A completed copy has the record where readelf sees it, and everything else as it was."""
    completed = []
    for path in sorted(corpus.glob("*.o")):
        data, added, refusal = _core.KernelBinary.open(str(path)).add_vector_records()
        assert bool(refusal) != bool(data)
        if refusal:
            continue
        completed.append(path.name)
        copy = tmp_path / path.name
        copy.write_bytes(data)
        report = aivops.verify(copy, profile="aiv")
        assert report.count("error") == 0
        assert {kernel.type for kernel in report.files[0].kernels} == {"K_TYPE_AIV"}
        assert sections_in_readelf(path).items() <= sections_in_readelf(copy).items() | changed(path, added)
        with copy.open("rb") as file:
            elf = ELFFile(file)
            for kernel in added:
                section = elf.get_section_by_name(f".ascend.meta.{kernel}")
                assert section.data()[:8] == bytes.fromhex("0100040003000000")
        with path.open("rb") as before, copy.open("rb") as after:
            old, new = ELFFile(before), ELFFile(after)
            for section in old.iter_sections():
                if section["sh_flags"] & 2:
                    assert new.get_section_by_name(section.name).data() == section.data()
    assert completed == ["mx-910b-aiv-nometa.o", "mxa5-950-noktype-1k.o", "mxa5-950-noktype-desync.o"]


def sections_in_readelf(path: Path) -> dict[str, tuple[str, ...]]:
    """Type, offset and size by name, without a complaint."""
    run = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True)
    assert not run.stderr
    rows = [line.split("]", 1)[1].split() for line in run.stdout.splitlines() if line.startswith("  [")]
    return {row[0]: (row[1], row[3], row[4]) for row in rows if len(row) > 5}


def changed(path: Path, added: list[str]) -> set[tuple[str, tuple[str, ...]]]:
    """What may differ in a copy: the name table, and sections that got a record."""
    names = {".shstrtab", *(f".ascend.meta.{kernel}" for kernel in added)}
    return {(name, row) for name, row in sections_in_readelf(path).items() if name in names}
