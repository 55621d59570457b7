// Kernel binaries inside a shared object of the host: `.ascend.kernel.<soc>.<target>` of the build system's stubs, and
// `.aicore_binary` of the single-source compiler. Its unlinked twins (`__aicore_rel_binary`) are never loaded, so not
// listed.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_EMBEDDED_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_EMBEDDED_H

#include "verifier/finding.h"

#include "aivops/kernel_binary/elf.h"

namespace aivops::kernel_binary {

struct EmbeddedBinary {
    std::string name; // "<section>[<index>]", printable
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

struct EmbeddedBinaries {
    std::vector<EmbeddedBinary> binaries;
    std::vector<Finding> findings; // META111
};

EmbeddedBinaries find_embedded(const ElfFile& file);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_EMBEDDED_H
