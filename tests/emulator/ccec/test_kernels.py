"""What a kernel binary holds: its kernels, their records as the source wrote them, and their layouts."""

import ctypes
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.ccec.records import Binary, Parameter
from emulator.conftest import ARCHITECTURES, KernelCompiler

AIV_RECORD = bytes.fromhex("0100040003000000")

EXPORT = """
#include "kernel_operator.h"
#define EXPORT(kernel, type) \\
    static const struct FunLevelKType kernel##_kernel_type_section \\
        __attribute__((used, section(".ascend.meta." #kernel))) = {{F_TYPE_KTYPE, sizeof(unsigned int), type}}
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_global_functions_are_exactly_the_kernels(
    compiler: KernelCompiler, tmp_path: Path, architecture: str
) -> None:
    source = write(
        tmp_path / "kernels.asc",
        EXPORT
        + """
#define TYPED(type) extern "C" __global__ __aicore__ void add_##type(GM_ADDR x, type n) { *(type*)x = n; } \\
    EXPORT(add_##type, K_TYPE_AIV);
TYPED(half) TYPED(int32_t) TYPED(fp8_e5m2_t)
namespace outer { inline namespace v1 { namespace inner {
extern "C" {
__global__ __aicore__ void in_namespace(GM_ADDR) {}
}
__aicore__ void helper(int) {}
}}}
extern "C" __global__ __aicore__ void declared_first(uint64_t a);
extern "C" __global__ __aicore__ __attribute__((noinline)) void declared_first(uint64_t) {
    outer::inner::helper(1);
}
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void with_attribute() {}
template <typename T> __aicore__ void instance(T) {}
template void instance<int>(int);
const char* text = "extern \\"C\\" __global__ __aicore__ void quoted() {";
const char* raw = R"x(extern "C" __global__ void raw() {)x";
extern "C" __aicore__ void no_kernel(int) {}
EXPORT(in_namespace, K_TYPE_AIV);
""",
    )
    binary = Binary(compiler.build(source, architecture=architecture))
    kernels = {
        "add_half",
        "add_int32_t",
        "add_fp8_e5m2_t",
        "in_namespace",
        "declared_first",
        "with_attribute",
    }
    assert binary.global_functions == kernels
    assert {
        name[len(".aivops.layout.") :] for name in binary.sections if ".aivops.layout." in name
    } == kernels
    assert {name: data for name, data in binary.sections.items() if name.startswith(".ascend.meta")} == {
        f".ascend.meta.{kernel}": AIV_RECORD
        for kernel in ("add_half", "add_int32_t", "add_fp8_e5m2_t", "in_namespace")
    }
    assert binary.type == "ET_DYN"
    assert binary.contracts() == [(1, {"dav-c220-vec": 2201, "dav-c310-vec": 3510}[architecture], VERSION)]
    assert not {name for name in binary.undefined if "aivops" in name.lower()}
    assert not [name for name in binary.needed if "stdc++" in name]


VERSION = (Path(__file__).resolve().parents[3] / "VERSION").read_text().strip()


def test_layouts_come_from_the_types(compiler: KernelCompiler, tmp_path: Path) -> None:
    class Extra(ctypes.Structure):
        _fields_ = (("tag", ctypes.c_char * 3), ("counts", ctypes.c_uint64 * 16), ("last", ctypes.c_uint8))

    class Arguments(ctypes.Structure):
        _fields_ = (
            ("input", ctypes.c_void_p),
            ("enabled", ctypes.c_bool),
            ("scale", ctypes.c_uint16),
            ("shift", ctypes.c_uint16),
            ("small", ctypes.c_int8),
            ("ratio", ctypes.c_float),
            ("exact", ctypes.c_double),
            ("extra", Extra),
            ("mode", ctypes.c_uint32),
            ("callback", ctypes.c_void_p),
            ("nothing", ctypes.c_int64),
            ("flag", ctypes.c_uint8),
        )

    source = write(
        tmp_path / "layout.h",
        """
#include "kernel_operator.h"
struct Extra { char tag[3]; uint64_t counts[16]; uint8_t last; };
enum Mode : uint32_t { kFast };
extern "C" __global__ __aicore__ void k(GM_ADDR input, bool enabled, half scale, bfloat16_t shift,
                                        const int8_t small, float ratio, double exact, Extra extra, Mode mode,
                                        void (*callback)(int, int), int64_t, uint8_t flag[[maybe_unused]]) {}
""",
    )
    layout = Binary(compiler.build(source)).layout("k")
    assert layout.args_size == ctypes.sizeof(Arguments)
    kinds = ["pointer", "bool", "half", "bfloat16", "int", "float", "float"]
    kinds += ["struct", "uint", "pointer", "int", "uint"]
    expected = []
    for (name, ctype), kind in zip(Arguments._fields_, kinds, strict=True):
        shown = "" if name == "nothing" else name
        expected.append(Parameter(shown, getattr(Arguments, name).offset, ctypes.sizeof(ctype), kind))
    assert list(layout.parameters) == expected


def test_vendor_style_arguments(compiler: KernelCompiler, tmp_path: Path) -> None:
    """The argument block of HCCL's AIV kernels: 168 bytes, or 8360 with all_to_all_v's counts by value."""
    fields = (
        "GM_ADDR buffIn, uint64_t input, uint64_t output, uint32_t rank, uint32_t sendRecvRemoteRank,"
        "uint32_t rankSize, uint64_t xRankSize, uint64_t yRankSize, uint64_t zRankSize, uint64_t len,"
        "uint32_t dataType, uint32_t reduceOp, uint32_t root, uint32_t sliceId, uint64_t inputSliceStride,"
        "uint64_t outputSliceStride, uint64_t repeatNum, uint64_t inputRepeatStride,"
        "uint64_t outputRepeatStride, int32_t numBlocks, bool isOpBase, GM_ADDR headCountMem,"
        "GM_ADDR tailCountMem, GM_ADDR addOneMem, uint32_t counterMemSize, bool isEnableCounter"
    )
    source = write(
        tmp_path / "hccl_style.h",
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        "struct ExtraArgs { uint64_t sendCounts[256], sendDispls[256], recvCounts[256], recvDispls[256]; };\n"
        f"#define ARGS {fields}\n"
        'extern "C" __global__ __aicore__ void gather(ARGS) {};\n'
        'extern "C" __global__ __aicore__ void all_to_all_v(ARGS, ExtraArgs extraArgs) {};\n',
    )
    binary = Binary(compiler.build(source, architecture="dav-c310-vec"))
    gather = binary.layout("gather")
    assert gather.args_size == 168
    offsets = {parameter.name: parameter.offset for parameter in gather.parameters}
    assert (offsets["xRankSize"], offsets["sliceId"], offsets["isOpBase"]) == (40, 84, 132)
    assert (offsets["headCountMem"], offsets["isEnableCounter"]) == (136, 164)
    extra = binary.layout("all_to_all_v")
    assert extra.args_size == 8360
    assert extra.parameters[-1] == Parameter("extraArgs", 168, 8192, "struct")


def test_entries_pass_the_argument_block(compiler: KernelCompiler, tmp_path: Path) -> None:
    source = write(
        tmp_path / "echo.asc",
        """
#include "kernel_operator.h"
struct Block { uint8_t first; uint64_t words[128]; };
extern "C" __global__ __aicore__ void echo(uint64_t* out, int8_t a, Block b, float c, uint16_t d, double e) {
    out[0] = a; out[1] = b.first + b.words[127]; out[2] = (uint64_t)(c * 2); out[3] = d; out[4] = (uint64_t)e;
    out[5] = get_para_base()[0];
}
""",
    )
    library = ctypes.CDLL(str(compiler.build(source)), mode=os.RTLD_LOCAL | os.RTLD_NOW)

    class Binding(ctypes.Structure):
        _fields_ = (("table", ctypes.c_void_p), ("block", ctypes.c_void_p))

    class Entry(ctypes.Structure):
        _fields_ = (
            ("contract_version", ctypes.c_uint32),
            ("args_size", ctypes.c_uint32),
            ("call", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        )

    block = ctypes.create_string_buffer(256)
    Binding.in_dll(library, "__aivops_binding").block = ctypes.addressof(block)
    entry = Entry.in_dll(library, "__aivops_entry_echo")
    out = (ctypes.c_uint64 * 6)()
    arguments = struct.pack(
        "<Qb7xB7x128QfHxxd", ctypes.addressof(out), -3, 7, *range(100, 228), 21.5, 65535, 1e15
    )
    assert (entry.contract_version, entry.args_size) == (1, len(arguments))
    entry.call(arguments)
    assert list(out) == [2**64 - 3, 7 + 227, 43, 65535, 10**15, ctypes.addressof(out)]


def test_a_kernel_without_c_linkage_stays_visible(compiler: KernelCompiler, tmp_path: Path) -> None:
    source = write(
        tmp_path / "mangled.asc",
        '#include "kernel_operator.h"\n__global__ __aicore__ void copy(GM_ADDR x) {}\n',
    )
    binary = Binary(compiler.build(source))
    assert binary.global_functions == {"_Z4copyPh"}
    assert not [name for name in binary.sections if name.startswith(".aivops.layout.")]


def test_records_are_kept_as_written(compiler: KernelCompiler, tmp_path: Path) -> None:
    """Whatever is wrong with them: finding that out is the verifier's part."""
    source = write(
        tmp_path / "records.asc",
        EXPORT
        + """
extern "C" __global__ __aicore__ void cube(GM_ADDR x) {}
extern "C" __global__ __aicore__ void misspelt(GM_ADDR x) {}
extern "C" __global__ __aicore__ void silent(GM_ADDR x) {}
EXPORT(cube, K_TYPE_AIC);
EXPORT(mispelt, K_TYPE_AIV);
static const uint16_t odd[5] __attribute__((used, section(".ascend.meta.odd"))) = {9, 2, 513, 0, 0};
""",
    )
    environment = {"LDFLAGS": "-Wl,--gc-sections -Wl,-s", "CXXFLAGS": "-ffunction-sections -flto -DBROKEN=("}
    hostile = KernelCompiler(compiler.toolkit, environment)
    binary = Binary(hostile.build(source, "-ffunction-sections", "-fdata-sections", "-O3"))
    assert binary.global_functions == {"cube", "misspelt", "silent"}
    assert {name: data for name, data in binary.sections.items() if name.startswith(".ascend.meta")} == {
        ".ascend.meta.cube": struct.pack("<HHI", 1, 4, 2),
        ".ascend.meta.mispelt": AIV_RECORD,
        ".ascend.meta.odd": struct.pack("<5H", 9, 2, 513, 0, 0),
    }


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_several_sources_in_one_binary(compiler: KernelCompiler, tmp_path: Path, cxx: str) -> None:
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    objects = []
    for name in ("one", "two", "three"):
        source = write(
            tmp_path / f"{name}.cce",
            EXPORT
            + f"""
namespace {{ int counter; }}
extern "C" __global__ __aicore__ void {name}(GM_ADDR x) {{ ++counter; }}
EXPORT({name}, K_TYPE_AIV);
""",
        )
        objects.append(tmp_path / f"{name}.o")
        step = compiler.compile(source, objects[-1])
        assert step.returncode == 0, step.stderr
    output = tmp_path / "joined.o"
    assert compiler.link(output, *objects).returncode == 0
    binary = Binary(output)
    assert binary.global_functions == {"one", "two", "three"}
    assert len(binary.contracts()) == 3
    assert [binary.sections[f".ascend.meta.{name}"] for name in ("one", "two", "three")] == [AIV_RECORD] * 3


def test_block_locals_are_told(compiler: KernelCompiler, tmp_path: Path) -> None:
    source = write(
        tmp_path / "locals.asc",
        """
#include "kernel_operator.h"
[[block_local]] static uint64_t state;
[[block_local]] uint32_t more[3];
extern "C" __global__ __aicore__ void k(uint64_t* out) {
    out[0] = (uint64_t)&state;
    out[1] = (uint64_t)more;
    ++state;
}
""",
    )
    library = ctypes.CDLL(str(compiler.build(source)), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    begin, end = (ctypes.c_uint64 * 2).in_dll(library, "__aivops_block_locals")
    out = (ctypes.c_uint64 * 2)()
    library.k(out)
    assert end - begin >= 8 + 12
    assert all(begin <= address < end for address in out)


BRACKETS = """#include "helper.h"
#define __aicore__ [aicore]
#include "kernel_operator.h"
#define DEVICE __attribute__((always_inline)) inline [aicore]
class Adder {
  public:
    __aicore__ inline Adder() {}
    template <typename T> static DEVICE T add(T a, T b) { return a + b; }
};
static const char* const kText = "[aicore]";
extern "C" __global__ [ aicore ] void k(__gm__ int32_t* x, int32_t n) {
    *x = Adder::add(n, helper()) + static_cast<int32_t>(sizeof(kText[0])) + (kText[0] == '[');
}
"""


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_the_compilers_own_spelling_of_aicore(compiler: KernelCompiler, tmp_path: Path, cxx: str) -> None:
    write(tmp_path / "helper.h", "[aicore] inline int helper() { return 40; }\n")
    source = write(tmp_path / "brackets.asc", BRACKETS)
    driver = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    relocatable, binary, depfile = (tmp_path / name for name in ("k.tmp.o", "k.o", "k.d"))
    result = driver.compile(source, relocatable, "-Wall", "-Werror", "-MD", "-MF", depfile, "-MT", binary)
    assert (result.returncode, result.stderr) == (0, "")
    assert driver.link(binary, relocatable).returncode == 0
    prerequisites = depfile.read_text().replace("\\\n", " ").split()
    assert prerequisites[0] == f"{binary}:"
    assert {str(source), str(tmp_path / "helper.h")} <= set(prerequisites)
    assert not [name for name in prerequisites if "preprocessed" in name]

    machine = NaiveMachine(binary)
    found = np.zeros(1, np.int32)
    machine.launch("k", found, ctypes.c_int32(5))
    assert found[0] == 5 + 40 + 1 + 1

    source.write_text(BRACKETS.replace("*x = ", "*x = missing + "))
    result = driver.compile(source, relocatable)
    assert result.returncode != 0
    assert f"{source}:12:" in result.stderr
    assert "missing" in result.stderr


def test_a_mix_of_cores_without_cubes(compiler: KernelCompiler, tmp_path: Path) -> None:
    text = EXPORT + 'extern "C" __global__ __mix__(0, 1) __aicore__ void k(GM_ADDR x) {}\n'
    assert Binary(compiler.build(write(tmp_path / "mix.asc", text))).global_functions == {"k"}
    source = write(tmp_path / "cubes.asc", text.replace("(0, 1)", "(1, 2)"))
    result = compiler.compile(source, tmp_path / "k.o")
    assert result.returncode != 0
    assert "MIX_OF_CUBES_1_AND_VECTORS_2" in result.stderr
    assert f"{source}:{text.count(chr(10))}:" in result.stderr
