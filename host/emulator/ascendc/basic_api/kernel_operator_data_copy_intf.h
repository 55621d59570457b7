// Copies: global memory to unified buffer (pipe MTE2), back (MTE3), and within the unified buffer (V).
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_DATA_COPY_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_DATA_COPY_INTF_H
#pragma GCC system_header

#include "kernel_struct_data_copy.h"
#include "kernel_tensor.h"

namespace aivops_emulator {

constexpr uint32_t kBlockBytes = 32;

// The bytes from the first row's begin to the last one's end.
constexpr uint64_t extent(const AivEmuCopy& copy, uint64_t row_bytes, uint64_t step) {
    return (copy.block_count - 1) * step + row_bytes;
}

// A DataCopy of a length that is no multiple of 32 bytes leaves the rest behind.
constexpr uint64_t row_of(const AivEmuCopy& copy) {
    return copy.byte_exact ? copy.block_bytes : copy.block_bytes / kBlockBytes * kBlockBytes;
}

// Of a copy between GM and a tensor of `buffer`; null when it stays there.
__attribute__((noinline, visibility("hidden"))) inline const char* overrun_of(const AivEmuCopy& copy, UbBuffer buffer) {
    const uint64_t padding = (uint64_t{copy.pad_left} + copy.pad_right) * copy.element_bytes;
    const uint64_t row = padding + row_of(copy);
    const uint64_t step =
        copy.compact ? row : (row + kBlockBytes - 1) / kBlockBytes * kBlockBytes + uint64_t{copy.ub_gap};
    const uint64_t bytes = extent(copy, row, step);
    return buffer.holds(copy.ub, bytes) ? nullptr : overrun_text(copy.name, {buffer, copy.ub, bytes});
}

// Of a copy within the unified buffer.
__attribute__((noinline, visibility("hidden"))) inline const char* overrun_of(const AivEmuCopy& copy,
                                                                              UbBuffer destination, UbBuffer source) {
    const uint64_t row = row_of(copy);
    const uint64_t read = extent(copy, row, row + copy.ub_gap);
    const uint64_t written = extent(copy, row, row + copy.ub_dst_gap);
    if (!source.holds(copy.ub, read))
        return overrun_text(copy.name, {source, copy.ub, read});
    return destination.holds(copy.ub_dst, written) ? nullptr
                                                   : overrun_text(copy.name, {destination, copy.ub_dst, written});
}

// Rules every copy instruction has; what depends on addresses the machine checks.
template <typename... Tensors>
AIVOPS_EMU_INLINE void issue(const AivEmuCopy& copy, const Tensors&... tensors) {
    if (copy.block_count > 4095)
        fault(AIVOPS_EMU_MEMCHECK, worded("%s: blockCount %u is above 4095", copy.name, copy.block_count));
    if (copy.byte_exact && copy.block_bytes > 2097151)
        fault(AIVOPS_EMU_MEMCHECK, worded("%s: blockLen %u is above 2097151 bytes", copy.name, copy.block_bytes));
    if (copy.block_count == 0 || copy.block_bytes == 0)
        return;
    warn_of_overrun(overrun_of(copy, tensors.buffer_...));
    table()->copy(block(), &copy);
}

// What is too much to count is too much for a copy, too.
template <typename T>
AIVOPS_EMU_INLINE uint32_t bytes_of(uint32_t count) {
    const uint64_t bytes = uint64_t{count} * sizeof(T);
    return bytes > 0xffffffffu ? 0xffffffffu : static_cast<uint32_t>(bytes);
}

// Gaps in the unified buffer count units of 32 bytes, in 16 bits.
template <typename Stride>
AIVOPS_EMU_INLINE uint32_t ub_gap(Stride units) {
    if (static_cast<uint64_t>(units) > 65535)
        fault(AIVOPS_EMU_MEMCHECK, "DataCopyPad: the gap in the unified buffer is above 65535 units of 32 bytes");
    return static_cast<uint32_t>(units) * kBlockBytes;
}

template <typename T>
AIVOPS_EMU_INLINE uint64_t bit_pattern(T value) {
    uint64_t pattern = 0;
    static_assert(sizeof(T) <= sizeof(pattern), "an element has at most eight bytes");
    __builtin_memcpy(&pattern, &value, sizeof(T));
    return pattern;
}

template <typename T>
AIVOPS_EMU_INLINE uint64_t gm_address(const AscendC::GlobalTensor<T>& tensor) {
    return reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
}

// Without padding the rest of the last 32 bytes takes the block's first element; with it, the padding value or, when
// isPad is off, whatever SetPadValue said.
template <typename T, typename Params>
AIVOPS_EMU_INLINE void set_padding(AivEmuCopy& copy, const Params& padding, uint64_t value) {
    copy.pad_left = padding.leftPadding;
    copy.pad_right = padding.rightPadding;
    if (padding.leftPadding == 0 && padding.rightPadding == 0) {
        copy.pad_defined = 2;
    } else if (padding.isPad) {
        copy.pad_defined = 1;
        copy.pad_value = value;
    } else {
        copy.pad_defined = static_cast<uint8_t>(core_register(AIVOPS_EMU_REGISTER_PAD_DEFINED));
        copy.pad_value = core_register(AIVOPS_EMU_REGISTER_PAD_VALUE);
    }
    if (padding.leftPadding * sizeof(T) > kBlockBytes || padding.rightPadding * sizeof(T) > kBlockBytes)
        fault(AIVOPS_EMU_MEMCHECK, "DataCopyPad: a padding is longer than 32 bytes");
    if (sizeof(T) == 8 && padding.isPad && value != 0)
        fault(AIVOPS_EMU_MEMCHECK, "DataCopyPad: for 64-bit elements the padding value must be 0");
}

template <typename T>
AIVOPS_EMU_INLINE AivEmuCopy load(const char* name, const AscendC::LocalTensor<T>& destination,
                                  const AscendC::GlobalTensor<T>& source) {
    AivEmuCopy copy{};
    copy.name = name;
    copy.direction = AIVOPS_EMU_GM_TO_UB;
    copy.element_bytes = sizeof(T);
    copy.ub = destination.address_.bufferAddr;
    copy.gm = gm_address(source);
    return copy;
}

template <typename T>
AIVOPS_EMU_INLINE AivEmuCopy store(const char* name, const AscendC::GlobalTensor<T>& destination,
                                   const AscendC::LocalTensor<T>& source) {
    AivEmuCopy copy{};
    copy.name = name;
    copy.direction = AIVOPS_EMU_UB_TO_GM;
    copy.element_bytes = sizeof(T);
    copy.ub = source.address_.bufferAddr;
    copy.gm = gm_address(destination);
    return copy;
}

} // namespace aivops_emulator

namespace AscendC {

// ---- DataCopy: whole 32-byte units ----

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t count) {
    AivEmuCopy copy = aivops_emulator::load("DataCopy", dst, src);
    copy.block_count = 1;
    copy.block_bytes = aivops_emulator::bytes_of<T>(count);
    aivops_emulator::issue(copy, dst.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count) {
    AivEmuCopy copy = aivops_emulator::store("DataCopy", dst, src);
    copy.block_count = 1;
    copy.block_bytes = aivops_emulator::bytes_of<T>(count);
    aivops_emulator::issue(copy, src.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params) {
    AivEmuCopy copy = aivops_emulator::load("DataCopy", dst, src);
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen * aivops_emulator::kBlockBytes;
    copy.gm_gap = params.srcStride * aivops_emulator::kBlockBytes;
    copy.ub_gap = params.dstStride * aivops_emulator::kBlockBytes;
    aivops_emulator::issue(copy, dst.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params) {
    AivEmuCopy copy = aivops_emulator::store("DataCopy", dst, src);
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen * aivops_emulator::kBlockBytes;
    copy.gm_gap = params.dstStride * aivops_emulator::kBlockBytes;
    copy.ub_gap = params.srcStride * aivops_emulator::kBlockBytes;
    aivops_emulator::issue(copy, src.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params) {
    AivEmuCopy copy{};
    copy.name = "DataCopy";
    copy.direction = AIVOPS_EMU_UB_TO_UB;
    copy.element_bytes = sizeof(T);
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen * aivops_emulator::kBlockBytes;
    copy.ub = src.address_.bufferAddr;
    copy.ub_dst = dst.address_.bufferAddr;
    copy.ub_gap = params.srcStride * aivops_emulator::kBlockBytes;
    copy.ub_dst_gap = params.dstStride * aivops_emulator::kBlockBytes;
    aivops_emulator::issue(copy, dst.address_, src.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count) {
    AivEmuCopy copy{};
    copy.name = "DataCopy";
    copy.direction = AIVOPS_EMU_UB_TO_UB;
    copy.element_bytes = sizeof(T);
    copy.block_count = 1;
    copy.block_bytes = aivops_emulator::bytes_of<T>(count);
    copy.ub = src.address_.bufferAddr;
    copy.ub_dst = dst.address_.bufferAddr;
    aivops_emulator::issue(copy, dst.address_, src.address_);
}

// ---- DataCopyPad: any number of bytes ----

template <typename T, PaddingMode mode = PaddingMode::Normal>
AIVOPS_EMU_INLINE void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   const DataCopyExtParams& params, const DataCopyPadExtParams<T>& padding) {
    static_assert(mode == PaddingMode::Normal || aivops_emulator::kIsC310,
                  "DataCopyPad: PaddingMode::Compact: dav-c310-vec has it, dav-c220-vec has not");
    AivEmuCopy copy = aivops_emulator::load("DataCopyPad", dst, src);
    copy.byte_exact = 1;
    copy.compact = mode == PaddingMode::Compact;
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen;
    copy.gm_gap = params.srcStride;
    copy.ub_gap = aivops_emulator::ub_gap(params.dstStride);
    aivops_emulator::set_padding<T>(copy, padding, aivops_emulator::bit_pattern(padding.paddingValue));
    aivops_emulator::issue(copy, dst.address_);
}

template <typename T, PaddingMode mode = PaddingMode::Normal>
AIVOPS_EMU_INLINE void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyExtParams& params) {
    static_assert(mode == PaddingMode::Normal || aivops_emulator::kIsC310,
                  "DataCopyPad: PaddingMode::Compact: dav-c310-vec has it, dav-c220-vec has not");
    AivEmuCopy copy = aivops_emulator::store("DataCopyPad", dst, src);
    copy.byte_exact = 1;
    copy.compact = mode == PaddingMode::Compact;
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen;
    copy.gm_gap = params.dstStride;
    copy.ub_gap = aivops_emulator::ub_gap(params.srcStride);
    aivops_emulator::issue(copy, src.address_);
}

// The older forms: length and the gap in global memory in bytes too, in 16 bits.
template <typename T>
AIVOPS_EMU_INLINE void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
                                   const DataCopyPadParams& padding) {
    AivEmuCopy copy = aivops_emulator::load("DataCopyPad", dst, src);
    copy.byte_exact = 1;
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen;
    copy.gm_gap = params.srcStride;
    copy.ub_gap = params.dstStride * aivops_emulator::kBlockBytes;
    aivops_emulator::set_padding<T>(copy, padding, padding.paddingValue);
    aivops_emulator::issue(copy, dst.address_);
}

template <typename T>
AIVOPS_EMU_INLINE void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                                   const DataCopyParams& params) {
    AivEmuCopy copy = aivops_emulator::store("DataCopyPad", dst, src);
    copy.byte_exact = 1;
    copy.block_count = params.blockCount;
    copy.block_bytes = params.blockLen;
    copy.gm_gap = params.dstStride;
    copy.ub_gap = params.srcStride * aivops_emulator::kBlockBytes;
    aivops_emulator::issue(copy, src.address_);
}

// The filler of DataCopyPad where a padding is asked for and isPad is off.
template <typename T>
AIVOPS_EMU_INLINE void SetPadValue(T value) {
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_PAD_VALUE) = aivops_emulator::bit_pattern(value);
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_PAD_DEFINED) = 1;
}

} // namespace AscendC

#endif
