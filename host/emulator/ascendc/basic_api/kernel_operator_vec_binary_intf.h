// Element-wise instructions with two tensors.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_BINARY_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/vector.h"

namespace aivops_emulator {

template <typename T>
using ArithmeticType = typename Arithmetic<T>::Type;

struct AddOperation {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(ArithmeticType<T>(a) + ArithmeticType<T>(b));
    }
};

struct SubOperation {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(ArithmeticType<T>(a) - ArithmeticType<T>(b));
    }
};

struct MulOperation {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(ArithmeticType<T>(a) * ArithmeticType<T>(b));
    }
};

struct MaxOperation {
    template <typename T>
    static T apply(T a, T b) {
        return a < b ? b : a;
    }
};

struct MinOperation {
    template <typename T>
    static T apply(T a, T b) {
        return b < a ? b : a;
    }
};

struct BinaryParameters {
    uint32_t destination;
    uint32_t first;
    uint32_t second;
    uint32_t count;
};

template <typename Operation, typename T>
void execute_binary(uint8_t* ub, const void* parameters) {
    const BinaryParameters p = *static_cast<const BinaryParameters*>(parameters);
    for (uint32_t i = 0; i < p.count; ++i)
        ub_store<T>(ub, p.destination, i, Operation::apply(ub_load<T>(ub, p.first, i), ub_load<T>(ub, p.second, i)));
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void binary(const char* name, const AscendC::LocalTensor<T>& destination,
                              const AscendC::LocalTensor<T>& first, const AscendC::LocalTensor<T>& second,
                              int32_t count) {
    static_assert(kIsAnyOf<T, int16_t, half, int32_t, float> ||
                      (kIsC310 && kIsAnyOf<T, int8_t, uint8_t, uint16_t, uint32_t, uint64_t, int64_t, bfloat16_t>),
                  "vector arithmetic: dav-c220-vec has int16_t, half, int32_t and float; dav-c310-vec also int8_t, "
                  "uint8_t, uint16_t, uint32_t, int64_t, uint64_t and bfloat16_t");
    const BinaryParameters parameters{destination.address_.bufferAddr, first.address_.bufferAddr,
                                      second.address_.bufferAddr, static_cast<uint32_t>(count)};
    const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
    const AivEmuRange ranges[] = {range(parameters.first, bytes, false), range(parameters.second, bytes, false),
                                  range(parameters.destination, bytes, true)};
    issue_vector(name, &execute_binary<Operation, T>, parameters, ranges);
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE void Add(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           const int32_t& count) {
    aivops_emulator::binary<aivops_emulator::AddOperation>("Add", dst, src0, src1, count);
}

template <typename T>
AIVOPS_EMU_INLINE void Sub(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           const int32_t& count) {
    aivops_emulator::binary<aivops_emulator::SubOperation>("Sub", dst, src0, src1, count);
}

template <typename T>
AIVOPS_EMU_INLINE void Mul(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           const int32_t& count) {
    aivops_emulator::binary<aivops_emulator::MulOperation>("Mul", dst, src0, src1, count);
}

template <typename T>
AIVOPS_EMU_INLINE void Max(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           const int32_t& count) {
    aivops_emulator::binary<aivops_emulator::MaxOperation>("Max", dst, src0, src1, count);
}

template <typename T>
AIVOPS_EMU_INLINE void Min(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           const int32_t& count) {
    aivops_emulator::binary<aivops_emulator::MinOperation>("Min", dst, src0, src1, count);
}

} // namespace AscendC

#endif
