// half, bfloat16_t and the 8-bit floats as value types: the device's bits, implicit conversions both ways, arithmetic
// in float with one rounding per operation. They live in the global scope, because kernels paste their names into
// others.
#ifndef AIVOPS_EMULATOR_FLOAT_TYPES_H
#define AIVOPS_EMULATOR_FLOAT_TYPES_H
#pragma GCC system_header

#include "contract.h"
#include "float_format.h"
#include "traits.h"

namespace aivops_emulator {

template <typename Derived, typename FormatType, typename BitsType>
struct NarrowFloat {
    using Format = FormatType;
    using Bits = BitsType;

    Bits bits;

    NarrowFloat() = default;
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    constexpr NarrowFloat(T value) : bits(static_cast<Bits>(Format::encode(double_for_rounding(value)))) {}

    constexpr operator float() const { return Format::decode(bits); }

    static constexpr Derived from_bits(Bits bits) {
        Derived value{};
        value.bits = bits;
        return value;
    }

    constexpr Derived& operator+=(float other) { return assign(*this + other); }
    constexpr Derived& operator-=(float other) { return assign(*this - other); }
    constexpr Derived& operator*=(float other) { return assign(*this * other); }
    constexpr Derived& operator/=(float other) { return assign(*this / other); }
    constexpr Derived& operator++() { return *this += 1.0f; }
    constexpr Derived& operator--() { return *this -= 1.0f; }

  private:
    constexpr Derived& assign(float value) {
        bits = static_cast<Bits>(Format::encode(value));
        return static_cast<Derived&>(*this);
    }
};

} // namespace aivops_emulator

struct half : aivops_emulator::NarrowFloat<half, aivops_emulator::HalfFormat, uint16_t> {
    static constexpr AivEmuParameterKind kParameterKind = AIVOPS_EMU_PARAMETER_HALF;
    using NarrowFloat::NarrowFloat;
    half() = default;
};

struct bfloat16_t : aivops_emulator::NarrowFloat<bfloat16_t, aivops_emulator::Bfloat16Format, uint16_t> {
    static constexpr AivEmuParameterKind kParameterKind = AIVOPS_EMU_PARAMETER_BFLOAT16;
    using NarrowFloat::NarrowFloat;
    bfloat16_t() = default;
};

struct fp8_e4m3fn_t : aivops_emulator::NarrowFloat<fp8_e4m3fn_t, aivops_emulator::Float8E4m3fnFormat, uint8_t> {
    using NarrowFloat::NarrowFloat;
    fp8_e4m3fn_t() = default;
};

struct fp8_e5m2_t : aivops_emulator::NarrowFloat<fp8_e5m2_t, aivops_emulator::Float8E5m2Format, uint8_t> {
    using NarrowFloat::NarrowFloat;
    fp8_e5m2_t() = default;
};

struct fp8_e8m0_t : aivops_emulator::NarrowFloat<fp8_e8m0_t, aivops_emulator::Float8E8m0Format, uint8_t> {
    using NarrowFloat::NarrowFloat;
    fp8_e8m0_t() = default;
};

// Bytes only: collectives move it, and no arithmetic on it is emulated.
struct hifloat8_t {
    uint8_t bits;

    hifloat8_t() = default;
    constexpr explicit hifloat8_t(uint8_t value) : bits(value) {}
    constexpr hifloat8_t(int zero) : bits(static_cast<uint8_t>(zero)) {} // paddingValue = 0
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "two bytes as on the device");
static_assert(sizeof(fp8_e4m3fn_t) == 1 && sizeof(fp8_e5m2_t) == 1 && sizeof(fp8_e8m0_t) == 1 &&
                  sizeof(hifloat8_t) == 1,
              "one byte as on the device");

#endif
