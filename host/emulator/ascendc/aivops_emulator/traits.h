// The few questions about types that the headers ask beside the standard's.
#ifndef AIVOPS_EMULATOR_TRAITS_H
#define AIVOPS_EMULATOR_TRAITS_H
#pragma GCC system_header

#ifndef AIVOPS_EMULATOR_SCAN // of ccec for the names of kernels
#include <type_traits>
#endif

namespace aivops_emulator {

template <typename T, typename... Candidates>
constexpr bool kIsAnyOf = (std::is_same_v<T, Candidates> || ...);

} // namespace aivops_emulator

#endif
