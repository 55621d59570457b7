// Parameters of the copy instructions.
#ifndef AIVOPS_ASCENDC_KERNEL_STRUCT_DATA_COPY_H
#define AIVOPS_ASCENDC_KERNEL_STRUCT_DATA_COPY_H
#pragma GCC system_header

#include "common_types.h"

namespace AscendC {

// Lengths and gaps in units of 32 bytes on both sides.
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;

    AIVOPS_EMU_INLINE DataCopyParams() {}
    AIVOPS_EMU_INLINE DataCopyParams(uint16_t count, uint16_t length, uint16_t source_gap, uint16_t destination_gap)
        : blockCount(count), blockLen(length), srcStride(source_gap), dstStride(destination_gap) {}
};

// Length in bytes. Gaps in bytes in global memory, in units of 32 bytes in the unified buffer.
struct DataCopyExtParams {
    using Stride = std::conditional_t<aivops_emulator::kIsC310, int64_t, uint32_t>;

    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    Stride srcStride = 0;
    Stride dstStride = 0;
    uint32_t rsv = 0;

    AIVOPS_EMU_INLINE DataCopyExtParams() {}
    AIVOPS_EMU_INLINE DataCopyExtParams(uint16_t count, uint32_t bytes, Stride source_gap, Stride destination_gap,
                                        uint32_t reserved)
        : blockCount(count), blockLen(bytes), srcStride(source_gap), dstStride(destination_gap), rsv(reserved) {}
};

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;

    AIVOPS_EMU_INLINE DataCopyPadParams() {}
    AIVOPS_EMU_INLINE DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

// Paddings count elements.
template <typename T>
struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = 0;

    AIVOPS_EMU_INLINE DataCopyPadExtParams() {}
    AIVOPS_EMU_INLINE DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

enum class PaddingMode : uint8_t { Normal = 0, Compact = 1 };

} // namespace AscendC

#endif
