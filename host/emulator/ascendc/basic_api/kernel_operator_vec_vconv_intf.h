// Cast: conversion between element types.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_VCONV_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_VCONV_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/conversion.h"
#include "../aivops_emulator/elementwise.h"

namespace aivops_emulator {

template <typename To, typename From>
constexpr bool kHasCastC220 =
    (std::is_same_v<From, half> && kIsAnyOf<To, float, int32_t, int16_t, int8_t, uint8_t>) ||
    (std::is_same_v<From, float> && kIsAnyOf<To, float, half, bfloat16_t, int64_t, int32_t, int16_t>) ||
    (std::is_same_v<From, bfloat16_t> && kIsAnyOf<To, float, int32_t>) ||
    (kIsAnyOf<From, int8_t, uint8_t> && std::is_same_v<To, half>) ||
    (std::is_same_v<From, int16_t> && kIsAnyOf<To, half, float>) ||
    (std::is_same_v<From, int32_t> && kIsAnyOf<To, float, int16_t, int64_t>) ||
    (std::is_same_v<From, int64_t> && kIsAnyOf<To, int32_t, float>);

template <typename T>
constexpr bool kIsCastTypeC310 =
    kIsNarrowFloat<T> || kIsAnyOf<T, float, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t>;

template <typename To, typename From>
constexpr bool kHasCast =
    kHasCastC220<To, From> || (kIsC310 && kIsCastTypeC310<To> && kIsCastTypeC310<From> && !std::is_same_v<To, From>);

struct CastParameters {
    Operand destination;
    Operand source;
    Lanes lanes;
    Rounding mode;
    bool saturate;
};

// The type that says how many lanes a repeat has.
template <typename To, typename From>
using WiderOf = std::conditional_t<(sizeof(To) > sizeof(From)), To, From>;
template <typename To, typename From>
constexpr uint32_t kCastLanes = kLanesPerRepeat<WiderOf<To, From>>;

template <typename To, typename From>
void execute_cast(uint8_t* ub, const void* parameters) {
    const CastParameters p = *static_cast<const CastParameters*>(parameters);
    for_each_lane(p.lanes, kCastLanes<To, From>, [&](auto position) {
        const From value = ub_load<From>(ub, position.template of<From>(p.source));
        ub_store<To>(ub, position.template of<To>(p.destination), convert<To>(value, p.mode, p.saturate));
    });
}

template <typename To, typename From>
AIVOPS_EMU_INLINE void cast(const Operand& destination, const Operand& source, const Lanes& lanes,
                            AscendC::RoundMode mode) {
    static_assert(
        kHasCast<To, From>,
        "Cast: this architecture lacks the conversion between these types; share/doc/aivops/ascendc.md in the toolkit "
        "lists them");
    if (mode == AscendC::RoundMode::CAST_HYBRID)
        fault(AIVOPS_EMU_ASSERT, "Cast: CAST_HYBRID is for hifloat8_t only");
    Ranges ranges;
    ranges.add(source, lanes, sizeof(From), kCastLanes<To, From>, false);
    ranges.add(destination, lanes, sizeof(To), kCastLanes<To, From>, true);
    issue_vector("Cast", &execute_cast<To, From>,
                 CastParameters{destination, source, lanes, static_cast<Rounding>(mode), saturates<To>()}, ranges);
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T, typename U>
AIVOPS_EMU_INLINE void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                            const uint32_t count) {
    aivops_emulator::cast<T, U>(aivops_emulator::operand(dst), aivops_emulator::operand(src),
                                aivops_emulator::row(count), roundMode);
}

template <typename T, typename U, bool isSetMask = true>
AIVOPS_EMU_INLINE void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                            const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
    aivops_emulator::cast<T, U>(aivops_emulator::operand(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride),
                                aivops_emulator::operand(src, repeatParams.srcBlkStride, repeatParams.srcRepStride),
                                aivops_emulator::lanes_of<aivops_emulator::WiderOf<T, U>, isSetMask>(mask, repeatTime),
                                roundMode);
}

template <typename T, typename U, bool isSetMask = true>
AIVOPS_EMU_INLINE void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                            const uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
    aivops_emulator::cast<T, U>(aivops_emulator::operand(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride),
                                aivops_emulator::operand(src, repeatParams.srcBlkStride, repeatParams.srcRepStride),
                                aivops_emulator::lanes_of<aivops_emulator::WiderOf<T, U>, isSetMask>(mask, repeatTime),
                                roundMode);
}

} // namespace AscendC

#endif
