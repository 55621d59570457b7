"""Tensors, buffers, queues, copies, atomics and order: what reaches the machine, and what comes back."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.ascendc.naive_machine import NaiveMachine
from emulator.conftest import ARCHITECTURES, KernelCompiler

HEAD = """
#include "kernel_operator.h"
using namespace AscendC;
#define K extern "C" __global__ __aicore__ void
"""

# Numbers of the contract.
S, V, MTE2, MTE3, ALL = 0, 1, 4, 5, 6
ATOMIC_NONE, ADD, MAX, MIN, EXCHANGE, CAS = range(6)
FLOAT, HALF, INT16, INT32, INT8, BFLOAT16, UINT32, INT64, UINT64 = range(1, 10)
NPU = {"dav-c220-vec": 2201, "dav-c310-vec": 3510}

BOTH = """
K tensors(GM_ADDR x, uint64_t* out) {
    LocalTensor<uint32_t> t(TPosition::VECIN, 64, 16);
    t.SetValue(0, 7u);
    t.SetValue(1, uint64_t(8));
    t(2) = 9; t(3) = t(2); t(3) += 5;
    LocalTensor<uint16_t> halves = t[2].ReinterpretCast<uint16_t>();
    LocalTensor<float> raw;
    raw.address_.logicPos = static_cast<uint8_t>(TPosition::VECIN);
    raw.address_.bufferAddr = reinterpret_cast<uint64_t>(reinterpret_cast<__ubuf__ float*>(188 * 1024));
    raw.address_.dataLen = 128;
    out[0] = t.GetValue(0); out[1] = t.GetValue(1); out[2] = t(3); out[3] = halves.GetValue(2);
    out[4] = t.GetSize(); out[5] = t[2].GetSize(); out[6] = t[2].GetPhyAddr(); out[7] = t.GetPhyAddr(3);
    out[8] = halves.GetSize(); out[9] = raw.GetSize(); out[10] = raw.GetPhyAddr(); out[11] = t.GetPosition();
    t.SetSize(4); out[12] = t.GetSize();
    GlobalTensor<uint16_t> g;
    g.SetGlobalBuffer((__gm__ uint16_t*)x, 100);
    g.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    out[13] = g.GetSize(); out[14] = g[40].GetSize(); out[15] = (uint64_t)(g[3].GetPhyAddr() - g.GetPhyAddr());
    g.SetValue(1, 77); g(2) = g(1); out[16] = g.GetValue(2); out[17] = g[1].GetValue(0);
    g.SetGlobalBuffer((__gm__ uint16_t*)x); out[18] = g.GetPhyAddr(5) == (uint16_t*)x + 5;
}
K variables(uint64_t* out) {
    out[0] += GetBlockIdx(); out[1] = GetBlockNum(); out[2] = GetSubBlockIdx(); out[3] = GetTaskRation();
    out[4] = GetSystemCycle(); out[5] += block_idx * 10; out[6] = block_num; out[7] = GetTaskRatio();
    out[8] = GetUBSizeInBytes(); out[9] = min(uint64_t(3), uint64_t(4)) + max(1u, 2u); out[10] = GetSubBlockNum();
    uint32_t block_idx = 5; out[11] = block_idx;
    if ASCEND_IS_AIV { out[12] = 1; }
    if ASCEND_IS_AIC { out[12] = 2; }
}
K copies(GM_ADDR in, GM_ADDR out) {
    GlobalTensor<half> source, target;
    source.SetGlobalBuffer((__gm__ half*)in); target.SetGlobalBuffer((__gm__ half*)out);
    LocalTensor<half> a(TPosition::VECIN, 0, 512), b(TPosition::VECIN, 4096, 512);
    DataCopy(a, source, 40);
    DataCopy(b, a, 32);
    DataCopy(target, b, 32);
    DataCopy(a, source, DataCopyParams(3, 2, 1, 4));
    DataCopy(target[100], a, DataCopyParams{3, 2, 4, 1});
    DataCopy(b, a, DataCopyParams(2, 1, 1, 3));
    DataCopyPad(a, source[1], {2, 6, 4, 1, 0}, {true, 1, 2, half(2.5f)});
    DataCopyPad(target[240], a, {2, 10, 1, 7, 0});
    DataCopyPad(a, source, DataCopyParams(1, 10, 2, 0), DataCopyPadParams(false, 0, 0, 0));
    DataCopyPad(target[300], a, DataCopyParams(1, 10, 0, 0));
    DataCopyPad(a, source, DataCopyExtParams(1, 10, 0, 0, 0), DataCopyPadExtParams<half>(false, 0, 3, 0));
    SetPadValue(half(9));
    DataCopyPad(a, source, DataCopyExtParams(1, 10, 0, 0, 0), DataCopyPadExtParams<half>(false, 0, 3, 0));
    DataCopyPad(a, source, DataCopyExtParams(0, 10, 0, 0, 0), DataCopyPadExtParams<half>());
    DataCopyPad(target, a, DataCopyExtParams(1, 0, 0, 0, 0));
}
K atomics() {
    SetAtomicAdd<float>(); SetAtomicMax<half>(); SetAtomicMin<int16_t>(); SetAtomicAdd<int32_t>();
    SetAtomicAdd<int8_t>(); SetAtomicMax<bfloat16_t>(); SetAtomicNone(); DisableDmaAtomic();
    SetAtomicMax<half>(); SetAtomicType<float>();
}
K order() {
    pipe_barrier(PIPE_ALL); PipeBarrier<PIPE_V>(); PipeBarrier<PIPE_MTE2>(); PipeBarrier<PIPE_MTE3>();
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0); WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    SetFlag<HardEvent::S_V>(EVENT_ID1); WaitFlag<HardEvent::V_S>(EVENT_ID2); SetFlag<HardEvent::MTE3_MTE2>(3);
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID7);
    SyncAll<true>(); SyncAll();
    CrossCoreSetFlag<0, PIPE_MTE3>(5); CrossCoreSetFlag<1, PIPE_V>(6); CrossCoreWaitFlag(5); CrossCoreWaitFlag<1, PIPE_V>(6);
    SetSyncBaseAddr(0x1000);
    DataSyncBarrier<MemDsbT::ALL>(); DataSyncBarrier<MemDsbT::DDR>();
    TQueSync<PIPE_V, PIPE_MTE3> sync; sync.SetFlag(2); sync.WaitFlag(2);
}
[[block_local]] static uint32_t own;
K names(uint64_t* out) {
    out[0] = HCCL_DATA_TYPE_INT8; out[1] = HCCL_DATA_TYPE_INT32; out[2] = HCCL_DATA_TYPE_FP16;
    out[3] = HcclDataType::HCCL_DATA_TYPE_FP32; out[4] = HCCL_REDUCE_SUM; out[5] = HcclReduceOp::HCCL_REDUCE_MAX;
    out[6] = HCCL_REDUCE_MIN; out[7] = F_TYPE_KTYPE; out[8] = K_TYPE_AIV; out[9] = sizeof(FunLevelKType);
    out[10] = IsSameType<half, half>::value + 2 * Std::is_same<half, float>::value; out[11] = sizeof(hifloat8_t);
    DataCopyPadExtParams<half> padding; padding.isPad = true; padding.leftPadding = 2; padding.rightPadding = 3;
    out[12] = padding.isPad + 10 * padding.leftPadding + 100 * padding.rightPadding;
    const pipe_t pipe = PIPE_MTE3; out[13] = pipe; out[14] = ++own;
    out[15] = static_cast<uint64_t>(PaddingMode::Normal) + static_cast<uint64_t>(QuePosition::VECOUT);
    out[16] = min(out[0] + 7, out[1]) + 10 * max(out[1], out[0]);
#if defined(__DAV_C220__) && defined(__DAV_C220_VEC__)
    out[17] += 1;
#endif
#if defined(__DAV_C310__) && defined(__DAV_C310_VEC__)
    out[17] += 2;
#endif
#if defined(__CCE_AICORE_ENABLE_MIX__) || defined(__DAV_C310_CUBE__) || defined(ASCENDC_DEBUG)
    out[17] += 4;
#endif
}
template <typename T>
__aicore__ inline void move(GM_ADDR in, GM_ADDR out) {
    GlobalTensor<T> source, target;
    source.SetGlobalBuffer((__gm__ T*)in); target.SetGlobalBuffer((__gm__ T*)out);
    LocalTensor<T> bytes(TPosition::VECIN, 0, 64);
    DataCopy(bytes, source, 64);
    DataCopy(target, bytes, 64);
}
K move_bytes(GM_ADDR in, GM_ADDR out) {
    move<hifloat8_t>(in, out); move<fp8_e4m3fn_t>(in + 64, out + 64); move<fp8_e5m2_t>(in + 128, out + 128);
    move<fp8_e8m0_t>(in + 192, out + 192);
}
K rest(uint64_t* out) {
    SetCtrlSpr<45, 48>(5); out[0] = GetCtrlSpr<45, 48>(); out[1] = GetCtrlSpr<46, 47>();
    ResetCtrlSpr<45, 45>(); out[2] = GetCtrlSpr<0, 63>() >> 45; ResetCtrlSpr<0, 63>(); out[3] = GetCtrlSpr<0, 63>();
    LocalTensor<uint16_t> t(TPosition::VECIN, 64, 16), u;
    out[4] = t.GetLength(); t.SetBufferLen(8); out[5] = t.GetSize();
    u.SetAddr(t.address_); out[6] = u.GetPhyAddr(); u.SetAddrWithOffset(t, 3); out[7] = u.GetPhyAddr();
    out[8] = get_para_base()[0] == (uint64_t)out;
    TPipe pipe;
    TQue<TPosition::VECIN, 1> que; pipe.InitBuffer(que, 1, 32);
    LocalTensor<half> h = que.AllocTensor<half>(); que.FreeTensor(h); que.FreeAllEvent();
    out[12] = GetCtrlSpr<60, 60>(); SetCtrlSpr<60, 60>(0); pipe.Reset(); out[13] = GetCtrlSpr<60, 60>(); TBuf<> buf; pipe.InitBuffer(buf, 32); out[9] = buf.Get<half>().GetPhyAddr();
    pipe.Destroy(); out[10] = GetTPipePtr() == nullptr; pipe.Init(); out[11] = GetTPipePtr() == &pipe;
    Trap();
}
K software(GM_ADDR x, int32_t cores) {
    GlobalTensor<int32_t> counts; counts.SetGlobalBuffer((__gm__ int32_t*)x);
    SyncAll(counts, LocalTensor<int32_t>(TPosition::VECCALC, 1024, 64), cores);
}
K scalars(__gm__ uint32_t* x, uint64_t* out) {
    WriteGmByPassDCache(x, 5u); out[0] = ReadGmByPassDCache(x);
    GlobalTensor<uint8_t> g; g.SetGlobalBuffer((__gm__ uint8_t*)x);
    DataCacheCleanAndInvalid<uint8_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g);
    DataCacheCleanAndInvalid<uint8_t, CacheLine::ENTIRE_DATA_CACHE>(g);
    LocalTensor<uint8_t> l; DataCacheCleanAndInvalid<uint8_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_UB>(l);
}
K words(int32_t i, half h, uint64_t u) {
    AscendC::printf("%d %.2f %llu %s\\n", i, h, (unsigned long long)u, "text");
    PRINTF("again %%\\n");
    LocalTensor<half> t(TPosition::VECIN, 0, 16); t.SetValue(0, 1.5f); t.SetValue(1, -2);
    InitDump(false, nullptr, 0); DumpTensor(t, 7, 2);
    GlobalTensor<int8_t> g; int8_t x[2] = {-1, 2}; g.SetGlobalBuffer(x); DumpTensor(g, 8, 2);
    ASCENDC_ASSERT(i == 3, "never");
    ASCENDC_ASSERT(i > 100, "i is %d", i);
    ASCENDC_ASSERT(i == 4, { AscendC::printf("wrong i %d\\n", i); });
    trap();
}
K buffers(uint64_t* out) {
    TPipe pipe;
    out[0] = GetTPipePtr() == &pipe;
    TBuf<> small; TBuf<TPosition::VECIN> rest;
    pipe.InitBuffer(small, 100);
    pipe.InitBuffer(rest, 64);
    out[1] = small.Get<uint32_t>().GetSize(); out[2] = rest.Get<half>(3).GetPhyAddr(); out[3] = small.GetBufLen();
    out[4] = small.GetWithOffset<uint32_t>(8, 32).GetPhyAddr();
    TEventID a = pipe.AllocEventID<HardEvent::MTE2_V>(), b = pipe.AllocEventID<HardEvent::MTE2_V>();
    out[5] = a; out[6] = b; out[7] = pipe.FetchEventID<HardEvent::MTE2_V>(); out[8] = pipe.FetchEventID(HardEvent::V_S);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(a); out[9] = GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
    small.GetWithOffset<uint32_t>(8, 16);
    small.Get<uint32_t>(33);
}
K queues(uint64_t* out) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> copy;
    TQue<QuePosition::VECIN, 2> in; TQue<QuePosition::VECOUT, 1> back;
    pipe.InitBuffer(copy, 1, 70); pipe.InitBuffer(in, 2, 32); pipe.InitBuffer(back, 1, 32);
    LocalTensor<uint32_t> t = copy.AllocTensor<uint32_t>();
    out[0] = t.GetSize(); out[1] = copy.HasIdleBuffer(); out[2] = copy.HasTensorInQue();
    copy.EnQue(t);
    out[3] = copy.HasTensorInQue(); out[4] = copy.GetTensorCountInQue(); out[5] = copy.VacantInQue();
    LocalTensor<half> h = copy.DeQue<half>();
    out[6] = h.GetPhyAddr() == t.GetPhyAddr();
    copy.FreeTensor(h);
    t = copy.AllocTensor<uint32_t>(); copy.FreeTensor(t);
    LocalTensor<float> first = in.AllocTensor<float>(), second = in.AllocTensor<float>();
    in.EnQue(first); in.EnQue(second);
    out[7] = in.DeQue<float>().GetPhyAddr(); out[8] = in.DeQue<float>().GetPhyAddr();
    in.FreeTensor(first); in.FreeTensor(second);
    LocalTensor<float> result; back.AllocTensor(result); back.EnQue(result); back.DeQue(result); back.FreeTensor(result);
    result = back.AllocTensor<float>(); back.FreeTensor(result);
    LocalTensor<float> other = copy.AllocTensor<float>();
    copy.EnQue<TPosition::GM, TPosition::VECIN>(other); other = copy.DeQue<TPosition::GM, TPosition::VECIN, float>();
    copy.EnQue<TPosition::VECOUT, TPosition::GM>(other); other = copy.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    copy.FreeTensor(other);
}
K misuse(int32_t which) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que, empty;
    pipe.InitBuffer(que, 2, 32);
    LocalTensor<float> a = que.AllocTensor<float>();
    switch (which) {
    case 0: que.FreeTensor(a); que.FreeTensor(a); return;
    case 1: que.DeQue<float>(); break;
    case 2: que.AllocTensor<float>(); que.AllocTensor<float>(); return;
    case 3: { LocalTensor<float> b = que.AllocTensor<float>(); que.EnQue(a); que.EnQue(b); return; }
    case 4: que.EnQue(a); que.EnQue(a); return;
    case 5: { LocalTensor<float> stranger; que.FreeTensor(stranger); break; }
    case 6: empty.AllocTensor<float>(); break;
    case 7: pipe.InitBuffer(empty, 27, 32); pipe.InitBuffer(empty, 60, 32); break;
    case 8: { TBuf<> many[64]; for (TBuf<>& one : many) pipe.InitBuffer(one, 32); break; }
    }
    que.FreeTensor(a);
}
K too_much() { TPipe pipe; TBuf<> a, b; pipe.InitBuffer(a, 200 * 1024); pipe.InitBuffer(b, 100 * 1024); }
K negative_length(uint64_t* out) {
    TPipe pipe; TBuf<> a, b; TQue<TPosition::VECIN, 1> c;
    pipe.InitBuffer(a, 64); pipe.InitBuffer(b, static_cast<uint32_t>(-32)); pipe.InitBuffer(c, 2, 32);
    out[0] = a.Get<uint32_t>().GetPhyAddr(); out[1] = b.Get<uint32_t>().GetPhyAddr();
    LocalTensor<uint32_t> t = c.AllocTensor<uint32_t>(); out[2] = t.GetPhyAddr(); c.FreeTensor(t);
}
K queues_left(int32_t freed) {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> que; TQue<TPosition::VECIN, 1> given;
    pipe.InitBuffer(que, 2, 96); pipe.InitBuffer(given, 1, 32);
    given.AllocTensor<float>();
    LocalTensor<float> a = que.AllocTensor<float>(), b = que.AllocTensor<float>();
    que.EnQue(a); que.EnQue(b);
    que.DeQue<float>();
    if (freed) que.FreeTensor(b);
}
K begin_anew() {
    TPipe pipe;
    for (int turn = 0; turn < 2; ++turn) {
        TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> que;
        pipe.InitBuffer(que, 1, 32);
        LocalTensor<float> t = que.AllocTensor<float>();
        que.EnQue(t); t = que.DeQue<float>(); que.FreeTensor(t);
        pipe.Reset();
    }
}
K out_of_range(int32_t which) {
    TQueSync<PIPE_MTE2, PIPE_V> event;
    GlobalTensor<uint8_t> g; LocalTensor<uint8_t> l(TPosition::VECIN, 0, 256);
    switch (which) {
    case 0: SetFlag<HardEvent::MTE2_V>(8); break;
    case 1: WaitFlag<HardEvent::MTE2_V>(-1); break;
    case 2: event.SetFlag(9); break;
    case 3: DataCopyPad(l, g, {0, 32, 0, 65536, 0}, {false, 0, 0, 0}); break;
    case 4: DataCopyPad(g, l, {0, 32, 65536, 0, 0}); break;
    }
}
"""

C310 = """
constexpr SyncAllConfig kTrigger{PIPE_MTE3, PIPE_MTE2};
K only_c310(__gm__ uint32_t* x, uint64_t* out) {
    out[0] = AtomicAdd(x, 3u); AtomicMax((__gm__ int64_t*)x, int64_t(-4)); AtomicMin((__gm__ float*)x, 2.0f);
    AtomicExch((__gm__ uint64_t*)x, uint64_t(6)); AtomicCas((__gm__ int32_t*)x, 7, 8);
    GlobalTensor<uint32_t> g; g.SetGlobalBuffer(x, 10);
    out[1] = g.ReinterpretCast<uint8_t>().GetSize();
    DataCacheCleanAndInvalid<uint32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_ATOMIC>(g);
    GlobalTensor<uint8_t> bytes; bytes.SetGlobalBuffer((__gm__ uint8_t*)x);
    LocalTensor<uint8_t> l(TPosition::VECIN, 0, 256);
    DataCopyPad<uint8_t, PaddingMode::Compact>(l, bytes[40], {2, 5, -3, 0, 0}, {true, 0, 1, 9});
    DataCopyPad<uint8_t, PaddingMode::Compact>(bytes[100], l, {2, 5, 0, 3, 0});
    CrossCoreSetFlag<4, PIPE_V>(1);
    SyncAll<true, kTrigger>();
}
"""


@pytest.fixture(scope="module", params=ARCHITECTURES)
def built(
    request: pytest.FixtureRequest, compiler: KernelCompiler, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    source = tmp_path_factory.mktemp("core") / f"{request.param}.asc"
    source.write_text(HEAD + BOTH + (C310 if request.param == "dav-c310-vec" else ""))
    options = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-shadow")
    return request.param, compiler.build(source, *options, architecture=request.param)


@pytest.fixture
def machine(built: tuple[str, Path]) -> NaiveMachine:
    architecture, binary = built
    return NaiveMachine(binary, 192 * 1024 if architecture == "dav-c220-vec" else 256 * 1024)


def out(count: int = 24) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.zeros(count, np.uint64)


def test_tensors(machine: NaiveMachine) -> None:
    memory, found = np.zeros(200, np.uint16), out()
    machine.launch("tensors", memory, found)
    assert found[:4].tolist() == [7, 8, 14, 14]
    assert found[4:12].tolist() == [16, 14, 72, 76, 28, 32, 188 * 1024, 9]
    assert found[12:19].tolist() == [4, 100, 60, 3, 77, 77, 1]
    assert memory[:3].tolist() == [0, 77, 77]


def test_variables(built: tuple[str, Path], machine: NaiveMachine) -> None:
    found = out()
    machine.launch("variables", found, blocks=5)
    ub = {"dav-c220-vec": 0, "dav-c310-vec": 248 * 1024}[built[0]]
    assert found[:13].tolist() == [10, 5, 0, 1, 123456789, 100, 5, 1, ub, 5, 1, 5, 1]


def test_copies(machine: NaiveMachine) -> None:
    source = np.arange(1, 401).astype(np.float16)
    target = np.zeros(400, np.float16)
    machine.launch("copies", source, target)
    assert target[:32].tolist() == source[:32].tolist()
    rows = [source[48 * i : 48 * i + 32] for i in range(3)]
    for i, row in enumerate(rows):
        assert target[100 + 48 * i : 132 + 48 * i].tolist() == row.tolist()
    # Two blocks of 6 bytes, 4 bytes apart: one element before, two behind, then filler up to 32 bytes.
    assert target[240:245].tolist() == [2.5, 2, 3, 4, 2.5]
    described = [
        (c.name, c.direction, c.block_count, c.block_bytes, c.gm_gap, c.ub_gap, c.pad_left, c.pad_right)
        for c in machine.copies
    ]
    assert described == [
        (b"DataCopy", 0, 1, 80, 0, 0, 0, 0),
        (b"DataCopy", 2, 1, 64, 0, 0, 0, 0),
        (b"DataCopy", 1, 1, 64, 0, 0, 0, 0),
        (b"DataCopy", 0, 3, 64, 32, 128, 0, 0),
        (b"DataCopy", 1, 3, 64, 32, 128, 0, 0),
        (b"DataCopy", 2, 2, 32, 0, 32, 0, 0),
        (b"DataCopyPad", 0, 2, 6, 4, 32, 1, 2),
        (b"DataCopyPad", 1, 2, 10, 7, 32, 0, 0),
        (b"DataCopyPad", 0, 1, 10, 2, 0, 0, 0),
        (b"DataCopyPad", 1, 1, 10, 0, 0, 0, 0),
        (b"DataCopyPad", 0, 1, 10, 0, 0, 0, 3),
        (b"DataCopyPad", 0, 1, 10, 0, 0, 0, 3),
    ]
    assert [(c.byte_exact, c.element_bytes, c.ub_dst_gap) for c in machine.copies[5:7]] == [
        (0, 2, 96),
        (1, 2, 0),
    ]
    padding = [(c.pad_defined, c.pad_value) for c in machine.copies]
    half = {value: int(np.float16(value).view(np.uint16)) for value in (2.5, 9)}
    assert [padding[i] for i in (6, 8, 10, 11)] == [(1, half[2.5]), (2, 0), (0, 0), (1, half[9])]
    assert machine.faults == []


def test_atomics(machine: NaiveMachine) -> None:
    machine.launch("atomics")
    calls = [entry[1:] for entry in machine.log if entry[0] == "set_atomic"]
    assert calls == [
        (ADD, FLOAT),
        (MAX, HALF),
        (MIN, INT16),
        (ADD, INT32),
        (ADD, INT8),
        (MAX, BFLOAT16),
        (ATOMIC_NONE, 0),
        (ATOMIC_NONE, 0),
        (MAX, HALF),
        (MAX, FLOAT),
    ]


def test_order(machine: NaiveMachine) -> None:
    machine.launch("order")
    assert machine.log == [
        *(("pipe_barrier", pipe) for pipe in (ALL, V, MTE2, MTE3)),
        ("set_flag", MTE2, MTE3, 0),
        ("wait_flag", MTE2, MTE3, 0),
        ("set_flag", S, V, 1),
        ("wait_flag", V, S, 2),
        ("set_flag", MTE3, MTE2, 3),
        ("set_flag", MTE3, S, 7),
        ("sync_all",),
        ("sync_all",),
        ("cross_core_set", 0, MTE3, 5),
        ("cross_core_set", 1, V, 6),
        ("cross_core_wait", 0, S, 5),
        ("cross_core_wait", 1, V, 6),
        ("memory_barrier", 0),
        ("memory_barrier", 1),
        ("set_flag", V, MTE3, 2),
        ("wait_flag", V, MTE3, 2),
    ]


def test_names_stand_for_the_documented_numbers(built: tuple[str, Path], machine: NaiveMachine) -> None:
    found = out()
    machine.launch("names", found)
    assert found[:9].tolist() == [0, 2, 3, 4, 0, 2, 3, 1, 3]
    assert found[9:17].tolist() == [8, 1, 1, 321, MTE3, 1, 10, 22]
    assert found[17] == {"dav-c220-vec": 1, "dav-c310-vec": 2}[built[0]]


def test_types_that_are_only_moved(machine: NaiveMachine) -> None:
    source = np.random.default_rng(2).integers(0, 256, 256).astype(np.uint8)
    target = np.zeros_like(source)
    machine.launch("move_bytes", source, target)
    assert (target == source).all()


def test_the_rest(built: tuple[str, Path], machine: NaiveMachine) -> None:
    found = out()
    machine.launch("rest", found)
    narrow_floats = int(built[0] == "dav-c310-vec")  # bit 60 of CTRL, on by default
    assert found[:4].tolist() == [5, 2, 4, narrow_floats << 60]
    assert found[4:14].tolist() == [32, 4, 64, 70, 1, 0, 1, 1, narrow_floats, narrow_floats]
    assert machine.faults == ["trap() was called"]
    events = [entry[0] for entry in machine.log if "flag" in entry[0]]
    assert events == ["set_flag", "wait_flag"]  # FreeAllEvent has waited already


def test_rendezvous_in_software(machine: NaiveMachine) -> None:
    """Blocks run one after the other here, so all but the last find the counts of blocks still to come already there."""
    counts = np.zeros(3 * 8, np.int32)
    counts[8::8] = 5
    machine.launch("software", counts, ctypes.c_int32(2), blocks=1)
    assert counts[::8].tolist() == [1, 5, 5]
    counts[:] = 0
    machine.launch("software", counts, ctypes.c_int32(1), blocks=1)
    machine.launch("software", counts, ctypes.c_int32(1), blocks=1)
    assert counts[::8].tolist() == [2, 0, 0]


def test_scalars_and_cache(machine: NaiveMachine) -> None:
    memory, found = np.zeros(4, np.uint32), out()
    machine.launch("scalars", memory, found)
    assert (found[0], memory[0]) == (5, 5)
    address = memory.ctypes.data
    assert machine.log == [
        ("gm_store_uncached", 4),
        ("gm_load_uncached", 4),
        ("cache_clean_invalidate", address, 0, 2),
        ("cache_clean_invalidate", address, 1, 0),
    ]


def test_words(machine: NaiveMachine) -> None:
    machine.launch("words", ctypes.c_int32(3), ctypes.c_uint16(int(np.float16(1.25).view(np.uint16))), 2**63)
    dumps = "DumpTensor: desc 7, block 0: 1.5 -2\nDumpTensor: desc 8, block 0: -1 2\n"
    assert machine.text == f"3 1.25 {2**63} text\nagain %\n" + dumps + "wrong i 3\n"
    assert machine.faults[0].startswith('assertion failed: i > 100, "i is %d", i at ')
    assert machine.faults[1].startswith("assertion failed: i == 4 at ")
    assert machine.faults[2] == "trap() was called"


def test_buffers(machine: NaiveMachine) -> None:
    found = out()
    machine.launch("buffers", found)
    assert found[:10].tolist() == [1, 32, 128, 128, 32, 0, 1, 2, 0, 0]
    assert machine.faults == [
        "TBuf::GetWithOffset: the offset is no multiple of 32 bytes",
        "TBuf: a tensor of 132 bytes at offset 0 reaches beyond the 128 bytes that InitBuffer gave it",
    ]
    # Making a TPipe ends an atomic mode; its end waits for everything.
    assert machine.log[0] == ("set_atomic", ATOMIC_NONE, 0)
    assert machine.log[-1] == ("pipe_barrier", ALL)


def test_queues_order_their_pipes(machine: NaiveMachine) -> None:
    found = out()
    machine.launch("queues", found)
    assert found[:9].tolist() == [24, 0, 0, 1, 1, 0, 1, 96, 128]
    events = [entry for entry in machine.log if "flag" in entry[0]]

    def turn(there: tuple[int, int], buffer: int) -> list[tuple[Any, ...]]:
        return [("set_flag", *there, buffer), ("wait_flag", *there, buffer)]

    copy, first, second, back = 8, 9, 10, 11
    freed = ("set_flag", MTE3, MTE2, copy)
    taken = ("wait_flag", MTE3, MTE2, copy)
    assert events == [
        *turn((MTE2, MTE3), copy),
        freed,
        taken,
        freed,
        ("set_flag", MTE2, V, first),
        ("set_flag", MTE2, V, second),
        ("wait_flag", MTE2, V, first),
        ("wait_flag", MTE2, V, second),
        ("set_flag", V, MTE2, first),
        ("set_flag", V, MTE2, second),
        *turn((V, MTE3), back),
        ("set_flag", MTE3, V, back),
        ("wait_flag", MTE3, V, back),
        ("set_flag", MTE3, V, back),
        taken,
        *turn((MTE2, V), copy),
        *turn((V, MTE3), copy),
        freed,
        # What was freed and not taken again is waited for at the end, so no event stays set.
        taken,
        ("wait_flag", V, MTE2, first),
        ("wait_flag", V, MTE2, second),
        ("wait_flag", MTE3, V, back),
    ]
    invalidated = [entry[1:] for entry in machine.log if entry[0] == "ub_invalidate"]
    assert invalidated[:2] == [(0, 96), (0, 96)]
    assert machine.faults == []


MISUSE = [
    "FreeTensor: the tensor is free already (double free)",
    "DeQue: the queue is empty",
    "AllocTensor: every buffer of the queue is in use; the hardware waits forever",
    "EnQue: the queue holds as many tensors as its depth allows",
    "EnQue: the tensor is not in the kernel's hands (it was freed or enqueued before)",
    "FreeTensor: the tensor belongs to no buffer of this queue",
    "AllocTensor: the queue has no buffers; InitBuffer was not called",
    "TPipe::InitBuffer: more than {} in one TPipe",
    "TPipe::InitBuffer: more than {} in one TPipe",
]
LIMITS = {
    "dav-c220-vec": ("64 buffers", "64 buffers"),
    "dav-c310-vec": ("28 buffers of queues", "63 buffers"),
}


@pytest.mark.parametrize("which", range(len(MISUSE)))
def test_misuse_of_queues(built: tuple[str, Path], machine: NaiveMachine, which: int) -> None:
    machine.launch("misuse", ctypes.c_int32(which))
    limits = dict(zip((7, 8), LIMITS[built[0]], strict=True))
    assert set(machine.faults) == {MISUSE[which].format(limits.get(which))}
    assert which in limits or len(machine.faults) == 1


def test_tensors_left_in_a_queue_leave_an_event(machine: NaiveMachine) -> None:
    machine.launch("queues_left", ctypes.c_int32(0))
    assert machine.faults == []
    assert len(machine.warnings) == 1  # not of what was allocated, or dequeued, and never freed
    assert machine.warnings[0].startswith(
        "EnQue: the tensor of 96 bytes at UB offset 96 was never taken from its queue; without a DeQue "
    )
    second = 9
    assert machine.log[-2:] == [("wait_flag", MTE2, V, second), ("pipe_barrier", ALL)]
    machine.warnings.clear()
    machine.launch("queues_left", ctypes.c_int32(1))
    assert machine.warnings == []


def test_reserving_too_much_only_warns(machine: NaiveMachine) -> None:
    machine.launch("too_much")
    assert machine.faults == []
    size = len(machine.ub)
    assert machine.warnings == [
        f"TPipe::InitBuffer: a buffer of {asked} bytes does not fit: {used} of the unified buffer's {size} are in use"
        for asked, used in ((204800, 0), (102400, 204800))
        if used + asked > size
    ]


def test_a_length_below_zero_leaves_the_other_buffers_where_they_are(machine: NaiveMachine) -> None:
    found = out()
    machine.launch("negative_length", found)
    assert found[:2].tolist() == [0, 64]
    assert found[2] >= len(machine.ub)  # so whoever touches it is told
    assert machine.warnings[0] == (
        "TPipe::InitBuffer: a buffer of 4294967264 bytes does not fit: "
        f"64 of the unified buffer's {len(machine.ub)} are in use"
    )


def test_a_pipe_that_begins_anew_leaves_no_event_set(machine: NaiveMachine) -> None:
    machine.launch("begin_anew")
    events = [entry for entry in machine.log if "flag" in entry[0]]
    there_and_back = [("set_flag", MTE2, MTE3, 8), ("wait_flag", MTE2, MTE3, 8)]
    there_and_back += [("set_flag", MTE3, MTE2, 8), ("wait_flag", MTE3, MTE2, 8)]
    assert events == 2 * there_and_back


NO_SUCH_EVENTS = [
    f"{call}: no event MTE2_V has the id {number}; the ids of a pair of pipes go from 0 to 7"
    for call, number in (("SetFlag", 8), ("WaitFlag", -1), ("SetFlag", 9))
]
GAP_TOO_LONG = "DataCopyPad: the gap in the unified buffer is above 65535 units of 32 bytes"


@pytest.mark.parametrize(("which", "fault"), [*enumerate(NO_SUCH_EVENTS + [GAP_TOO_LONG] * 2)])
def test_numbers_that_an_instruction_does_not_take(machine: NaiveMachine, which: int, fault: str) -> None:
    machine.launch("out_of_range", ctypes.c_int32(which))
    assert machine.faults == [fault]


@pytest.mark.parametrize("built", ["dav-c310-vec"], indirect=True)
def test_what_only_c310_has(machine: NaiveMachine) -> None:
    memory, found = np.arange(64, dtype=np.uint32), out()
    memory.view(np.uint8)[40:56] = np.arange(100, 116)
    machine.launch("only_c310", memory, found)
    assert found[:2].tolist() == [0, 40]
    atomics = [entry[1:] for entry in machine.log if entry[0] == "gm_atomic"]
    assert [(operation, kind) for operation, kind, *_ in atomics] == [
        (ADD, UINT32),
        (MAX, INT64),
        (MIN, FLOAT),
        (EXCHANGE, UINT64),
        (CAS, INT32),
    ]
    assert atomics[4][2:] == (b"\x08\0\0\0", b"\x07\0\0\0")
    assert [(copy.compact, copy.gm_gap) for copy in machine.copies[-2:]] == [(1, -3), (1, 3)]
    stored = memory.view(np.uint8)[100:113].tolist()
    assert stored[:5] + stored[8:] == [100, 101, 102, 103, 104, 9, 102, 103, 104, 105]
    assert machine.ub[:11].tolist() == [100, 101, 102, 103, 104, 9, 102, 103, 104, 105, 106]


REFUSED = {
    "SetAtomicAdd<uint32_t>()": ("dav-c310-vec", "copies are atomic for float, half, int16_t"),
    "SetAtomicAdd<int64_t>()": ("dav-c310-vec", "copies are atomic for float, half, int16_t"),
    "AtomicAdd((__gm__ uint32_t*)x, 1u)": ("dav-c220-vec", "dav-c310-vec has them, dav-c220-vec has not"),
    "AtomicAdd((__gm__ half*)x, half(1))": (
        "dav-c310-vec",
        "int32_t, uint32_t, float, int64_t and uint64_t only",
    ),
    "PipeBarrier<PIPE_S>()": ("dav-c220-vec", "the scalar unit is in order"),
    "PipeBarrier<PIPE_M>()": ("dav-c220-vec", "a vector core has the pipes V, MTE2 and MTE3"),
    "SyncAll<false>()": ("dav-c220-vec", "waits for cube cores"),
    "CrossCoreSetFlag<4, PIPE_V>(1)": ("dav-c220-vec", "the mode is 0, 1 or 2"),
    "TBuf<TPosition::A1> buf": ("dav-c220-vec", "a vector core has VECIN, VECOUT and VECCALC only"),
    "TQueBind<TPosition::GM, TPosition::GM, 1> que": ("dav-c220-vec", "a vector core moves tensors between"),
    "GlobalTensor<int> g; g.ReinterpretCast<char>()": ("dav-c220-vec", "dav-c220-vec has not"),
    "DataCopyPad<char, PaddingMode::Compact>(GlobalTensor<char>(), LocalTensor<char>(), DataCopyExtParams())": (
        "dav-c220-vec",
        "PaddingMode::Compact",
    ),
    "Mutex::Lock<PIPE_V>(0)": ("dav-c310-vec", "note: AscendC::Mutex is not emulated; {page} lists what is"),
    "GatherMask(x)": ("dav-c220-vec", "note: AscendC::GatherMask is not emulated; {page} lists what is"),
    "Mmad(x, x, x)": ("dav-c310-vec", "note: AscendC::Mmad is not emulated; {page} lists what is"),
    "TBufPool<TPosition::VECIN> pool": ("dav-c310-vec", "note: AscendC::TBufPool is not emulated; {page}"),
    "copy_gm_to_ubuf(x, x, 0, 1, 1, 0, 0)": (
        "dav-c220-vec",
        "note: copy_gm_to_ubuf is not emulated; {page} lists what is",
    ),
    "Sin(x, x, 8)": ("dav-c220-vec", "note: AscendC::Sin is not emulated; {page} lists what is"),
    "Hccl<0> h": ("dav-c220-vec", "note: AscendC::Hccl is not emulated; {page} lists what is"),
    "InitGlobalMemory(x, 8, 0)": ("dav-c220-vec", "note: AscendC::InitGlobalMemory is not emulated; {page}"),
    "ASSERT(x)": ("dav-c220-vec", "note: ASSERT is not emulated; {page} lists what is"),
    "LocalTensor<half>().Print()": (
        "dav-c310-vec",
        "note: AscendC::LocalTensor::Print is not emulated; {page} lists what is",
    ),
    "SetFlag<HardEvent::MTE1_M>(0)": (
        "dav-c220-vec",
        "note: AscendC::HardEvent::MTE1_M is not emulated; {page} lists what is",
    ),
    "AscendC::NoSuchThing(x)": (
        "dav-c310-vec",
        "note: AscendC::NoSuchThing is not emulated; {page} lists what is",
    ),
}


@pytest.mark.parametrize("statement", REFUSED)
@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_what_a_core_lacks_does_not_compile(
    compiler: KernelCompiler, tmp_path: Path, statement: str, cxx: str
) -> None:
    architecture, message = REFUSED[statement]
    source = tmp_path / "refused.asc"
    source.write_text(f"{HEAD}K k(GM_ADDR x) {{\n{statement};\n}}\n")
    driver = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    result = driver.compile(source, tmp_path / "k.o", architecture=architecture)
    assert result.returncode != 0
    page = compiler.toolkit.resolve() / "share/doc/aivops/ascendc.md"
    assert message.format(page=page) in result.stderr
    assert page.is_file()
    assert f"{source}:6" in result.stderr
