// Completes a binary that lacks nothing but its vector-core records: a copy with one `.ascend.meta.<kernel>` section
// per kernel that has none. The original's bytes keep their offsets, except for the section headers.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_FIX_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_FIX_H

#include "verifier/verify.h"

namespace aivops::kernel_binary {

struct FixResult {
    std::string bytes;              // empty when there is nothing to write
    std::vector<std::string> added; // printable names of the kernels that got a record
    std::string refusal;            // why there is nothing to write
};

FixResult add_vector_records(const Image& image, const VerifyOptions& options);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_FIX_H
