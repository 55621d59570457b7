"""Operands that leave the buffer which InitBuffer gave their tensor, or that a queue has taken back."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.conftest import ARCHITECTURES, KernelCompiler

# Buffers: 32 bytes at 0, 256 at 32, 64 of a queue at 288, 4096 at 352.
SOURCE = """
#include "kernel_operator.h"
using namespace AscendC;
struct Core {
    TPipe pipe;
    TBuf<> first, small, large;
    TQue<TPosition::VECIN, 1> que;
    GlobalTensor<float> memory;
    LocalTensor<float> a, b, q;
    __aicore__ inline explicit Core(GM_ADDR x) {
        pipe.InitBuffer(first, 32); pipe.InitBuffer(small, 250); pipe.InitBuffer(que, 1, 64);
        pipe.InitBuffer(large, 4096);
        memory.SetGlobalBuffer((__gm__ float*)x);
        a = small.Get<float>(); b = large.Get<float>(); q = que.AllocTensor<float>();
    }
};
extern "C" __global__ __aicore__ void leaves(GM_ADDR x, int32_t which) {
    Core core(x);
    const LocalTensor<float> a = core.a, b = core.b;
    switch (which) {
    case 0: DataCopy(a, core.memory, 72); break;
    case 1: DataCopy(core.memory, a[8], 64); break;
    case 2: DataCopy(b, a, 72); break;
    case 3: DataCopy(a, b, DataCopyParams{3, 2, 0, 2}); break;
    case 4: DataCopyPad(a, core.memory, {3, 100, 0, 0, 0}, {false, 0, 0, 0}); break;
    case 5: DataCopyPad(core.memory, core.q, {2, 4, 1, 0, 0}); break;
    case 6: Duplicate(core.q, 1.0f, 17); break;
    case 7: Add(b, b, a, (uint64_t)64, 2, BinaryRepeatParams{1, 1, 1, 8, 8, 8}); break;
    case 8: Adds(a, b, 1.0f, (uint64_t)1, 2, UnaryRepeatParams{1, 1, 9, 8}); break;
    case 9: ReduceSum(b, b, a[64], 64); break;
    case 10: a.SetValue(64, 1.0f); break;
    case 11: a(67) += 1.0f; break;
    case 12: core.q.GetValue(16); break;
    case 13: a[static_cast<uint32_t>(-1)].SetValue(0, 1.0f); break;
    case 14: a.ReinterpretCast<half>()[120].SetValue(8, half(1)); break;
    case 15: { TBuf<> none; Duplicate(none.Get<float>(), 1.0f, 8); break; }
    case 16: { TBuf<> none; core.pipe.InitBuffer(none, 0); DataCopy(none.Get<float>(), core.memory, 8); break; }
    case 17: { LocalTensor<float> q = core.q; core.que.FreeTensor(q); Duplicate(q, 1.0f, 8); return; }
    case 18: core.que.FreeTensor(core.q); DataCopy(core.memory, core.q[8], 8); return;
    case 19: core.que.FreeTensor(core.q); core.q.ReinterpretCast<half>().SetValue(1, half(1)); return;
    }
    core.que.FreeTensor(core.q);
}
extern "C" __global__ __aicore__ void stays(GM_ADDR x) {
    Core core(x);
    const LocalTensor<float> a = core.a, b = core.b;
    // The whole of a buffer, though the view is of a part, or of another type.
    DataCopy(core.small.Get<float>(8), core.memory, 64);
    DataCopy(a[8].ReinterpretCast<half>(), b[8].ReinterpretCast<half>(), 112);
    DataCopyPad(a, core.memory, {8, 1, 0, 0, 0}, {true, 0, 7, 0});
    DataCopyPad(core.memory, a, {2, 100, 0, 0, 0});
    Add(b, b, a, (uint64_t)64, 1, BinaryRepeatParams{1, 1, 1, 8, 8, 8});
    Adds(a, b, 1.0f, (uint64_t)8, 8, UnaryRepeatParams{1, 1, 1, 8});
    a.SetValue(63, 1.0f); core.q.SetValue(15, a.GetValue(63));
    DataCopy(a[64], core.memory, 0);
    // What is freed is taken back with the next tensor, and no bytes of it are nobody's.
    core.que.FreeTensor(core.q);
    Duplicate(core.q, 1.0f, 0);
    core.que.AllocTensor(core.q);
    Duplicate(core.q, 1.0f, 16);
    core.que.FreeTensor(core.q);
    // Offsets of the kernel's own know of no buffers.
    LocalTensor<float> raw(TPosition::VECCALC, 0, 8), filled;
    filled.address_.bufferAddr = 64;
    filled.address_.dataLen = 32;
    Duplicate(raw, 1.0f, 512); raw.SetValue(600, 1.0f); DataCopy(filled, core.memory, 512);
    // One pipe begins anew, and another has buffers of its own.
    core.pipe.Reset();
    TBuf<> all;
    core.pipe.InitBuffer(all, 8192);
    Duplicate(all.Get<float>(), 1.0f, 2048);
    TPipe other;
    TBuf<> half_of_it;
    other.InitBuffer(half_of_it, 4096);
    Duplicate(half_of_it.Get<float>(), 1.0f, 1024);
}
"""


def leaves(name: str, length: int, offset: int, buffer: int, begin: int) -> str:
    why = (
        "what lies there is another buffer's, or nobody's"
        if buffer
        else "InitBuffer was not called for it, or with a length of 0"
    )
    return (
        f"{name}: {length} bytes at UB offset {offset} leave their buffer of {buffer} bytes at offset {begin}; "
        + why
    )


def freed(name: str, length: int, offset: int) -> str:
    return (
        f"{name}: {length} bytes at UB offset {offset} are of a tensor that FreeTensor gave back; "
        "the next AllocTensor may hand them out again"
    )


SMALL, QUEUE = (256, 32), (64, 288)
LEAVES = [
    leaves("DataCopy", 288, 32, *SMALL),
    leaves("DataCopy", 256, 64, *SMALL),
    leaves("DataCopy", 288, 32, *SMALL),
    leaves("DataCopy", 64 * 3 + 64 * 2, 32, *SMALL),
    leaves("DataCopyPad", 128 * 2 + 100, 32, *SMALL),
    leaves("DataCopyPad", 64 + 4, 288, *QUEUE),
    leaves("Duplicate", 68, 288, *QUEUE),
    leaves("Add", 512, 32, *SMALL),
    leaves("Adds", 9 * 32 + 4, 32, *SMALL),
    leaves("ReduceSum", 32, 288, *SMALL),
    leaves("SetValue", 4, 288, *SMALL),
    leaves("GetValue", 4, 300, *SMALL),
    leaves("GetValue", 4, 352, *QUEUE),
    leaves("SetValue", 4, 28, *SMALL),
    leaves("SetValue", 2, 288, *SMALL),
    leaves("Duplicate", 32, 0, 0, 0),
    leaves("DataCopy", 32, 4448, 0, 4448),
    freed("Duplicate", 32, 288),
    freed("DataCopy", 32, 320),
    freed("SetValue", 2, 290),
]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def binary(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    source = tmp_path_factory.mktemp("buffers") / f"{request.param}.asc"
    source.write_text(SOURCE)
    return compiler.build(source, architecture=request.param)


@pytest.mark.parametrize("which", range(len(LEAVES)))
def test_an_operand_outside_of_its_buffer_is_reported(binary: Path, which: int) -> None:
    machine = NaiveMachine(binary, 192 * 1024)
    machine.launch("leaves", np.zeros(1024, np.float32), ctypes.c_int32(which))
    assert machine.faults == []
    assert machine.warnings[:1] == [LEAVES[which]]


def test_what_stays_in_its_buffer_or_has_none_is_not(binary: Path) -> None:
    machine = NaiveMachine(binary, 192 * 1024)
    machine.launch("stays", np.zeros(1024, np.float32))
    assert (machine.faults, machine.warnings) == ([], [])
