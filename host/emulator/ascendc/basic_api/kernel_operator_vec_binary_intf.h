// Element-wise instructions with two tensors: dst = src0 (op) src1.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/elementwise.h"

namespace aivops_emulator {

// Types of addition, comparison and the like; multiplication lacks bytes, division of dav-c220-vec integers.
template <typename T>
constexpr bool kHasAddition = kIsBaseType<T> || (kIsC310 && (kIsWideType<T> || kIsByte<T>));
template <typename T>
constexpr bool kHasMultiplication = kIsBaseType<T> || (kIsC310 && kIsWideType<T>);
template <typename T>
constexpr bool kHasDivision = kIsAnyOf<T, half, float> || (kIsC310 && kIsWideType<T> && !std::is_same_v<T, bfloat16_t>);
template <typename T>
constexpr bool kHasBits = kIsAnyOf<T, int16_t, uint16_t> || (kIsC310 && std::is_integral_v<T>);

struct AddOperation {
    template <typename T>
    static constexpr bool kHas = kHasAddition<T>;
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(WrappingType<T>(a) + WrappingType<T>(b));
    }
};

struct SubOperation {
    template <typename T>
    static constexpr bool kHas = kHasAddition<T>;
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(WrappingType<T>(a) - WrappingType<T>(b));
    }
};

struct MulOperation {
    template <typename T>
    static constexpr bool kHas = kHasMultiplication<T>;
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(WrappingType<T>(a) * WrappingType<T>(b));
    }
};

// Integer division by zero has no meaning on the device either; here it gives 0 instead of a fault of the host.
struct DivOperation {
    template <typename T>
    static constexpr bool kHas = kHasDivision<T>;
    template <typename T>
    static T apply(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return a / b;
        else
            return b == 0 ? T(0) : T(-1) < T(0) && b == T(-1) ? SubOperation::apply(T(0), a) : static_cast<T>(a / b);
    }
};

struct MaxOperation {
    template <typename T>
    static constexpr bool kHas = kHasAddition<T>;
    template <typename T>
    static T apply(T a, T b) {
        return a < b ? b : a;
    }
};

struct MinOperation {
    template <typename T>
    static constexpr bool kHas = kHasAddition<T>;
    template <typename T>
    static T apply(T a, T b) {
        return b < a ? b : a;
    }
};

struct AndOperation {
    template <typename T>
    static constexpr bool kHas = kHasBits<T>;
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};

struct OrOperation {
    template <typename T>
    static constexpr bool kHas = kHasBits<T>;
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};

// `dst = src0 + src1`, which computes as many elements as dst has.
template <typename Operation, typename T>
struct BinaryExpression {
    const char* name;
    AscendC::LocalTensor<T> first;
    AscendC::LocalTensor<T> second;

    AIVOPS_EMU_INLINE void assign_to(const AscendC::LocalTensor<T>& destination) const {
        binary<Operation, T>(name, destination, first, second, static_cast<int32_t>(destination.GetSize()));
    }
};

} // namespace aivops_emulator

// The forms with a count, with a mask of bits, and with a number of leading lanes.
#define AIVOPS_EMU_BINARY(name)                                                                                        \
    template <typename T>                                                                                              \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
                                const int32_t& count) {                                                                \
        aivops_emulator::binary<aivops_emulator::name##Operation, T>(#name, dst, src0, src1, count);                   \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
                                uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {   \
        aivops_emulator::binary<aivops_emulator::name##Operation, T>(                                                  \
            #name, dst, src0, src1, aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);          \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
                                uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {     \
        aivops_emulator::binary<aivops_emulator::name##Operation, T>(                                                  \
            #name, dst, src0, src1, aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), repeatParams);          \
    }

#define AIVOPS_EMU_OPERATOR(symbol, name)                                                                              \
    template <typename T>                                                                                              \
    AIVOPS_EMU_INLINE aivops_emulator::BinaryExpression<aivops_emulator::name##Operation, T> operator symbol(          \
        const LocalTensor<T>& src0, const LocalTensor<T>& src1) {                                                      \
        return {#name, src0, src1};                                                                                    \
    }

namespace AscendC {

AIVOPS_EMU_BINARY(Add)
AIVOPS_EMU_BINARY(Sub)
AIVOPS_EMU_BINARY(Mul)
AIVOPS_EMU_BINARY(Div)
AIVOPS_EMU_BINARY(Max)
AIVOPS_EMU_BINARY(Min)
AIVOPS_EMU_BINARY(And)
AIVOPS_EMU_BINARY(Or)

AIVOPS_EMU_OPERATOR(+, Add)
AIVOPS_EMU_OPERATOR(-, Sub)
AIVOPS_EMU_OPERATOR(*, Mul)
AIVOPS_EMU_OPERATOR(/, Div)
AIVOPS_EMU_OPERATOR(&, And)
AIVOPS_EMU_OPERATOR(|, Or)

} // namespace AscendC

#undef AIVOPS_EMU_BINARY
#undef AIVOPS_EMU_OPERATOR

#endif
