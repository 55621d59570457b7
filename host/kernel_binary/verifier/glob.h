// Shell patterns for kernel names: `*`, `?` and `[...]`. A pattern without them is a name.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_GLOB_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_GLOB_H

#include <string_view>

namespace aivops::kernel_binary {

bool is_glob(std::string_view pattern);
bool glob_matches(std::string_view pattern, std::string_view name);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_GLOB_H
