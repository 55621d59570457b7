// The element types that collectives move, each with its width in bytes, and the integer that stands for a width.
// Moving data asks for the width only, so an entry per type is a name, even for types that an architecture lacks.
#ifndef AIVOPS_TYPES_H
#define AIVOPS_TYPES_H

#include <stdint.h>

// Calls `entry(type, width)` for every type. The names become part of kernel names.
#define AIVOPS_FOR_EACH_TYPE(entry)                                                                                    \
    entry(half, 2) entry(bfloat16_t, 2) entry(float, 4) entry(double, 8) entry(int8_t, 1) entry(int16_t, 2)            \
        entry(int32_t, 4) entry(int64_t, 8) entry(uint8_t, 1) entry(uint16_t, 2) entry(uint32_t, 4) entry(uint64_t, 8) \
            entry(fp8_e4m3fn_t, 1) entry(fp8_e5m2_t, 1) entry(fp8_e8m0_t, 1) entry(hifloat8_t, 1)

// Calls `entry(type)` for every type that reductions take.
#define AIVOPS_FOR_EACH_REDUCIBLE_TYPE(entry)                                                                          \
    entry(half) entry(bfloat16_t) entry(float) entry(int8_t) entry(int16_t) entry(int32_t) entry(int64_t)

namespace aivops {

template <unsigned Width>
struct UnitOfWidth;
template <>
struct UnitOfWidth<1> {
    using Type = uint8_t;
};
template <>
struct UnitOfWidth<2> {
    using Type = uint16_t;
};
template <>
struct UnitOfWidth<4> {
    using Type = uint32_t;
};
template <>
struct UnitOfWidth<8> {
    using Type = uint64_t;
};

// What is copied in place of an element of `Width` bytes.
template <unsigned Width>
using Unit = typename UnitOfWidth<Width>::Type;

} // namespace aivops

#endif // AIVOPS_TYPES_H
