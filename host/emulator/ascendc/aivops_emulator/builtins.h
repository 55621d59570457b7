// What the Ascend compiler knows without any header, in the global scope: pipes, events, block numbers, min and max.
#ifndef AIVOPS_EMULATOR_BUILTINS_H
#define AIVOPS_EMULATOR_BUILTINS_H
#pragma GCC system_header

#include "core.h"
#include "float_types.h"

enum pipe_t {
    PIPE_S = AIVOPS_EMU_PIPE_S,
    PIPE_V = AIVOPS_EMU_PIPE_V,
    PIPE_M = AIVOPS_EMU_PIPE_M,
    PIPE_MTE1 = AIVOPS_EMU_PIPE_MTE1,
    PIPE_MTE2 = AIVOPS_EMU_PIPE_MTE2,
    PIPE_MTE3 = AIVOPS_EMU_PIPE_MTE3,
    PIPE_ALL = AIVOPS_EMU_PIPE_ALL,
    PIPE_FIX = 10
};

enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

AIVOPS_EMU_INLINE void pipe_barrier(pipe_t pipe) {
    aivops_emulator::table()->pipe_barrier(aivops_emulator::block(), pipe);
}

namespace aivops_emulator {

constexpr uint32_t kUserEvents = 8; // of a pair of pipes; those behind them belong to the queues

constexpr const char* kPipeNames[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3"};

AIVOPS_EMU_INLINE uint32_t user_event(const char* call, pipe_t source, pipe_t destination, int64_t id) {
    constexpr uint32_t pipes = sizeof(kPipeNames) / sizeof(kPipeNames[0]);
    // What is no pipe of a vector core the machine refuses.
    if ((id < 0 || id >= kUserEvents) && source < pipes && destination < pipes)
        fault(AIVOPS_EMU_SYNCCHECK,
              worded("%s: no event %s_%s has the id %lld; the ids of a pair of pipes go from 0 to 7", call,
                     kPipeNames[source], kPipeNames[destination], static_cast<long long>(id)));
    return static_cast<uint32_t>(id);
}

} // namespace aivops_emulator

AIVOPS_EMU_INLINE void set_flag(pipe_t source, pipe_t destination, int64_t id) {
    aivops_emulator::table()->set_flag(aivops_emulator::block(), source, destination,
                                       aivops_emulator::user_event("SetFlag", source, destination, id));
}

AIVOPS_EMU_INLINE void wait_flag(pipe_t source, pipe_t destination, int64_t id) {
    aivops_emulator::table()->wait_flag(aivops_emulator::block(), source, destination,
                                        aivops_emulator::user_event("WaitFlag", source, destination, id));
}

AIVOPS_EMU_INLINE void trap() {
    aivops_emulator::fault(AIVOPS_EMU_ASSERT, "trap() was called");
}

// The packed arguments of the launch, as 8-byte slots.
AIVOPS_EMU_INLINE uint64_t* get_para_base() {
    return reinterpret_cast<uint64_t*>(aivops_emulator::core_register(AIVOPS_EMU_REGISTER_PARAMETER_BASE));
}

namespace aivops_emulator {

struct BlockIndex {
    AIVOPS_EMU_INLINE operator int64_t() const { return block()->index; }
};

struct BlockCount {
    AIVOPS_EMU_INLINE operator int64_t() const { return block()->count; }
};

} // namespace aivops_emulator

// Variables on the device; a kernel may well have locals of these names, so they are no macros.
constexpr aivops_emulator::BlockIndex block_idx{};
constexpr aivops_emulator::BlockCount block_num{};

#define AIVOPS_EMU_MIN_MAX(type)                                                                                       \
    AIVOPS_EMU_INLINE constexpr type min(type a, type b) {                                                             \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    AIVOPS_EMU_INLINE constexpr type max(type a, type b) {                                                             \
        return a < b ? b : a;                                                                                          \
    }
AIVOPS_EMU_MIN_MAX(int)
AIVOPS_EMU_MIN_MAX(unsigned)
AIVOPS_EMU_MIN_MAX(long)
AIVOPS_EMU_MIN_MAX(unsigned long)
AIVOPS_EMU_MIN_MAX(long long)
AIVOPS_EMU_MIN_MAX(unsigned long long)
AIVOPS_EMU_MIN_MAX(float)
AIVOPS_EMU_MIN_MAX(half)
#undef AIVOPS_EMU_MIN_MAX

#endif
