// META104: the JSON file that the runtime reads beside a binary when it loads from a file.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_SIDECAR_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_SIDECAR_H

#include "verifier/verify.h"

namespace aivops::kernel_binary {

std::vector<Finding> check_sidecar(const Image& image, std::string_view text);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_SIDECAR_H
