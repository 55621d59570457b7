// Enumerations and small types that all of Ascend C shares.
#ifndef AIVOPS_ASCENDC_COMMON_TYPES_H
#define AIVOPS_ASCENDC_COMMON_TYPES_H
#pragma GCC system_header

#include "../aivops_emulator/builtins.h"
#include "../aivops_emulator/qualifiers.h"
#include "std_type_traits.h"

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX
};
using QuePosition = TPosition;

// Events between the pipes of a vector core.
enum class HardEvent : uint8_t {
    S_V,
    S_MTE2,
    S_MTE3,
    V_S,
    V_MTE2,
    V_MTE3,
    V_V,
    MTE2_S,
    MTE2_V,
    MTE2_MTE3,
    MTE3_S,
    MTE3_V,
    MTE3_MTE2,
    MAX
};

using TEventID = int8_t;
constexpr TEventID INVALID_TEVENTID = -1;

using ::EVENT_ID0;
using ::EVENT_ID1;
using ::EVENT_ID2;
using ::EVENT_ID3;
using ::EVENT_ID4;
using ::EVENT_ID5;
using ::EVENT_ID6;
using ::EVENT_ID7;

enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };

enum class RoundMode {
    CAST_NONE = 0,
    CAST_RINT = 1,
    CAST_FLOOR = 2,
    CAST_CEIL = 3,
    CAST_ROUND = 4,
    CAST_TRUNC = 5,
    CAST_ODD = 6,
    CAST_HYBRID = 7
};

template <typename A, typename B>
constexpr bool IsSameType_v = std::is_same_v<A, B>;

template <typename A, typename B>
struct IsSameType {
    static constexpr bool value = std::is_same_v<A, B>;
};

} // namespace AscendC

namespace aivops_emulator {

// The unified buffer is what an AIV core computes on; these positions all name it.
constexpr bool is_unified_buffer(AscendC::TPosition position) {
    return position == AscendC::TPosition::VECIN || position == AscendC::TPosition::VECOUT ||
           position == AscendC::TPosition::VECCALC;
}

struct PipePair {
    pipe_t source;
    pipe_t destination;
};

constexpr PipePair pipes_of(AscendC::HardEvent event) {
    switch (event) {
    case AscendC::HardEvent::S_V:
        return {PIPE_S, PIPE_V};
    case AscendC::HardEvent::S_MTE2:
        return {PIPE_S, PIPE_MTE2};
    case AscendC::HardEvent::S_MTE3:
        return {PIPE_S, PIPE_MTE3};
    case AscendC::HardEvent::V_S:
        return {PIPE_V, PIPE_S};
    case AscendC::HardEvent::V_MTE2:
        return {PIPE_V, PIPE_MTE2};
    case AscendC::HardEvent::V_MTE3:
        return {PIPE_V, PIPE_MTE3};
    case AscendC::HardEvent::MTE2_S:
        return {PIPE_MTE2, PIPE_S};
    case AscendC::HardEvent::MTE2_V:
        return {PIPE_MTE2, PIPE_V};
    case AscendC::HardEvent::MTE2_MTE3:
        return {PIPE_MTE2, PIPE_MTE3};
    case AscendC::HardEvent::MTE3_S:
        return {PIPE_MTE3, PIPE_S};
    case AscendC::HardEvent::MTE3_V:
        return {PIPE_MTE3, PIPE_V};
    case AscendC::HardEvent::MTE3_MTE2:
        return {PIPE_MTE3, PIPE_MTE2};
    default:
        return {PIPE_V, PIPE_V};
    }
}

} // namespace aivops_emulator

#endif
