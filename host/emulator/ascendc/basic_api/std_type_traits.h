// AscendC::Std: the standard's type traits under the name kernels know them by.
#ifndef AIVOPS_ASCENDC_STD_TYPE_TRAITS_H
#define AIVOPS_ASCENDC_STD_TYPE_TRAITS_H
#pragma GCC system_header

#include "../aivops_emulator/traits.h"

namespace AscendC {
namespace Std {

template <typename T, T Value>
struct integral_constant {
    static constexpr T value = Value;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return Value; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <typename A, typename B>
struct is_same : integral_constant<bool, aivops_emulator::kIsSame<A, B>> {};
template <typename A, typename B>
constexpr bool is_same_v = is_same<A, B>::value;

template <bool Condition, typename A, typename B>
struct conditional {
    using type = aivops_emulator::ConditionalType<Condition, A, B>;
};
template <bool Condition, typename A, typename B>
using conditional_t = typename conditional<Condition, A, B>::type;

template <bool Condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
    using type = T;
};
template <bool Condition, typename T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

} // namespace Std
} // namespace AscendC

#endif
