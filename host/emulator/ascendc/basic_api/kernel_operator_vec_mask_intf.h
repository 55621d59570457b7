// The vector mask of instructions that are called with isSetMask = false, and the control register.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_MASK_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_MASK_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/vector.h"

namespace AscendC {

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER = 1 };

AIVOPS_EMU_INLINE void SetMaskNorm() {
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_MODE) = 0;
}

// From here on masks are numbers of elements.
AIVOPS_EMU_INLINE void SetMaskCount() {
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_MODE) = 1;
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
AIVOPS_EMU_INLINE void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow) {
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_HIGH) = ~maskHigh;
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_LOW) = ~maskLow;
}

// The first `length` lanes, or in counter mode as many elements.
template <typename T, MaskMode mode = MaskMode::NORMAL>
AIVOPS_EMU_INLINE void SetVectorMask(int32_t length) {
    if constexpr (mode == MaskMode::COUNTER) {
        SetVectorMask<T, mode>(0, static_cast<uint64_t>(length));
    } else {
        constexpr uint32_t per_repeat = sizeof(T) < 2 ? 128 : aivops_emulator::kLanesPerRepeat<T>;
        const auto lanes = aivops_emulator::masked(static_cast<uint64_t>(length), 1, per_repeat);
        aivops_emulator::check_mask("SetVectorMask", lanes);
        SetVectorMask<T, mode>(lanes.mask[1], lanes.mask[0]);
    }
}

AIVOPS_EMU_INLINE void ResetMask() {
    SetVectorMask<uint16_t>(~uint64_t(0), ~uint64_t(0));
}

// Bits startBit … endBit of CTRL. Emulated: 48, saturation of half.
template <int8_t startBit, int8_t endBit>
AIVOPS_EMU_INLINE void SetCtrlSpr(int64_t value) {
    static_assert(0 <= startBit && startBit <= endBit && endBit < 64, "SetCtrlSpr: bits 0 to 63, first to last");
    constexpr uint64_t width = endBit - startBit + 1;
    constexpr uint64_t bits = (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1) << startBit;
    uint64_t& control = aivops_emulator::core_register(AIVOPS_EMU_REGISTER_CONTROL);
    control = (control & ~bits) | (static_cast<uint64_t>(value) << startBit & bits);
}

template <int8_t startBit, int8_t endBit>
AIVOPS_EMU_INLINE int64_t GetCtrlSpr() {
    static_assert(0 <= startBit && startBit <= endBit && endBit < 64, "GetCtrlSpr: bits 0 to 63, first to last");
    constexpr uint64_t width = endBit - startBit + 1;
    constexpr uint64_t bits = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    return static_cast<int64_t>(aivops_emulator::core_register(AIVOPS_EMU_REGISTER_CONTROL) >> startBit & bits);
}

template <int8_t startBit, int8_t endBit>
AIVOPS_EMU_INLINE void ResetCtrlSpr() {
    SetCtrlSpr<startBit, endBit>(static_cast<int64_t>(aivops_emulator::kControlReset >> startBit));
}

} // namespace AscendC

#endif
