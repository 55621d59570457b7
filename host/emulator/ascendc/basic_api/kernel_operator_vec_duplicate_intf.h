// Duplicate: fills a tensor with one value.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_DUPLICATE_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_DUPLICATE_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/vector.h"

namespace aivops_emulator {

template <typename T>
struct DuplicateParameters {
    uint32_t destination;
    uint32_t count;
    T value;
};

template <typename T>
void execute_duplicate(uint8_t* ub, const void* parameters) {
    const DuplicateParameters<T> p = *static_cast<const DuplicateParameters<T>*>(parameters);
    for (uint32_t i = 0; i < p.count; ++i)
        ub_store<T>(ub, p.destination, i, p.value);
}

} // namespace aivops_emulator

namespace AscendC {

template <typename T>
AIVOPS_EMU_INLINE void Duplicate(const LocalTensor<T>& dst, const T& value, const int32_t& count) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || aivops_emulator::kIsC310,
                  "Duplicate: dav-c220-vec has 16-bit and 32-bit types; dav-c310-vec also 8-bit and 64-bit ones");
    const aivops_emulator::DuplicateParameters<T> parameters{dst.address_.bufferAddr, static_cast<uint32_t>(count),
                                                             value};
    const AivEmuRange ranges[] = {
        aivops_emulator::range(parameters.destination, static_cast<uint64_t>(count) * sizeof(T), true)};
    aivops_emulator::issue_vector("Duplicate", &aivops_emulator::execute_duplicate<T>, parameters, ranges);
}

} // namespace AscendC

#endif
