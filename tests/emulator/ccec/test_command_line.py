"""The drivers' command lines: what CANN's builds pass, what is refused, and what the messages say."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from emulator.ccec.records import Binary
from emulator.conftest import ARCHITECTURES, KernelCompiler

KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) {}
"""

STACK = "-mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000"
COMMON = f"{STACK} -mllvm -cce-aicore-record-overflow=false -mllvm -cce-aicore-addr-transform"
C220 = "--cce-aicore-arch=dav-c220-vec --cce-aicore-only"
C310 = "--cce-aicore-arch=dav-c310-vec --cce-aicore-only"

# Compile lines of public projects for AIV kernels.
PUBLISHED = {
    "collectives for 950": f"{C310} {COMMON} -mllvm -cce-aicore-jump-expand=true -std=c++17 "
    "-fstack-protector-all",
    "collectives for 910B": f"{C220} {COMMON} -mllvm -cce-aicore-dcci-insert-for-scalar=false -std=c++17 "
    "-mllvm --cce-aicore-jump-expand=true -fstack-protector-all -DASCENDC_DUMP=0 -DTILING_KEY_VAR=0",
    "custom operator": f"{C220} -D__CCE_AICORE__=220 -D__DAV_C220__ {COMMON} -fstack-protector-all",
    "parameter size": f"{C310} --cce-aicore-input-parameter-size=28000",
    "by NPU architecture": "--npu-arch=dav-3510 --aicore-only -O3 -DNDEBUG",
    "language of CMake": "--npu-arch=dav-2201 --aicore-only --asc-aicore-lang -O3 -DNDEBUG -std=c++17",
    "libraries for 950": f"{C310} {STACK} -mllvm -cce-aicore-record-overflow=true -mllvm -cce-aicore-addr-transform "
    "--cce-aicore-lang --cce-auto-sync --cce-mask-opt -D__DAV_C310__ -mllvm -cce-aicore-dcci-insert-for-scalar=false "
    "-DTILING_KEY_VAR=0 --cce-disable-kernel-global-attr-check -std=c++17",
    "operators with sanitizer": f"{C220} {COMMON} --cce-auto-sync -mllvm -api-deps-filter --cce-enable-sanitizer "
    "-gline-tables-only -mllvm -cce-aicore-long-call -mllvm -cce-aicore-jump-expand=true -std=c++17",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.h"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize("line", PUBLISHED.values(), ids=PUBLISHED.keys())
def test_published_lines_compile_without_a_word(compiler: KernelCompiler, source: Path, line: str) -> None:
    output = source.with_suffix(".o")
    result = compiler.run(compiler.ccec, "-c", "-x", "cce", "-O2", *line.split(), source, "-o", output)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    binary = source.with_suffix(".linked.o")
    assert compiler.link(binary, output).returncode == 0
    assert Binary(binary).global_functions == {"k"}


@pytest.mark.parametrize("option", ["--asc-aicore-lang", "--cce-aicore-lang"])
def test_an_option_that_tells_the_language(compiler: KernelCompiler, source: Path, option: str) -> None:
    line = ("-c", option, "--npu-arch=dav-2201", "--aicore-only", source, "-o", source.with_suffix(".o"))
    result = compiler.run(compiler.ccec, *line)
    assert (result.returncode, result.stderr) == (0, "")


WRONG = {
    "--cce-auto-snyc": "--cce-auto-snyc: unknown option; known are",
    "--cce-aicore-only=yes": "--cce-aicore-only=yes: unknown option; known are",
    "--npu-arch=dav-2002": "--npu-arch=dav-2002: the emulated toolkit has AIV cores only; known are",
    "--cce-aicore-arch=dav-c220-cube": "dav-c220-cube: the emulated toolkit has AIV cores only",
    "--cce-aicore-arch=dav-c310-vec": "--cce-aicore-arch=dav-c310-vec: contradicts dav-c220-vec",
    "-mllvm -cce-aicore-stack-sise=1": "-mllvm -cce-aicore-stack-sise=1: unknown option; known are",
    "-mllvm -cce-aicore-jump-expand=yes": "-mllvm -cce-aicore-jump-expand=yes: unknown option; known are",
    "-mllvm cce-aicore-addr-transform": "-mllvm cce-aicore-addr-transform: unknown option; known are",
    "-D__NPU_ARCH__=3510": "-D__NPU_ARCH__=3510: contradicts dav-c220-vec, for which it is 2201",
    "-x c++": "-x c++: ccec compiles Ascend C; use -x cce",
    "other.asc": "one source at a time",
    "-mllvm": "-mllvm: a value must follow",
}


@pytest.mark.parametrize("option", WRONG)
def test_what_the_ascend_compiler_would_not_take(compiler: KernelCompiler, source: Path, option: str) -> None:
    output = source.with_suffix(".o")
    arch = "--cce-aicore-arch=dav-c220-vec"
    result = compiler.run(
        compiler.ccec, "-c", "-x", "cce", arch, "--cce-aicore-only", source, "-o", output, *option.split()
    )
    assert result.returncode == 1
    assert result.stderr.startswith("ccec: error: ")
    assert WRONG[option] in result.stderr
    if "known are" in WRONG[option]:
        assert "dav-c310-vec" in result.stderr or "-mllvm -cce-aicore-stack-size=<number>" in result.stderr
    assert not output.exists()


MISSING = {
    "-c -x cce --cce-aicore-only {source}": "no architecture; add one of",
    "-c -x cce --npu-arch=dav-2201 {source}": "--cce-aicore-only is missing",
    "-c --npu-arch=dav-2201 --cce-aicore-only {source}": "is no Ascend C by its suffix; add -x cce",
    "-x cce --npu-arch=dav-2201 --cce-aicore-only {source}": "-c is missing",
    "-c -x cce --npu-arch=dav-2201 --cce-aicore-only": "no source",
    "-c -x cce --npu-arch=dav-2201 --cce-aicore-only nowhere.asc": "nowhere.asc: no such file",
}


@pytest.mark.parametrize("line", MISSING)
def test_incomplete_lines(compiler: KernelCompiler, source: Path, line: str) -> None:
    result = compiler.run(compiler.ccec, *line.format(source=source).split(), cwd=source.parent)
    assert result.returncode == 1
    assert MISSING[line] in result.stderr


LINK_LINES = {
    "-m aicorelinux -Ttext=0 {object} -static -o out.o --gc-sections": "--gc-sections: unknown option",
    "-m elf_x86_64 -Ttext=0 {object} -static -o out.o": "-m elf_x86_64: kernels are linked with",
    "-Ttext=0 {object} -static -o out.o": "-m aicorelinux is missing",
    "-m aicorelinux {object} -static -o out.o": "-Ttext=0 is missing",
    "-m aicorelinux -Ttext=0 {object} -o out.o": "-static (or -r) is missing",
    "-m aicorelinux -Ttext=0 {object} -static": "no output: -o is missing",
    "-m aicorelinux -Ttext=0 -static -o out.o": "no object to link",
    "-m aicorelinux -Ttext=0 nowhere.o -static -o out.o": "nowhere.o: no such file",
}


@pytest.mark.parametrize("line", LINK_LINES)
def test_wrong_link_lines(compiler: KernelCompiler, source: Path, line: str) -> None:
    relocatable = source.with_suffix(".o")
    assert compiler.compile(source, relocatable).returncode == 0
    result = compiler.run(compiler.ld_lld, *line.format(object=relocatable).split(), cwd=source.parent)
    assert result.returncode == 1
    assert result.stderr.startswith("ld.lld: error: ")
    assert LINK_LINES[line] in result.stderr
    assert not (source.parent / "out.o").exists()


def test_other_ways_to_link(compiler: KernelCompiler, source: Path) -> None:
    """The op compiler's way: a relocatable joined in place, relocations kept; and locals discarded."""
    relocatable = source.with_suffix(".o")
    joined = source.with_suffix(".joined.o")
    assert compiler.compile(source, relocatable).returncode == 0
    lines = (
        f"-m aicorelinux -r -Ttext=0 -q -x {relocatable} -static -o {joined}",
        f"-m aicorelinux -Ttext=0 {joined} -static -o {joined} -q",
    )
    types = []
    for line in lines:
        result = compiler.run(compiler.ld_lld, *line.split())
        assert result.returncode == 0, result.stderr
        types.append(Binary(joined).type)
    assert types == ["ET_REL", "ET_DYN"]
    assert Binary(joined).global_functions == {"k"}


def test_objects_that_do_not_fit(compiler: KernelCompiler, source: Path, tmp_path: Path) -> None:
    own = [tmp_path / f"{architecture}.o" for architecture in ARCHITECTURES]
    for architecture, relocatable in zip(ARCHITECTURES, own, strict=True):
        assert compiler.compile(source, relocatable, architecture=architecture).returncode == 0
    foreign, text = tmp_path / "foreign.o", tmp_path / "text.o"
    assert compiler.run("g++", "-c", "-x", "c++", "/dev/null", "-o", foreign).returncode == 0
    text.write_text("no object")
    for wrong, message in (
        (own[1], "was compiled for NPU architecture 3510, and "),
        (foreign, "was not compiled by the emulated ccec (it has no section .aivops.contract)"),
        (text, "is no 64-bit little-endian ELF object"),
    ):
        result = compiler.link(tmp_path / "out.o", own[0], wrong)
        assert result.returncode == 1
        assert result.stderr.startswith(f"ld.lld: error: {wrong}: {message}")
        assert not (tmp_path / "out.o").exists()


def test_an_undefined_function_fails_the_link(compiler: KernelCompiler, source: Path) -> None:
    source.write_text(
        KERNEL.replace("{}", "{ missing(x); }").replace("extern", "void missing(GM_ADDR);\nextern", 1)
    )
    relocatable = source.with_suffix(".o")
    output = source.with_suffix(".linked.o")
    output.write_bytes(b"the last good one")
    assert compiler.compile(source, relocatable).returncode == 0
    result = compiler.link(output, relocatable)
    assert result.returncode != 0
    assert "missing" in result.stderr
    assert output.read_bytes() == b"the last good one"


def test_macros_of_the_architectures(compiler: KernelCompiler, source: Path) -> None:
    expected = {"dav-c220-vec": (2201, 220, "C220"), "dav-c310-vec": (3510, 310, "C310")}
    for architecture, (npu, cce, family) in expected.items():
        source.write_text(
            f"static_assert(__NPU_ARCH__ == {npu} && __CCE_AICORE__ == {cce});"
            f"static_assert(__DAV_{family}__ && __DAV_{family}_VEC__);"
        )
        result = compiler.compile(source, source.with_suffix(".o"), "-Werror", architecture=architecture)
        assert result.returncode == 0, result.stderr


def test_host_modes(compiler: KernelCompiler, source: Path) -> None:
    line = ("-x", "cce", "--npu-arch=dav-2201", "--cce-aicore-only", source)
    preprocessed = compiler.run(compiler.ccec, "-E", *line)
    assert preprocessed.returncode == 0
    assert "void k(" in preprocessed.stdout
    dependencies = compiler.run(compiler.ccec, "-MM", *line)
    assert dependencies.stdout.startswith("kernel.o: ")
    assert compiler.run(compiler.ccec, "-fsyntax-only", *line).returncode == 0
    assert not source.with_suffix(".o").exists()
    version = compiler.run(compiler.ccec, "--version")
    assert version.stdout.startswith("ccec ")
    assert "--cce-aicore-only" in compiler.run(compiler.ccec, "--help").stdout


def test_the_printed_command_is_the_host_compile(compiler: KernelCompiler, source: Path) -> None:
    output = source.with_name("host object.o")
    printed = compiler.compile(source, output, "-###")
    assert printed.returncode == 0
    assert not output.exists()
    result = compiler.run("sh", "-c", printed.stderr)
    assert result.returncode == 0, result.stderr
    assert output.exists()


def test_default_output_is_named_after_the_source(compiler: KernelCompiler, source: Path) -> None:
    line = ("-c", "-x", "cce", "--npu-arch=dav-2201", "--cce-aicore-only", source)
    assert compiler.run(compiler.ccec, *line, cwd=source.parent).returncode == 0
    assert (source.parent / "kernel.o").exists()


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize(
    "line",
    [
        "-c {same} -o {source}",
        "-c {source} -o {link}",
        "-c {source} -o {folder}/./{name}",
        "-c {source} -o {folder}/k.o -MD -MF {source}",
        "-E {source} -o {source}",
        "-c {folder}/kernel.o",
        "-c -MD {folder}/kernel.d",
    ],
)
def test_the_source_is_never_overwritten(
    compiler: KernelCompiler, source: Path, line: str, wrong: bool
) -> None:
    content = "no C++" if wrong else KERNEL
    names = {"link": "link.asc", "same": "same.asc"}
    source.write_text(content)
    (source.parent / "link.asc").symlink_to(source)
    (source.parent / "same.asc").hardlink_to(source)
    for name in ("kernel.o", "kernel.d"):
        (source.parent / name).write_text(content)
    places = {key: source.parent / name for key, name in names.items()}
    words = line.format(source=source, folder=source.parent, name=source.name, **places).split()
    common = ("-x", "cce", "--npu-arch=dav-2201", "--cce-aicore-only")
    result = compiler.run(compiler.ccec, *common, *words, cwd=source.parent)
    assert result.returncode == 1
    assert "is the source, and would be overwritten; name another output" in result.stderr
    for name in (source.name, "kernel.o", "kernel.d"):
        assert (source.parent / name).read_text() == content


def test_what_is_no_file(compiler: KernelCompiler, source: Path, tmp_path: Path) -> None:
    folder, pipe, relocatable = tmp_path / "folder", tmp_path / "pipe", tmp_path / "k.o"
    folder.mkdir()
    os.mkfifo(pipe)
    assert compiler.compile(source, relocatable).returncode == 0
    for result, message in (
        (compiler.compile(folder, tmp_path / "x.o"), f"{folder}: is no file, but a folder"),
        (compiler.compile(pipe, tmp_path / "x.o"), f"{pipe}: is no file, but a device or pipe"),
        (compiler.link(tmp_path / "x.o", folder), f"{folder}: is no file, but a folder"),
        (compiler.link(folder, relocatable), f"{folder}: is a folder"),
        (compiler.run(compiler.ccec, "-c", source, "-o", ""), "-o: a file name must follow"),
    ):
        assert result.returncode == 1
        assert message in result.stderr
    assert not (tmp_path / "x.o").exists()


def test_a_pipe_takes_the_binary_and_stays_a_pipe(
    compiler: KernelCompiler, source: Path, tmp_path: Path
) -> None:
    """As /dev/null does: whoever links as root must not replace it by a file."""
    relocatable, pipe, binary = tmp_path / "k.o", tmp_path / "pipe", tmp_path / "binary"
    os.mkfifo(pipe)
    assert compiler.compile(source, relocatable).returncode == 0
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        result = compiler.link(pipe, relocatable)
        assert result.returncode == 0, result.stderr
        assert reader.stdout is not None
        binary.write_bytes(reader.stdout.read())
    assert Binary(binary).global_functions == {"k"}
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def without_compilers(tmp_path: Path) -> dict[str, str]:
    empty = tmp_path / "empty"
    empty.mkdir()
    return {"PATH": str(empty), "CXX": "", "AIVOPS_EMU_CXX": ""}


def test_no_compiler(compiler: KernelCompiler, source: Path, tmp_path: Path) -> None:
    bare = KernelCompiler(compiler.toolkit, without_compilers(tmp_path))
    result = bare.compile(source, source.with_suffix(".o"))
    assert result.returncode == 1
    assert result.stderr.startswith("ccec: error: no C++ compiler: AIVOPS_EMU_CXX and CXX are not set")
    assert "install g++ >= 11 or clang++ >= 14, or set AIVOPS_EMU_CXX" in result.stderr


@pytest.mark.parametrize("variable", ["AIVOPS_EMU_CXX", "CXX"])
def test_a_named_compiler_that_is_none_is_no_hint(
    compiler: KernelCompiler, source: Path, variable: str
) -> None:
    named = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": "", variable: "/nowhere/g++ -m64"})
    result = named.compile(source, source.with_suffix(".o"))
    assert result.returncode == 1
    assert f"{variable} is '/nowhere/g++ -m64', which is no program that can be run" in result.stderr


def test_order_of_compilers(compiler: KernelCompiler, source: Path, tmp_path: Path) -> None:
    environment = without_compilers(tmp_path)
    folder = Path(environment["PATH"])
    seen = []
    for name in ("clang++", "g++", "c++", "from CXX", "from AivOps"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name}"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        if name == "from CXX":
            environment["CXX"] = str(program)
        if name == "from AivOps":
            environment["AIVOPS_EMU_CXX"] = str(program)
        driver = KernelCompiler(compiler.toolkit, environment)
        printed = driver.compile(source, source.with_suffix(".o"), "-###").stderr
        seen.append(printed.replace(str(folder) + "/", "").split(" -f")[0].strip("'"))
    assert seen == ["clang++", "g++", "c++", "from CXX", "from AivOps"]


def test_a_driver_outside_of_its_toolkit(compiler: KernelCompiler, source: Path, tmp_path: Path) -> None:
    lonely = tmp_path / "lonely/tools/ccec_compiler/bin"
    lonely.mkdir(parents=True)
    shutil.copy(compiler.ccec, lonely / "ccec")
    result = KernelCompiler(tmp_path / "lonely").compile(source, source.with_suffix(".o"))
    assert result.returncode == 1
    assert f"toolkit {os.path.realpath(tmp_path / 'lonely')}: has no " in result.stderr


def test_a_compiler_that_writes_nothing(compiler: KernelCompiler, source: Path) -> None:
    """Its status says that all went well; an object of an earlier build must not pass for its work."""
    idle = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": "/bin/true"})
    relocatable, binary = source.with_suffix(".tmp.o"), source.with_suffix(".o")
    assert compiler.compile(source, relocatable).returncode == 0
    assert compiler.link(binary, relocatable).returncode == 0
    before = binary.read_bytes()
    for result, output in (
        (idle.link(binary, relocatable), binary.name),
        (idle.compile(source, relocatable), relocatable),
    ):
        assert result.returncode == 1
        assert f"{output}: was not written, although /bin/true ended with status 0" in result.stderr
        assert "set AIVOPS_EMU_CXX to a C++ compiler" in result.stderr
    assert not relocatable.exists()
    assert binary.read_bytes() == before


@pytest.mark.parametrize("folder", ["/nowhere", "/proc", "/dev/null"])
def test_temporary_files_have_no_place(compiler: KernelCompiler, source: Path, folder: str) -> None:
    nowhere = KernelCompiler(compiler.toolkit, {"TMPDIR": folder})
    result = nowhere.compile(source, source.with_suffix(".o"))
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if line.startswith("ccec: ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"ccec: error: cannot make a temporary directory in {folder}: ")
    assert lines[0].endswith("TMPDIR names that directory: set it to one that exists and can be written")
