// Narrow floating-point formats: decoding, and encoding with one rounding from the exact value.
#ifndef AIVOPS_EMULATOR_FLOAT_FORMAT_H
#define AIVOPS_EMULATOR_FLOAT_FORMAT_H
#pragma GCC system_header

#include "rounding.h"

namespace aivops_emulator {

enum class Specials {
    ieee,    // the highest exponent means infinity and NaN
    nan_only // all ones is NaN; the rest of the highest exponent are numbers
};

template <int ExponentBits, int MantissaBits, Specials Kind>
struct FloatFormat {
    static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
    static constexpr uint32_t kMantissaMask = (1u << MantissaBits) - 1;
    static constexpr uint32_t kExponentMask = (1u << ExponentBits) - 1;
    static constexpr uint32_t kSign = 1u << (ExponentBits + MantissaBits);
    static constexpr uint32_t kInfinity = kExponentMask << MantissaBits; // ieee only
    static constexpr uint32_t kNan =
        Kind == Specials::ieee ? kInfinity | (1u << (MantissaBits - 1)) : kInfinity | kMantissaMask;
    static constexpr uint32_t kLargest = Kind == Specials::ieee ? kInfinity - 1 : kNan - 1;

    static constexpr float decode(uint32_t bits) {
        const uint32_t sign = (bits & kSign) != 0 ? 0x80000000u : 0;
        const uint32_t exponent = (bits >> MantissaBits) & kExponentMask;
        const uint32_t mantissa = bits & kMantissaMask;
        const uint32_t magnitude = bits & (kSign - 1);
        if (Kind == Specials::ieee ? exponent == kExponentMask : magnitude == kNan) {
            const bool infinite = Kind == Specials::ieee && mantissa == 0;
            const uint32_t payload = infinite ? 0 : 0x00400000u | mantissa << (23 - MantissaBits);
            return __builtin_bit_cast(float, sign | 0x7F800000u | payload);
        }
        if constexpr (ExponentBits == 8) {
            return __builtin_bit_cast(float, sign | magnitude << (23 - MantissaBits)); // bfloat16 is half a float
        } else {
            if (exponent != 0)
                return __builtin_bit_cast(float,
                                          sign | (exponent + 127 - kBias) << 23 | mantissa << (23 - MantissaBits));
            const float unit = __builtin_bit_cast(float, uint32_t(128 - kBias - MantissaBits) << 23);
            const float value = static_cast<float>(mantissa) * unit;
            return sign != 0 ? -value : value;
        }
    }

    // Beyond the largest number: infinity (NaN where the format has none), or the largest number when `saturate`.
    static constexpr uint32_t encode(double value, Rounding mode = Rounding::rint, bool saturate = false) {
        const uint64_t bits = __builtin_bit_cast(uint64_t, value);
        const bool negative = bits >> 63 != 0;
        const uint32_t sign = negative ? kSign : 0;
        const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
        const uint64_t mantissa = bits & 0xFFFFFFFFFFFFFull;
        if (exponent == 0x7FF) {
            if (mantissa != 0)
                return sign | kNan;
            return sign | overflow(negative, Rounding::rint, saturate);
        }
        if (exponent == 0)
            return sign | (mantissa != 0 ? static_cast<uint32_t>(round_shift(1, 64, negative, mode)) : 0);
        const uint64_t significand = mantissa | 1ull << 52;
        const int target = exponent - 1023 + kBias; // biased exponent in this format
        const int shift = 52 - MantissaBits + (target < 1 ? 1 - target : 0);
        const uint64_t rounded = round_shift(significand, shift, negative, mode);
        // The implicit bit carries into the exponent by itself, in both directions.
        const uint64_t base = target < 1 ? 0 : static_cast<uint64_t>(target - 1) << MantissaBits;
        const uint64_t magnitude = base + rounded;
        if (magnitude > kLargest)
            return sign | overflow(negative, mode, saturate);
        return sign | static_cast<uint32_t>(magnitude);
    }

  private:
    static constexpr uint32_t overflow(bool negative, Rounding mode, bool saturate) {
        const bool towards_zero = mode == Rounding::trunc || mode == Rounding::odd ||
                                  (mode == Rounding::floor && !negative) || (mode == Rounding::ceil && negative);
        if (saturate || towards_zero)
            return kLargest;
        return Kind == Specials::ieee ? kInfinity : kNan;
    }
};

using HalfFormat = FloatFormat<5, 10, Specials::ieee>;
using Bfloat16Format = FloatFormat<8, 7, Specials::ieee>;
using Float8E4m3fnFormat = FloatFormat<4, 3, Specials::nan_only>;
using Float8E5m2Format = FloatFormat<5, 2, Specials::ieee>;

// An exponent and nothing else: 2^(bits - 127); 0xFF is NaN. There is no zero, no sign and no infinity.
struct Float8E8m0Format {
    static constexpr uint32_t kNan = 0xFF;

    static constexpr float decode(uint32_t bits) {
        if (bits == kNan)
            return __builtin_bit_cast(float, 0x7FC00000u);
        return __builtin_bit_cast(float, bits == 0 ? 0x00400000u : bits << 23);
    }

    static constexpr uint32_t encode(double value, Rounding mode = Rounding::rint, bool saturate = false) {
        const uint64_t bits = __builtin_bit_cast(uint64_t, value);
        const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
        if (bits >> 63 != 0 || exponent == 0x7FF || exponent == 0)
            return kNan;
        // Powers of two only: what rounds up goes to the next one.
        const uint64_t up = round_shift((bits & 0xFFFFFFFFFFFFFull) | 1ull << 52, 52, false, mode) - 1;
        const int target = exponent - 1023 + 127 + static_cast<int>(up);
        if (target < 0)
            return saturate ? 0 : kNan;
        return target < 0xFF ? static_cast<uint32_t>(target) : saturate ? 0xFE : kNan;
    }
};

// A 64-bit integer as a double that rounds to any narrower format like the integer itself: what does not fit leaves its
// last bit odd, so that a second rounding cannot see a tie that was none.
constexpr double double_for_rounding(uint64_t magnitude, bool negative) {
    if (magnitude >> 53 != 0) {
        const int shift = 11 - __builtin_clzll(magnitude);
        magnitude = round_shift(magnitude, shift, negative, Rounding::odd) << shift;
    }
    const double value = static_cast<double>(magnitude);
    return negative ? -value : value;
}

template <typename T>
constexpr double double_for_rounding(T value) {
    if constexpr (T(0.5) == T(0)) { // an integer
        const bool negative = value < T(0);
        const uint64_t magnitude = static_cast<uint64_t>(value);
        return double_for_rounding(negative ? 0 - magnitude : magnitude, negative);
    } else {
        return static_cast<double>(value);
    }
}

} // namespace aivops_emulator

#endif
