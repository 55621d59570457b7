// One element from one type to another, in every rounding mode of Cast.
#ifndef AIVOPS_EMULATOR_CONVERSION_H
#define AIVOPS_EMULATOR_CONVERSION_H
#pragma GCC system_header

#include "float_types.h"

namespace aivops_emulator {

using FloatNumbers = FloatFormat<8, 23, Specials::ieee>;

template <typename T>
constexpr bool kIsNarrowFloat = kIsAnyOf<T, half, bfloat16_t, fp8_e4m3fn_t, fp8_e5m2_t, fp8_e8m0_t>;

template <typename T>
struct IntegerLimits {
    static constexpr bool kSigned = T(-1) < T(0);
    static constexpr uint64_t kLargest = ~uint64_t(0) >> (64 - 8 * sizeof(T) + (kSigned ? 1 : 0));
    static constexpr uint64_t kSmallestMagnitude = kSigned ? kLargest + 1 : 0; // of the most negative number
};

// The integer nearest to a magnitude and a sign, at most as far as the type goes.
template <typename T>
constexpr T saturated(uint64_t magnitude, bool negative) {
    using Limits = IntegerLimits<T>;
    if (negative)
        return static_cast<T>(0 - (magnitude < Limits::kSmallestMagnitude ? magnitude : Limits::kSmallestMagnitude));
    return static_cast<T>(magnitude < Limits::kLargest ? magnitude : Limits::kLargest);
}

template <typename T>
constexpr T to_integer(double value, Rounding mode) {
    const uint64_t bits = __builtin_bit_cast(uint64_t, value);
    const bool negative = bits >> 63 != 0;
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    if (value != value)
        return T(0);
    if (exponent >= 64)
        return saturated<T>(~uint64_t(0), negative);
    if (value == 0)
        return T(0);
    const uint64_t significand = (bits & 0xFFFFFFFFFFFFFull) | 1ull << 52;
    return saturated<T>(round_shift(significand, 52 - exponent, negative, mode), negative);
}

// A float rounded to a whole number, which stays a float.
constexpr float to_whole(float value, Rounding mode) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127;
    if (exponent >= 23 || value == 0)
        return value;
    const uint64_t significand = (bits & 0x7FFFFFu) | 1u << 23;
    const bool negative = bits >> 31 != 0;
    const float whole = static_cast<float>(round_shift(significand, 23 - exponent, negative, mode));
    return negative ? -whole : whole;
}

template <typename To, typename From>
constexpr To convert(From from, Rounding mode, bool saturate) {
    if constexpr (kIsNarrowFloat<From> && std::is_floating_point_v<To>) {
        return static_cast<float>(from); // exact
    } else if constexpr (kIsNarrowFloat<From>) {
        return convert<To>(static_cast<float>(from), mode, saturate);
    } else if constexpr (kIsNarrowFloat<To>) {
        if (saturate && from != from)
            return To::from_bits(0);
        return To::from_bits(
            static_cast<typename To::Bits>(To::Format::encode(double_for_rounding(from), mode, saturate)));
    } else if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
        return to_whole(from, mode);
    } else if constexpr (std::is_floating_point_v<From>) {
        return to_integer<To>(from, mode);
    } else if constexpr (std::is_floating_point_v<To>) {
        return __builtin_bit_cast(float, FloatNumbers::encode(double_for_rounding(from), mode));
    } else {
        const bool negative = from < From(0);
        const uint64_t magnitude = static_cast<uint64_t>(from);
        return saturated<To>(negative ? 0 - magnitude : magnitude, negative);
    }
}

} // namespace aivops_emulator

#endif
