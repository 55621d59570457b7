// Rounds a number to the 16-bit floating types of the device, to nearest, ties to even, in one step.
#ifndef AIVOPS_DISPATCH_NARROW_FLOAT_H
#define AIVOPS_DISPATCH_NARROW_FLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace aivops::detail {

/// A float with `fraction_bits` bits of fraction and the exponent range of IEEE with `exponent_bits` bits.
inline std::uint16_t narrow_bits(double value, int exponent_bits, int fraction_bits) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>(sign | infinity | 1 << (fraction_bits - 1));
    }
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) {
        return static_cast<std::uint16_t>(sign | infinity);
    }
    if (magnitude == 0) {
        return sign;
    }
    int exponent = std::ilogb(magnitude);
    if (exponent < 1 - bias) {
        exponent = 1 - bias; // subnormal: the spacing stays
    }
    // In units of the last place. nearbyint rounds ties to even; a carry walks into the exponent by itself.
    const double scaled = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
    const auto units = static_cast<std::uint64_t>(scaled);
    const std::uint64_t bits =
        (static_cast<std::uint64_t>(exponent + bias - 1) << fraction_bits) + units; // the implied one adds an exponent
    return static_cast<std::uint16_t>(sign | (bits >= infinity ? infinity : bits));
}

inline std::uint16_t half_bits(double value) {
    return narrow_bits(value, 5, 10);
}

inline std::uint16_t bfloat16_bits(double value) {
    return narrow_bits(value, 8, 7);
}

} // namespace aivops::detail

#endif // AIVOPS_DISPATCH_NARROW_FLOAT_H
