"""A report names the line of the source that the kernel's author wrote, however the compiler has shuffled the code."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from emulator.acl_api import Acl, pack
from emulator.conftest import KernelCompiler

# Calls that run on into each other when they are inlined; each has a line of its own, named by its number.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
namespace {
struct KernelType { unsigned short type, length; unsigned int value; };
__aicore__ inline uint32_t beyond(int which, int number) { return which == number ? 1u << 20 : 0; }
__aicore__ inline void helper(LocalTensor<float> t, int which) {
    t.SetValue(beyond(which, 5), 1.0f);  // 5
    Muls(t[beyond(which, 6)], t, 2.0f, 64);  // 6
}
}
extern "C" __global__ __aicore__ void lines(GM_ADDR x, int which) {
    LocalTensor<float> t(TPosition::VECCALC, 0, 64), u(TPosition::VECCALC, 256, 64);
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    Duplicate(u, 1.0f, 64);
    Duplicate(t[beyond(which, 1)], 1.0f, 64);  // 1
    t.SetValue(beyond(which, 2), 2.0f);  // 2
    Add(t[beyond(which, 3)], t, u, 64);  // 3
    DataCopy(g, t[beyond(which, 4)], 64);  // 4
    helper(t, which);
    Mul(t[beyond(which, 7)], t, u, 64);  // 7
    if (t.GetValue(3 + beyond(which, 8)) > 0) {  // 8
        DataCopyPad(u[beyond(which, 9)], g, {1, 12, 0, 0, 0}, {false, 0, 0, 0});  // 9
    }
    PipeBarrier<PIPE_ALL>();
    ReduceSum(t, u[beyond(which, 10)], t, 64);  // 10
}
static const KernelType lines_meta __attribute__((used, section(".ascend.meta.lines"))) = {1, 4, 3};
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("cxx", ["g++", "g++-11", "clang++"])
def test_the_line_of_each_call(
    acl: Acl, compiler: KernelCompiler, tmp_path: Path, cxx: str, level: str
) -> None:
    if shutil.which(cxx) is None:
        pytest.skip(f"{cxx} is not installed")
    source = tmp_path / "lines.asc"
    source.write_text(SOURCE)
    binary = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx}).build(source, "-g", level)
    wanted = {
        int(found[1]): line
        for line, text in enumerate(SOURCE.splitlines(), 1)
        if (found := re.search(r"// (\d+)$", text))
    }
    assert len(wanted) == 10
    reported = {}
    with acl.device(0):
        kernel = acl.function(acl.load(binary), "lines")
        memory = acl.malloc(1024)
        acl.write(memory, bytes(1024))
        for which in range(11):
            acl.ok(acl.launch(kernel, 1, pack("Qi", memory, which)))
            code = acl.synchronize()
            if which == 0:
                acl.ok(code)
                continue
            assert code != 0
            place = re.search(rf"\({re.escape(str(source))}:(\d+)\)", acl.message())
            reported[which] = int(place[1]) if place else 0
    assert reported == wanted
