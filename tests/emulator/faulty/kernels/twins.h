// What the kernels of this folder share: their arguments, how elements are split, buffers, windows and flags.
// A kernel is a template: with kWrong it has its one fault, without it is put right, and nothing else differs.
// Names in square brackets mark the lines that reports must name.
#ifndef AIVOPS_FAULTY_TWINS_H
#define AIVOPS_FAULTY_TWINS_H

#include "kernel_operator.h"

using namespace AscendC;

using Memory = GlobalTensor<int32_t>;
using Tensor = LocalTensor<int32_t>;

constexpr uint32_t kTile = 256; // elements of a tile, and of a block's stage in a window
constexpr uint32_t kTileBytes = kTile * sizeof(int32_t);
constexpr uint32_t kFlag = 8;                              // elements of a flag; the first one is its value
constexpr uint32_t kSlots = 10;                            // flags of a block that single ranks set
constexpr uint32_t kWindow = kTile + (2 + kSlots) * kFlag; // elements of a block's part of a window
constexpr uint32_t kLine = 64 / sizeof(int32_t);           // elements of a line of the scalar unit's cache
#if __NPU_ARCH__ == 2201
constexpr uint32_t kUbBytes = 192 * 1024;
#else
constexpr uint32_t kUbBytes = 256 * 1024;
#endif

struct Call {
    GM_ADDR windows; // addresses of all ranks' windows
    GM_ADDR inputs;  // and of their inputs
    GM_ADDR input;
    GM_ADDR output;
    GM_ADDR scratch; // of this rank, as large as the input and a line per block
    GM_ADDR retired; // memory that the host has freed
    uint32_t rank;
    uint32_t ranks;
    uint32_t count; // elements
    uint32_t tag;   // 1 in the first call, 2 in the next, ...
};

__aicore__ inline Memory memory_at(GM_ADDR address) {
    Memory memory;
    memory.SetGlobalBuffer((__gm__ int32_t*)address);
    return memory;
}

__aicore__ inline GM_ADDR address_of(GM_ADDR table, uint32_t rank) {
    return (GM_ADDR)((__gm__ uint64_t*)table)[rank];
}

/// Writes back and drops the line of the scalar unit's cache that the first element is in.
__aicore__ inline void clean(const Memory& line) {
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(line);
}

__aicore__ inline DataCopyExtParams elements(uint32_t count) {
    return DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(int32_t)), 0, 0, 0};
}

__aicore__ inline DataCopyPadExtParams<int32_t> no_padding() {
    return DataCopyPadExtParams<int32_t>{false, 0, 0, 0};
}

/// The elements that a block works on, a tile at a time.
class Share {
  public:
    __aicore__ inline explicit Share(const Call& call, uint32_t block = GetBlockIdx()) {
        const uint32_t each = (call.count + GetBlockNum() - 1) / GetBlockNum();
        const uint32_t tiles = (each + kTile - 1) / kTile;
        at = block * each < call.count ? block * each : call.count;
        end_ = call.count - at < each ? call.count : at + each;
        step = (call.tag - 1) * tiles + 1;
    }
    __aicore__ inline bool left() const { return at < end_; }
    __aicore__ inline uint32_t count() const { return end_ - at < kTile ? end_ - at : kTile; }
    __aicore__ inline void next() {
        at += kTile;
        ++step;
    }

    uint32_t at;   // first element of the tile
    uint32_t step; // number of the tile, counted through all calls from 1 on: what flags say of it

  private:
    uint32_t end_;
};

/// Buffers without queues.
struct Core {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    Tensor tile;
    Tensor result;
    Tensor flag;
    __aicore__ inline Core() {
        pipe.InitBuffer(buffer, 48 * kTileBytes);
        tile = buffer.GetWithOffset<int32_t>(kTile, 0);
        flag = buffer.GetWithOffset<int32_t>(kFlag, kTileBytes);
        result = buffer.GetWithOffset<int32_t>(kTile, 8 * kTileBytes);
    }
};

template <HardEvent kEvent>
__aicore__ inline void order() {
    SetFlag<kEvent>(0);
    WaitFlag<kEvent>(0);
}

/// This block's part of a rank's window.
struct Window {
    Memory stage; // a tile
    Memory ready; // a flag of the owner: the stage holds the tile with this number
    Memory taken; // a flag of the rank before it: it has taken the tile with this number
    Memory slots; // a flag of each rank
    __aicore__ inline Window(const Call& call, uint32_t rank) {
        stage = memory_at(address_of(call.windows, rank))[GetBlockIdx() * kWindow];
        ready = stage[kTile];
        taken = ready[kFlag];
        slots = taken[kFlag];
    }
};

__aicore__ inline void tell(Core& core, const Memory& flag, uint32_t value) {
    core.flag.SetValue(0, value);
    PipeBarrier<PIPE_ALL>();
    DataCopy(flag, core.flag, kFlag); // [tell]
    PipeBarrier<PIPE_ALL>();
}

/// Waits until the flag has the value, or a later one.
__aicore__ inline void wait_for(Core& core, const Memory& flag, uint32_t value) {
    do {
        DataCopy(core.flag, flag, kFlag); // [poll]
        PipeBarrier<PIPE_ALL>();
    } while (static_cast<uint32_t>(core.flag.GetValue(0)) < value);
}

__aicore__ inline void load(Core& core, const Memory& from, uint32_t count) {
    DataCopyPad(core.tile, from, elements(count), no_padding());
    PipeBarrier<PIPE_ALL>();
}

__aicore__ inline void store(const Memory& to, Core& core, uint32_t count) {
    DataCopyPad(to, core.tile, elements(count));
    PipeBarrier<PIPE_ALL>();
}

struct KernelType {
    unsigned short type;
    unsigned short length;
    unsigned int value;
};

#define TWIN(name, kernel, wrong)                                                                                      \
    extern "C" __global__ __aicore__ void name(Call call) {                                                            \
        kernel<wrong>(call);                                                                                           \
    }                                                                                                                  \
    static const KernelType name##_meta __attribute__((used, section(".ascend.meta." #name))) = {1, 4, 3};
#define TWINS(kernel)                                                                                                  \
    TWIN(kernel##_wrong, kernel, true)                                                                                 \
    TWIN(kernel##_right, kernel, false)

#endif
