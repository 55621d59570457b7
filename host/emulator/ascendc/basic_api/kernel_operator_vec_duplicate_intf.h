// Duplicate: fills a tensor with one value.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_DUPLICATE_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_DUPLICATE_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/elementwise.h"

namespace aivops_emulator {

template <typename T>
struct DuplicateParameters {
    Operand destination;
    Lanes lanes;
    T value;
};

template <typename T>
void execute_duplicate(uint8_t* ub, const void* parameters) {
    const DuplicateParameters<T> p = *static_cast<const DuplicateParameters<T>*>(parameters);
    for_each_lane(p.lanes, kLanesPerRepeat<T>,
                  [&](auto position) { ub_store<T>(ub, position.template of<T>(p.destination), p.value); });
}

template <typename T>
AIVOPS_EMU_INLINE void duplicate(const Operand& destination, const Lanes& lanes, const T& value) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || kIsC310,
                  "Duplicate: dav-c220-vec has 16-bit and 32-bit types; dav-c310-vec also 8-bit and 64-bit ones");
    Ranges ranges;
    ranges.add(destination, lanes, sizeof(T), kLanesPerRepeat<T>, true);
    issue_vector("Duplicate", &execute_duplicate<T>, DuplicateParameters<T>{destination, lanes, value}, ranges);
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count) {
    aivops_emulator::duplicate(aivops_emulator::operand(dst), aivops_emulator::row(count), scalarValue);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[],
                                 const uint8_t repeatTime, const uint16_t dstBlockStride,
                                 const uint8_t dstRepeatStride) {
    static_assert(aivops_emulator::kHasRepeats<T>, "8-bit and 64-bit elements: the form with a count only");
    aivops_emulator::duplicate(aivops_emulator::operand(dst, dstBlockStride, dstRepeatStride),
                               aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), scalarValue);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask,
                                 const uint8_t repeatTime, const uint16_t dstBlockStride,
                                 const uint8_t dstRepeatStride) {
    static_assert(aivops_emulator::kHasRepeats<T>, "8-bit and 64-bit elements: the form with a count only");
    aivops_emulator::duplicate(aivops_emulator::operand(dst, dstBlockStride, dstRepeatStride),
                               aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), scalarValue);
}

} // namespace AscendC

#endif
