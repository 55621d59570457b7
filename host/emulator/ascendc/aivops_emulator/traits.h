// The few type traits the headers need. The standard's own headers cost more than everything else in a kernel's
// compile.
#ifndef AIVOPS_EMULATOR_TRAITS_H
#define AIVOPS_EMULATOR_TRAITS_H
#pragma GCC system_header

namespace aivops_emulator {

template <typename A, typename B>
constexpr bool kIsSame = false;
template <typename A>
constexpr bool kIsSame<A, A> = true;

template <typename T, typename... Candidates>
constexpr bool kIsAnyOf = (kIsSame<T, Candidates> || ...);

template <bool Condition, typename T = void>
struct EnableIf {};
template <typename T>
struct EnableIf<true, T> {
    using Type = T;
};
template <bool Condition, typename T = void>
using EnableIfType = typename EnableIf<Condition, T>::Type;

template <bool Condition, typename A, typename B>
struct Conditional {
    using Type = A;
};
template <typename A, typename B>
struct Conditional<false, A, B> {
    using Type = B;
};
template <bool Condition, typename A, typename B>
using ConditionalType = typename Conditional<Condition, A, B>::Type;

template <typename T>
struct RemoveConst {
    using Type = T;
};
template <typename T>
struct RemoveConst<const T> {
    using Type = T;
};
template <typename T>
struct RemoveConst<volatile T> {
    using Type = T;
};
template <typename T>
struct RemoveConst<const volatile T> {
    using Type = T;
};
template <typename T>
using RemoveConstType = typename RemoveConst<T>::Type;

template <typename T>
constexpr bool kIsInteger = kIsAnyOf<RemoveConstType<T>, bool, char, signed char, unsigned char, short, unsigned short,
                                     int, unsigned, long, unsigned long, long long, unsigned long long>;

template <typename T>
constexpr bool kIsFloating = kIsAnyOf<RemoveConstType<T>, float, double, long double>;

template <typename T>
constexpr bool kIsArithmetic = kIsInteger<T> || kIsFloating<T>;

} // namespace aivops_emulator

#endif
