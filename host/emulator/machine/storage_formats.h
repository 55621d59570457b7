// Element types as they are stored: how to widen them to what the host computes in, and to narrow the result.
// Half and bfloat16 are computed in float and rounded to nearest even; all others are what they are on the host.
#ifndef AIVOPS_MACHINE_STORAGE_FORMATS_H
#define AIVOPS_MACHINE_STORAGE_FORMATS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace aivops::machine {

struct Half {
    using Bits = uint16_t;

    static float widen(Bits bits) {
        const uint32_t sign = (bits & 0x8000u) << 16;
        const uint32_t exponent = bits >> 10 & 0x1f;
        const uint32_t fraction = bits & 0x3ff;
        if (exponent == 0) {
            const float tiny = std::ldexp(static_cast<float>(fraction), -24);
            return sign != 0 ? -tiny : tiny;
        }
        if (exponent == 31) {
            return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
        }
        return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    }

    static Bits narrow(float value) {
        const uint32_t bits = std::bit_cast<uint32_t>(value);
        const auto sign = static_cast<Bits>(bits >> 16 & 0x8000u);
        const float magnitude = std::fabs(value);
        if (std::isnan(value)) {
            return static_cast<Bits>(sign | 0x7e00);
        }
        if (magnitude >= 65520.0f) { // rounds beyond the largest finite value
            return static_cast<Bits>(sign | 0x7c00);
        }
        if (magnitude < 0x1p-14f) {
            return static_cast<Bits>(sign | static_cast<Bits>(std::nearbyint(std::ldexp(magnitude, 24))));
        }
        uint32_t rounded = (bits & 0x7fffffffu) + 0xfff + (bits >> 13 & 1);
        return static_cast<Bits>(sign | (rounded - (112u << 23)) >> 13);
    }
};

struct Bfloat16 {
    using Bits = uint16_t;

    static float widen(Bits bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

    static Bits narrow(float value) {
        const uint32_t bits = std::bit_cast<uint32_t>(value);
        if (std::isnan(value)) {
            return static_cast<Bits>(bits >> 16 | 0x40);
        }
        return static_cast<Bits>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
};

template <typename T>
struct Native {
    using Bits = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    static T widen(Bits bits) { return std::bit_cast<T>(bits); }
    static Bits narrow(T value) { return std::bit_cast<Bits>(value); }
};

template <typename T>
T wrapping_add(T left, T right) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
    } else {
        return left + right;
    }
}

template <typename T>
T wrapping_multiply(T left, T right) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(left) * static_cast<uint64_t>(right));
    } else {
        return left * right;
    }
}

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_STORAGE_FORMATS_H
