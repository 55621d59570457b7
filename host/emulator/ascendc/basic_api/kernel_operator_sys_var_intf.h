// What a kernel can ask about the core and the launch it runs in.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_SYS_VAR_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_SYS_VAR_INTF_H
#pragma GCC system_header

#include "common_types.h"

namespace AscendC {

AIVOPS_EMU_INLINE int64_t GetBlockIdx() {
    return aivops_emulator::block()->index;
}

AIVOPS_EMU_INLINE int64_t GetBlockNum() {
    return aivops_emulator::block()->count;
}

// Launches are pure AIV: one vector core per block.
AIVOPS_EMU_INLINE int64_t GetSubBlockIdx() {
    return 0;
}

AIVOPS_EMU_INLINE int64_t GetSubBlockNum() {
    return 1;
}

AIVOPS_EMU_INLINE int64_t GetTaskRatio() {
    return 1;
}

AIVOPS_EMU_INLINE int64_t GetTaskRation() {
    return GetTaskRatio();
}

AIVOPS_EMU_INLINE int64_t GetSystemCycle() {
    return static_cast<int64_t>(aivops_emulator::table()->cycle(aivops_emulator::block()));
}

// What a kernel may use without asking for the reserved parts; dav-c220 tells 0.
AIVOPS_EMU_INLINE constexpr uint32_t GetUBSizeInBytes() {
    return aivops_emulator::kIsC310 ? 248 * 1024 : 0;
}

} // namespace AscendC

#endif
