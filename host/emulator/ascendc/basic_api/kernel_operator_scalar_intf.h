// The scalar unit's ways to global memory that do not pass its data cache.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_SCALAR_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_SCALAR_INTF_H
#pragma GCC system_header

#include "common_types.h"

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE T ReadGmByPassDCache(__gm__ T* address) {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "ReadGmByPassDCache: integers of 1 to 8 bytes");
    T value;
    aivops_emulator::table()->gm_load_uncached(aivops_emulator::block(), address, &value, sizeof(T));
    return value;
}

template <typename T>
AIVOPS_EMU_INLINE void WriteGmByPassDCache(__gm__ T* address, T value) {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "WriteGmByPassDCache: integers of 1 to 8 bytes");
    aivops_emulator::table()->gm_store_uncached(aivops_emulator::block(), address, &value, sizeof(T));
}

} // namespace AscendC

namespace aivops_emulator {

template <typename T>
constexpr AivEmuType kScalarAtomicType = AIVOPS_EMU_TYPE_NONE;
template <>
inline constexpr AivEmuType kScalarAtomicType<int32_t> = AIVOPS_EMU_TYPE_INT32;
template <>
inline constexpr AivEmuType kScalarAtomicType<uint32_t> = AIVOPS_EMU_TYPE_UINT32;
template <>
inline constexpr AivEmuType kScalarAtomicType<float> = AIVOPS_EMU_TYPE_FLOAT;
template <>
inline constexpr AivEmuType kScalarAtomicType<int64_t> = AIVOPS_EMU_TYPE_INT64;
template <>
inline constexpr AivEmuType kScalarAtomicType<uint64_t> = AIVOPS_EMU_TYPE_UINT64;

// Returns the value before the update.
template <typename T>
AIVOPS_EMU_INLINE T scalar_atomic(AivEmuAtomic operation, T* address, T operand, T compare = T(0)) {
    static_assert(kIsC310 || sizeof(T) == 0, "scalar atomics: dav-c310-vec has them, dav-c220-vec has not");
    static_assert(kScalarAtomicType<T> != AIVOPS_EMU_TYPE_NONE,
                  "scalar atomics: int32_t, uint32_t, float, int64_t and uint64_t only");
    T old;
    table()->gm_atomic(block(), operation, kScalarAtomicType<T>, address, &operand, &compare, &old);
    return old;
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE T AtomicAdd(__gm__ T* address, T value) {
    return aivops_emulator::scalar_atomic(AIVOPS_EMU_ATOMIC_ADD, address, value);
}

template <typename T>
AIVOPS_EMU_INLINE T AtomicMax(__gm__ T* address, T value) {
    return aivops_emulator::scalar_atomic(AIVOPS_EMU_ATOMIC_MAX, address, value);
}

template <typename T>
AIVOPS_EMU_INLINE T AtomicMin(__gm__ T* address, T value) {
    return aivops_emulator::scalar_atomic(AIVOPS_EMU_ATOMIC_MIN, address, value);
}

template <typename T>
AIVOPS_EMU_INLINE T AtomicExch(__gm__ T* address, T value) {
    return aivops_emulator::scalar_atomic(AIVOPS_EMU_ATOMIC_EXCHANGE, address, value);
}

template <typename T>
AIVOPS_EMU_INLINE T AtomicCas(__gm__ T* address, T expected, T desired) {
    return aivops_emulator::scalar_atomic(AIVOPS_EMU_ATOMIC_COMPARE_EXCHANGE, address, desired, expected);
}

} // namespace AscendC

#endif
