// Strides of vector instructions that work in repeats of 256 bytes. Units are 32-byte blocks.
#ifndef AIVOPS_ASCENDC_KERNEL_STRUCT_REPEAT_H
#define AIVOPS_ASCENDC_KERNEL_STRUCT_REPEAT_H
#pragma GCC system_header

#include "common_types.h"

namespace AscendC {

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;

    AIVOPS_EMU_INLINE BinaryRepeatParams() {}
    AIVOPS_EMU_INLINE BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,
                                         uint8_t src0_repeat, uint8_t src1_repeat)
        : dstBlkStride(dst_block), src0BlkStride(src0_block), src1BlkStride(src1_block), dstRepStride(dst_repeat),
          src0RepStride(src0_repeat), src1RepStride(src1_repeat) {}
};

struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;

    AIVOPS_EMU_INLINE UnaryRepeatParams() {}
    AIVOPS_EMU_INLINE UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat)
        : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat) {}
};

} // namespace AscendC

#endif
