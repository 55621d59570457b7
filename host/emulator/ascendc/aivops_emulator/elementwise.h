// Element-wise vector instructions with up to two tensors and a scalar; an operation is a type with a static `apply`.
#ifndef AIVOPS_EMULATOR_ELEMENTWISE_H
#define AIVOPS_EMULATOR_ELEMENTWISE_H
#pragma GCC system_header

#include "vector.h"

namespace aivops_emulator {

// ---- Types an architecture has ----

template <typename T>
constexpr bool kIsBaseType = kIsAnyOf<T, int16_t, half, int32_t, float>;
template <typename T>
constexpr bool kIsWideType = kIsBaseType<T> || kIsAnyOf<T, uint16_t, uint32_t, int64_t, uint64_t, bfloat16_t>;
template <typename T>
constexpr bool kIsByte = kIsAnyOf<T, int8_t, uint8_t>;

// Repeats exist for elements of 16 and 32 bits.
template <typename T>
constexpr bool kHasRepeats = sizeof(T) == 2 || sizeof(T) == 4;

// ---- Two tensors ----

struct BinaryParameters {
    Operand destination;
    Operand first;
    Operand second;
    Lanes lanes;
    bool saturate;
};

// A row is taken in groups by value: what the compiler knows to be apart it computes with its own vector unit.
constexpr uint32_t kGroup = 32;

template <typename Operation, typename T>
void execute_binary(uint8_t* ub, const void* parameters) {
    BinaryParameters p = *static_cast<const BinaryParameters*>(parameters);
    for (; p.lanes.repeats == 0 && p.lanes.count >= kGroup; p.lanes.count -= kGroup) {
        T first[kGroup];
        T second[kGroup];
        T result[kGroup];
        __builtin_memcpy(first, ub + p.first.offset, sizeof(first));
        __builtin_memcpy(second, ub + p.second.offset, sizeof(second));
        for (uint32_t i = 0; i < kGroup; ++i)
            result[i] = narrow<T>(Operation::template apply<Wide<T>>(first[i], second[i]), p.saturate);
        __builtin_memcpy(ub + p.destination.offset, result, sizeof(result));
        p.first.offset += sizeof(first);
        p.second.offset += sizeof(second);
        p.destination.offset += sizeof(result);
    }
    for_each_lane(p.lanes, kLanesPerRepeat<T>, [&](auto position) {
        const Wide<T> first = ub_load<T>(ub, position.template of<T>(p.first));
        const Wide<T> second = ub_load<T>(ub, position.template of<T>(p.second));
        ub_store<T>(ub, position.template of<T>(p.destination),
                    narrow<T>(Operation::template apply<Wide<T>>(first, second), p.saturate));
    });
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void issue_binary(const char* name, const BinaryParameters& parameters) {
    static_assert(Operation::template kHas<T>, "this architecture's vector unit lacks the instruction for this type; "
                                               "share/doc/aivops/ascendc.md in the toolkit lists the types");
    Ranges ranges;
    ranges.add(parameters.first, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.add(parameters.second, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.add(parameters.destination, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, true);
    issue_vector(name, &execute_binary<Operation, T>, parameters, ranges);
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void binary(const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                              const AscendC::LocalTensor<T>& src1, int32_t count) {
    issue_binary<Operation, T>(name, {operand(dst), operand(src0), operand(src1), row(count), saturates<T>()});
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void binary(const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
                              const AscendC::LocalTensor<T>& src1, const Lanes& lanes,
                              const AscendC::BinaryRepeatParams& repeat) {
    static_assert(kHasRepeats<T>, "8-bit and 64-bit elements: the form with a count only");
    issue_binary<Operation, T>(name,
                               {operand(dst, repeat.dstBlkStride, repeat.dstRepStride),
                                operand(src0, repeat.src0BlkStride, repeat.src0RepStride),
                                operand(src1, repeat.src1BlkStride, repeat.src1RepStride), lanes, saturates<T>()});
}

// ---- One tensor, and perhaps a scalar ----

template <typename T>
struct UnaryParameters {
    Operand destination;
    Operand source;
    Lanes lanes;
    T scalar;
    bool saturate;
};

template <typename Operation, typename T>
void execute_unary(uint8_t* ub, const void* parameters) {
    const UnaryParameters<T> p = *static_cast<const UnaryParameters<T>*>(parameters);
    const Wide<T> scalar = p.scalar;
    for_each_lane(p.lanes, kLanesPerRepeat<T>, [&](auto position) {
        const Wide<T> source = ub_load<T>(ub, position.template of<T>(p.source));
        ub_store<T>(ub, position.template of<T>(p.destination),
                    narrow<T>(Operation::template apply<Wide<T>>(source, scalar), p.saturate));
    });
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void issue_unary(const char* name, const UnaryParameters<T>& parameters) {
    static_assert(Operation::template kHas<T>, "this architecture's vector unit lacks the instruction for this type; "
                                               "share/doc/aivops/ascendc.md in the toolkit lists the types");
    Ranges ranges;
    ranges.add(parameters.source, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.add(parameters.destination, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, true);
    issue_vector(name, &execute_unary<Operation, T>, parameters, ranges);
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void unary(const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                             T scalar, int32_t count) {
    issue_unary<Operation, T>(name, {operand(dst), operand(src), row(count), scalar, saturates<T>()});
}

template <typename Operation, typename T>
AIVOPS_EMU_INLINE void unary(const char* name, const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                             T scalar, const Lanes& lanes, const AscendC::UnaryRepeatParams& repeat) {
    static_assert(kHasRepeats<T>, "8-bit and 64-bit elements: the form with a count only");
    issue_unary<Operation, T>(name,
                              {operand(dst, repeat.dstBlkStride, repeat.dstRepStride),
                               operand(src, repeat.srcBlkStride, repeat.srcRepStride), lanes, scalar, saturates<T>()});
}

} // namespace aivops_emulator

#endif
