// Instructions of the vector pipe: parameters hold offsets in the unified buffer, so that the machine may run them
// late.
#ifndef AIVOPS_EMULATOR_VECTOR_H
#define AIVOPS_EMULATOR_VECTOR_H
#pragma GCC system_header

#include "../basic_api/kernel_tensor.h"

namespace aivops_emulator {

template <typename T>
AIVOPS_EMU_INLINE T ub_load(const uint8_t* ub, uint32_t offset, uint32_t index) {
    T value;
    __builtin_memcpy(&value, ub + offset + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
}

template <typename T>
AIVOPS_EMU_INLINE void ub_store(uint8_t* ub, uint32_t offset, uint32_t index, T value) {
    __builtin_memcpy(ub + offset + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
}

AIVOPS_EMU_INLINE AivEmuRange range(uint32_t offset, uint64_t bytes, bool write) {
    AivEmuRange result{};
    result.ub = offset;
    result.bytes = static_cast<uint32_t>(bytes);
    result.write = write;
    result.align = 32;
    return result;
}

// Issues one instruction of the vector pipe; `parameters` are copied.
template <typename Parameters, unsigned Count>
AIVOPS_EMU_INLINE void issue_vector(const char* name, void (*execute)(uint8_t*, const void*),
                                    const Parameters& parameters, const AivEmuRange (&ranges)[Count]) {
    static_assert(sizeof(Parameters) <= 256, "the machine copies at most 256 bytes");
    AivEmuCompute compute{};
    compute.name = name;
    compute.pipe = AIVOPS_EMU_PIPE_V;
    compute.range_count = Count;
    compute.parameter_bytes = sizeof(Parameters);
    compute.ranges = ranges;
    compute.execute = execute;
    compute.parameters = &parameters;
    table()->compute(block(), &compute);
}

// Vector arithmetic is done in float for the narrow floats; integers wrap.
template <typename T>
struct Arithmetic {
    using Type = T;
};
template <>
struct Arithmetic<half> {
    using Type = float;
};
template <>
struct Arithmetic<bfloat16_t> {
    using Type = float;
};
template <>
struct Arithmetic<int8_t> {
    using Type = uint32_t;
};
template <>
struct Arithmetic<int16_t> {
    using Type = uint32_t;
};
template <>
struct Arithmetic<uint8_t> {
    using Type = uint32_t;
};
template <>
struct Arithmetic<uint16_t> {
    using Type = uint32_t;
};
template <>
struct Arithmetic<int32_t> {
    using Type = uint32_t;
};
template <>
struct Arithmetic<int64_t> {
    using Type = uint64_t;
};

} // namespace aivops_emulator

#endif
