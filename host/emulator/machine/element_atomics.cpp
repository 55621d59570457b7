#include "element_atomics.h"

#include "contract/contract.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace aivops::machine {
namespace {

// Storage formats that a host type does not stand for: how to widen to float, and to round to nearest even.
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
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right)));
    } else {
        return left + right;
    }
}

template <typename Format>
typename Format::Bits combine(typename Format::Bits now, typename Format::Bits operand, uint32_t atomic) {
    auto left = Format::widen(now);
    auto right = Format::widen(operand);
    switch (atomic) {
    case AIVOPS_EMU_ATOMIC_ADD:
        return Format::narrow(wrapping_add(left, right));
    case AIVOPS_EMU_ATOMIC_MAX:
        return Format::narrow(std::max(left, right));
    case AIVOPS_EMU_ATOMIC_MIN:
        return Format::narrow(std::min(left, right));
    default:
        return operand;
    }
}

template <typename Format>
struct Element {
    using Bits = typename Format::Bits;

    static bool apply(void* at, const void* operand_at, const void* compare_at, void* before_at, uint32_t atomic) {
        std::atomic_ref<Bits> element(*static_cast<Bits*>(at));
        Bits operand;
        std::memcpy(&operand, operand_at, sizeof operand);
        Bits before = element.load(std::memory_order_acquire);
        bool written = true;
        if (atomic == AIVOPS_EMU_ATOMIC_COMPARE_EXCHANGE) {
            std::memcpy(&before, compare_at, sizeof before);
            written = element.compare_exchange_strong(before, operand, std::memory_order_acq_rel);
        } else {
            while (!element.compare_exchange_weak(before, combine<Format>(before, operand, atomic),
                                                  std::memory_order_acq_rel)) {
            }
        }
        if (before_at != nullptr) {
            std::memcpy(before_at, &before, sizeof before);
        }
        return written;
    }
};

template <typename Visitor>
auto with_element(uint32_t type, Visitor visitor) {
    switch (type) {
    case AIVOPS_EMU_TYPE_FLOAT:
        return visitor(Element<Native<float>>{});
    case AIVOPS_EMU_TYPE_HALF:
        return visitor(Element<Half>{});
    case AIVOPS_EMU_TYPE_BFLOAT16:
        return visitor(Element<Bfloat16>{});
    case AIVOPS_EMU_TYPE_INT8:
        return visitor(Element<Native<int8_t>>{});
    case AIVOPS_EMU_TYPE_INT16:
        return visitor(Element<Native<int16_t>>{});
    case AIVOPS_EMU_TYPE_INT32:
        return visitor(Element<Native<int32_t>>{});
    case AIVOPS_EMU_TYPE_UINT32:
        return visitor(Element<Native<uint32_t>>{});
    case AIVOPS_EMU_TYPE_INT64:
        return visitor(Element<Native<int64_t>>{});
    default:
        return visitor(Element<Native<uint64_t>>{});
    }
}

} // namespace

uint32_t element_bytes(uint32_t type) {
    if (type == AIVOPS_EMU_TYPE_NONE || type > AIVOPS_EMU_TYPE_UINT64) {
        return 0;
    }
    return with_element(type,
                        [](auto element) { return static_cast<uint32_t>(sizeof(typename decltype(element)::Bits)); });
}

void apply_atomic_elements(void* to, const uint8_t* from, uint64_t bytes, uint32_t atomic, uint32_t type) {
    with_element(type, [=](auto element) {
        using Bits = typename decltype(element)::Bits;
        for (uint64_t at = 0; at + sizeof(Bits) <= bytes; at += sizeof(Bits)) {
            element.apply(static_cast<uint8_t*>(to) + at, from + at, nullptr, nullptr, atomic);
        }
    });
}

bool apply_atomic(void* at, const void* operand, const void* compare, void* before, uint32_t atomic, uint32_t type) {
    return with_element(type, [=](auto element) { return element.apply(at, operand, compare, before, atomic); });
}

} // namespace aivops::machine
