// Element-wise instructions with one tensor: dst = op(src).
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_UNARY_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_UNARY_INTF_H
#pragma GCC system_header

#include "kernel_operator_vec_binary_intf.h"

namespace aivops_emulator {

template <typename T>
constexpr bool kIsHalfOrFloat = kIsAnyOf<T, half, float>;

struct AbsOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T> || (kIsC310 && kIsAnyOf<T, int16_t, int32_t>);
    template <typename T>
    static T apply(T a, T) {
        if constexpr (std::is_floating_point_v<T>)
            return __builtin_fabsf(a);
        else
            return a < 0 ? SubOperation::apply(T(0), a) : a;
    }
};

struct ExpOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T>;
    template <typename T>
    static T apply(T a, T) {
        return __builtin_expf(a);
    }
};

struct LnOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T>;
    template <typename T>
    static T apply(T a, T) {
        return __builtin_logf(a);
    }
};

struct SqrtOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T>;
    template <typename T>
    static T apply(T a, T) {
        return __builtin_sqrtf(a);
    }
};

struct RsqrtOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T>;
    template <typename T>
    static T apply(T a, T) {
        return 1.0f / __builtin_sqrtf(a);
    }
};

struct ReciprocalOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T>;
    template <typename T>
    static T apply(T a, T) {
        return 1.0f / a;
    }
};

struct ReluOperation {
    template <typename T>
    static constexpr bool kHas = kIsHalfOrFloat<T> || std::is_same_v<T, int32_t>;
    template <typename T>
    static T apply(T a, T) {
        return a > T(0) ? a : T(0);
    }
};

struct NegOperation {
    template <typename T>
    static constexpr bool kHas = kIsC310 && (kIsHalfOrFloat<T> || kIsAnyOf<T, int16_t, int32_t>);
    template <typename T>
    static T apply(T a, T) {
        if constexpr (std::is_floating_point_v<T>)
            return -a;
        else
            return SubOperation::apply(T(0), a);
    }
};

struct NotOperation {
    template <typename T>
    static constexpr bool kHas = kHasBits<T>;
    template <typename T>
    static T apply(T a, T) {
        return static_cast<T>(~a);
    }
};

} // namespace aivops_emulator

#define AIVOPS_EMU_UNARY(name)                                                                                         \
    template <typename T>                                                                                              \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {          \
        aivops_emulator::unary<aivops_emulator::name##Operation, T>(#name, dst, src, T(0), count);                     \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[],                 \
                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                     \
        aivops_emulator::unary<aivops_emulator::name##Operation, T>(                                                   \
            #name, dst, src, T(0), aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);           \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,                   \
                                const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                     \
        aivops_emulator::unary<aivops_emulator::name##Operation, T>(                                                   \
            #name, dst, src, T(0), aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);           \
    }

namespace AscendC {

AIVOPS_EMU_UNARY(Abs)
AIVOPS_EMU_UNARY(Exp)
AIVOPS_EMU_UNARY(Ln)
AIVOPS_EMU_UNARY(Sqrt)
AIVOPS_EMU_UNARY(Rsqrt)
AIVOPS_EMU_UNARY(Reciprocal)
AIVOPS_EMU_UNARY(Relu)
AIVOPS_EMU_UNARY(Neg)
AIVOPS_EMU_UNARY(Not)

} // namespace AscendC

#undef AIVOPS_EMU_UNARY

#endif
