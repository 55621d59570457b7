#include "element_atomics.h"

#include "contract/contract.h"
#include "storage_formats.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace aivops::machine {
namespace {

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

struct SaturatingHalf : Half {
    static Bits narrow(float value) {
        constexpr float kLargest = 65504;
        return std::isnan(value) ? Bits{0} : Half::narrow(std::clamp(value, -kLargest, kLargest));
    }
};

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

void apply_atomic_elements(void* to, const uint8_t* from, uint64_t bytes, uint32_t atomic, uint32_t type,
                           bool saturate) {
    auto apply = [=](auto element) {
        using Bits = typename decltype(element)::Bits;
        for (uint64_t at = 0; at + sizeof(Bits) <= bytes; at += sizeof(Bits)) {
            element.apply(static_cast<uint8_t*>(to) + at, from + at, nullptr, nullptr, atomic);
        }
    };
    if (saturate && type == AIVOPS_EMU_TYPE_HALF) {
        apply(Element<SaturatingHalf>{});
    } else {
        with_element(type, apply);
    }
}

bool apply_atomic(void* at, const void* operand, const void* compare, void* before, uint32_t atomic, uint32_t type) {
    return with_element(type, [=](auto element) { return element.apply(at, operand, compare, before, atomic); });
}

} // namespace aivops::machine
