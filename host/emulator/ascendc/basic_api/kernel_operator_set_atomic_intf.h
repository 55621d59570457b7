// The atomic mode of copies to global memory: sticky per core, taken by a copy when it is issued.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_SET_ATOMIC_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_SET_ATOMIC_INTF_H
#pragma GCC system_header

#include "common_types.h"

namespace aivops_emulator {

template <typename T>
constexpr AivEmuType kAtomicType = AIVOPS_EMU_TYPE_NONE;
template <>
inline constexpr AivEmuType kAtomicType<float> = AIVOPS_EMU_TYPE_FLOAT;
template <>
inline constexpr AivEmuType kAtomicType<half> = AIVOPS_EMU_TYPE_HALF;
template <>
inline constexpr AivEmuType kAtomicType<int16_t> = AIVOPS_EMU_TYPE_INT16;
template <>
inline constexpr AivEmuType kAtomicType<int32_t> = AIVOPS_EMU_TYPE_INT32;
template <>
inline constexpr AivEmuType kAtomicType<int8_t> = AIVOPS_EMU_TYPE_INT8;
template <>
inline constexpr AivEmuType kAtomicType<bfloat16_t> = AIVOPS_EMU_TYPE_BFLOAT16;

template <typename T>
AIVOPS_EMU_INLINE void set_atomic(AivEmuAtomic operation) {
    static_assert(kAtomicType<T> != AIVOPS_EMU_TYPE_NONE,
                  "SetAtomic*: copies are atomic for float, half, int16_t, int32_t, int8_t and bfloat16_t only");
    core_register(AIVOPS_EMU_REGISTER_ATOMIC) = operation;
    table()->set_atomic(block(), operation, kAtomicType<T>);
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE void SetAtomicAdd() {
    aivops_emulator::set_atomic<T>(AIVOPS_EMU_ATOMIC_ADD);
}

template <typename T>
AIVOPS_EMU_INLINE void SetAtomicMax() {
    aivops_emulator::set_atomic<T>(AIVOPS_EMU_ATOMIC_MAX);
}

template <typename T>
AIVOPS_EMU_INLINE void SetAtomicMin() {
    aivops_emulator::set_atomic<T>(AIVOPS_EMU_ATOMIC_MIN);
}

// The type only: the operation stays, and is addition where none was set.
template <typename T>
AIVOPS_EMU_INLINE void SetAtomicType() {
    const uint64_t operation = aivops_emulator::core_register(AIVOPS_EMU_REGISTER_ATOMIC);
    aivops_emulator::set_atomic<T>(operation == AIVOPS_EMU_ATOMIC_NONE ? AIVOPS_EMU_ATOMIC_ADD
                                                                       : static_cast<AivEmuAtomic>(operation));
}

AIVOPS_EMU_INLINE void SetAtomicNone() {
    aivops_emulator::core_register(AIVOPS_EMU_REGISTER_ATOMIC) = AIVOPS_EMU_ATOMIC_NONE;
    aivops_emulator::table()->set_atomic(aivops_emulator::block(), AIVOPS_EMU_ATOMIC_NONE, AIVOPS_EMU_TYPE_NONE);
}

AIVOPS_EMU_INLINE void DisableDmaAtomic() {
    SetAtomicNone();
}

} // namespace AscendC

#endif
