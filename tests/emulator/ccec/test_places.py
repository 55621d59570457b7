"""Where sources lie and where messages point: any tree, any name, and never generated code."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from emulator.ccec.records import Binary
from emulator.conftest import KernelCompiler

KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) {}
"""


def messages(stderr: str, severity: str) -> list[str]:
    """File and line of every message, without columns and colours."""
    return re.findall(rf"^(.*?):(\d+):(?:\d+:)? (?:fatal )?{severity}", stderr, flags=re.MULTILINE)


WRONG_SOURCES = {
    "undeclared": (
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {\n nix();\n}\n',
        3,
    ),
    "in a macro": (
        '#define BAD(x) nix(x)\nextern "C" __global__ __aicore__ void k(int x) {\n\n BAD(x);\n}\n',
        4,
    ),
    "open brace": ('extern "C" __global__ __aicore__ void k(int x) {\n if (x) {\n}\n', 3),
    "no such header": ('#include "kernel_operator.h"\n\n#include "nowhere.h"\n', 3),
    "reference": ('\nextern "C" __global__ __aicore__ void k(int& x) {}\n', 2),
    "result": ('\n\nextern "C" __global__ __aicore__ int k() { return 1; }\n', 3),
    "open conditional": ('extern "C" __global__ __aicore__ void k(int x) {}\n#if 1\n', 2),
    "no code of the core": ('#include "kernel_operator.h"\nextern "C" __global__ void k(GM_ADDR x) {}\n', 2),
    # What clang refuses, and the Ascend compiler with it, is no warning of another compiler.
    "narrowing": (
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(uint32_t n) {\n'
        "    AscendC::DataCopyExtParams p{1, n * sizeof(float), 0, 0, 0};\n}\n",
        3,
    ),
    "arithmetic on void": ('extern "C" __global__ __aicore__ void k(void* x) {\n    x = x + 4;\n}\n', 2),
    "register": ('extern "C" __global__ __aicore__ void k(int* x) {\n\n    register int y = *x;\n}\n', 3),
    "byte order mark": ('\ufeff\nextern "C" __global__ __aicore__ void k(int x) { nix(); }', 2),
}


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
@pytest.mark.parametrize("case", WRONG_SOURCES)
def test_errors_point_at_the_source(compiler: KernelCompiler, tmp_path: Path, case: str, cxx: str) -> None:
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    text, line = WRONG_SOURCES[case]
    source = tmp_path / "kernel.asc"
    source.write_text(text)
    result = compiler.compile(source, tmp_path / "k.o")
    assert result.returncode != 0
    places = messages(result.stderr, "error")
    assert places, result.stderr
    mentioned = result.stderr.replace("in expansion of macro", "")
    assert (str(source), str(line)) in re.findall(r"(\S+?):(\d+):", mentioned), result.stderr
    assert "aivops-ccec-" not in result.stderr
    assert not (tmp_path / "k.o").exists()


def test_warnings_once_and_in_place(compiler: KernelCompiler, tmp_path: Path) -> None:
    source = tmp_path / "kernel.asc"
    source.write_text(KERNEL.replace("{}", "{\n int unused;\n}"))
    result = compiler.compile(source, tmp_path / "k.o", "-Wall")
    assert messages(result.stderr, "warning") == [(str(source), "3")]
    quiet = KERNEL.replace("GM_ADDR x", "GM_ADDR")
    source.write_text(quiet)
    result = compiler.compile(
        source, tmp_path / "k.o", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_file_name_and_line_in_code(compiler: KernelCompiler, tmp_path: Path) -> None:
    source = tmp_path / "kernel.asc"
    source.write_text('#define S(x) #x\nextern "C" __global__ __aicore__ void k(const char** p) { *p = __FILE__; }\n'
                      "static_assert(__LINE__ == 3 && __INCLUDE_LEVEL__ == 0);\n")  # fmt: skip
    result = compiler.run(
        compiler.ccec,
        "-c",
        "-x",
        "cce",
        "--npu-arch=dav-2201",
        "--cce-aicore-only",
        "kernel.asc",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert b"kernel.asc\0" in (tmp_path / "kernel.o").read_bytes()


@pytest.mark.parametrize("name", ["with space", "größe 核函数", "it's $HOME; #1"])
def test_unusual_names(compiler: KernelCompiler, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    source = folder / f"{name}.asc"
    (folder / f"{name}.h").write_text("#define BODY {}\n")
    source.write_text(f'#include "{name}.h"\n' + KERNEL.replace("{}", "BODY"))
    depfile = folder / f"{name}.d"
    relocatable = folder / f"{name}.tmp.o"
    output = folder / f"{name}.o"
    step = compiler.compile(source, relocatable, "-MD", "-MT", "out.o", "-MF", depfile)
    assert (step.returncode, step.stderr) == (0, "")
    assert compiler.link(output, relocatable).returncode == 0
    assert Binary(output).global_functions == {"k"}
    assert name.split(maxsplit=1)[0] in depfile.read_text()


def prerequisites(depfile: Path) -> list[str]:
    text = depfile.read_text().replace("\\\n", " ").split(":", 1)[1]
    return [path.replace("\\ ", " ") for path in re.split(r"(?<!\\)\s+", text.strip())]


def test_depfile(compiler: KernelCompiler, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    source = folder / "kernel.asc"
    header = folder / "own.h"
    header.write_text("\n")
    source.write_text('#include "own.h"\n' + KERNEL)
    depfile = tmp_path / "kernel.d"
    step = compiler.compile(source, tmp_path / "k.o", "-MD", "-MT", "final/out.o", "-MF", depfile)
    assert step.returncode == 0, step.stderr
    assert depfile.read_text().startswith("final/out.o:")
    found = prerequisites(depfile)
    assert found[0] == str(source)
    assert str(header) in found
    assert str(compiler.include / "kernel_operator.h") in found
    assert all(Path(path).exists() for path in found)

    default = compiler.compile(source, tmp_path / "named.o", "-MMD", cwd=tmp_path)
    assert default.returncode == 0
    assert (tmp_path / "named.d").read_text().startswith(f"{tmp_path}/named.o:")


def test_read_only_tree(compiler: KernelCompiler, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    source = folder / "kernel.asc"
    source.write_text(KERNEL)
    source.chmod(0o444)
    folder.chmod(0o555)
    before = sorted(folder.iterdir())
    step = compiler.compile(source, tmp_path / "k.o")
    folder.chmod(0o755)
    assert step.returncode == 0, step.stderr
    assert sorted(folder.iterdir()) == before


def test_own_headers_come_before_those_of_the_working_directory(
    compiler: KernelCompiler, tmp_path: Path
) -> None:
    for name in ("src", "work"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "common.h").write_text(f'static_assert(sizeof("{name}") == 4, "{name}");\n')
    source = tmp_path / "src" / "kernel.asc"
    source.write_text('#include "common.h"\n')
    assert compiler.compile(source, tmp_path / "k.o", cwd=tmp_path / "work").returncode == 0


def test_a_header_that_comes_back_to_itself(compiler: KernelCompiler, tmp_path: Path) -> None:
    """Kernel sources are headers at times, and `#pragma once` must know them again."""
    source = tmp_path / "op.h"
    source.write_text('#pragma once\n#include "base.h"\n' + KERNEL + "struct Once {};\n")
    (tmp_path / "base.h").write_text('#pragma once\n#include "op.h"\n')
    depfile = tmp_path / "op.d"
    step = compiler.compile(source, tmp_path / "op.o", "-Werror", "-MD", "-MF", depfile)
    assert (step.returncode, step.stderr) == (0, "")
    assert "aivops-ccec-" not in depfile.read_text()
    source.write_text(source.read_text() + "nonsense;\n")
    step = compiler.compile(source, tmp_path / "op.o")
    assert messages(step.stderr, "error") == [(str(source), "6")]
    assert "aivops-ccec-" not in step.stderr


def test_parallel_builds_of_one_name(compiler: KernelCompiler, tmp_path: Path) -> None:
    sources = []
    for index in range(8):
        folder = tmp_path / str(index)
        folder.mkdir()
        source = folder / "kernel.asc"
        source.write_text(KERNEL.replace("void k(", f"void k{index}("))
        sources.append(source)
    with ThreadPoolExecutor(4) as pool:
        binaries = list(pool.map(compiler.build, sources))
    assert [Binary(binary).global_functions for binary in binaries] == [{f"k{index}"} for index in range(8)]


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_the_same_source_gives_the_same_bytes(compiler: KernelCompiler, tmp_path: Path, cxx: str) -> None:
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    built = []
    for name in ("here", "there/deeper"):
        tree = tmp_path / name
        (tree / "include").mkdir(parents=True)
        (tree / "include/part.h").write_text(
            '#include "kernel_operator.h"\ninline const char* place() { return __FILE__; }\n'
        )
        source = tree / "kernel.asc"
        source.write_text(
            '#include "part.h"\nnamespace { struct Local { ~Local() {} uint64_t n = 3; } local; }\n'
            'extern "C" __global__ __aicore__ void k(const char** p) {\n'
            '    p[0] = place();\n    p[1] = __FILE__;\n    ASCENDC_ASSERT(++local.n > 4, "text");\n}\n'
        )
        built.append(compiler.build(source, "-I", tree / "include").read_bytes())
    assert built[0] == built[1]


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_kernels_with_the_same_instructions_keep_their_own_code(
    compiler: KernelCompiler, tmp_path: Path, cxx: str
) -> None:
    """Or else a report about one names the other."""
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    source = tmp_path / "kernel.asc"
    names = ("first", "second")
    source.write_text(
        '#include "kernel_operator.h"\n'
        + "".join(
            f'extern "C" __global__ __aicore__ void {name}(GM_ADDR x) {{\n    AscendC::TPipe pipe;\n'
            "    AscendC::GlobalTensor<float> t;\n    t.SetGlobalBuffer((__gm__ float*)x);\n"
            "    t.SetValue(0, 1.0f);\n    AscendC::PipeBarrier<PIPE_ALL>();\n}\n"
            for name in names
        )
    )
    binary = compiler.build(source)
    symbols = subprocess.run(["nm", "-S", binary], check=True, capture_output=True, text=True).stdout
    sizes = {
        fields[3]: int(fields[1], 16) for fields in map(str.split, symbols.splitlines()) if len(fields) == 4
    }
    assert sizes["first"] == sizes["second"] > 64


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_source_lines_with_debug_information(compiler: KernelCompiler, tmp_path: Path, level: str) -> None:
    source = tmp_path / "kernel.asc"
    source.write_text(
        '#include "kernel_operator.h"\n\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {\n'
        "    AscendC::GlobalTensor<uint32_t> t;\n    t.SetGlobalBuffer((__gm__ uint32_t*)x);\n"
        "    t.SetValue(0, 1);\n    AscendC::PipeBarrier<PIPE_ALL>();\n}\n"
    )
    binary = compiler.build(source, "-g", level)
    listing = subprocess.run(
        ["objdump", "-dl", "--no-show-raw-insn", str(binary)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    # Behind a call is the return address the machine sees; one of its inlined frames is the source's.
    calls = [
        line.split(":")[0].strip()
        for line in re.findall(r"call[^\n]*\n(?:[^ \n][^\n]*\n)*( +[0-9a-f]+:)", listing)
    ]
    frames = subprocess.run(
        ["addr2line", "-i", "-e", str(binary), *[hex(int(address, 16) - 1) for address in calls]],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert {f"{source}:6", f"{source}:7"} <= {frame.split(" (")[0] for frame in frames.splitlines()}
