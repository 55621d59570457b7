// Element-wise instructions with a tensor and a scalar: dst = src (op) scalar.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_SCALAR_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_SCALAR_INTF_H
#pragma GCC system_header

#include "kernel_operator_vec_binary_intf.h"

namespace aivops_emulator {

// Deduces nothing from the scalar: a literal converts to the tensor's type.
template <typename T>
struct Identity {
    using Type = T;
};
template <typename T>
using ScalarOf = typename Identity<T>::Type;

} // namespace aivops_emulator

#define AIVOPS_EMU_SCALAR(name, operation)                                                                             \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const aivops_emulator::ScalarOf<T>& scalarValue, const int32_t& count) {               \
        aivops_emulator::unary<aivops_emulator::operation##Operation, T>(#name, dst, src, scalarValue, count);         \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const aivops_emulator::ScalarOf<T>& scalarValue, uint64_t mask[],                      \
                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                     \
        aivops_emulator::unary<aivops_emulator::operation##Operation, T>(                                              \
            #name, dst, src, scalarValue, aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);    \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const aivops_emulator::ScalarOf<T>& scalarValue, uint64_t mask,                        \
                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                     \
        aivops_emulator::unary<aivops_emulator::operation##Operation, T>(                                              \
            #name, dst, src, scalarValue, aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);    \
    }

namespace AscendC {

AIVOPS_EMU_SCALAR(Adds, Add)
AIVOPS_EMU_SCALAR(Muls, Mul)
AIVOPS_EMU_SCALAR(Maxs, Max)
AIVOPS_EMU_SCALAR(Mins, Min)

} // namespace AscendC

#undef AIVOPS_EMU_SCALAR

#endif
