// The scalar unit's data cache: writing back, dropping lines, fences.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_CACHE_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_CACHE_INTF_H
#pragma GCC system_header

#include "kernel_tensor.h"

namespace AscendC {

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };
enum class MemDsbT : uint64_t { ALL = 0, DDR = 1, UB = 2, SEQ = 3 };

template <typename T, CacheLine entireType, DcciDst dcciDst>
AIVOPS_EMU_INLINE void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
    static_assert(dcciDst != DcciDst::CACHELINE_ATOMIC || aivops_emulator::kIsC310,
                  "DataCacheCleanAndInvalid: CACHELINE_ATOMIC: dav-c310-vec has it, dav-c220-vec has not");
    aivops_emulator::table()->cache_clean_invalidate(aivops_emulator::block(), tensor.GetPhyAddr(),
                                                     entireType == CacheLine::ENTIRE_DATA_CACHE,
                                                     static_cast<uint32_t>(dcciDst));
}

template <typename T, CacheLine entireType>
AIVOPS_EMU_INLINE void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor) {
    DataCacheCleanAndInvalid<T, entireType, DcciDst::CACHELINE_ALL>(tensor);
}

// Scalar accesses to the unified buffer do not pass the cache, so there is nothing to write back.
template <typename T, CacheLine entireType, DcciDst dcciDst>
AIVOPS_EMU_INLINE void DataCacheCleanAndInvalid(const LocalTensor<T>&) {
}

template <MemDsbT kind>
AIVOPS_EMU_INLINE void DataSyncBarrier() {
    aivops_emulator::table()->memory_barrier(aivops_emulator::block(), static_cast<uint32_t>(kind));
}

} // namespace AscendC

#endif
