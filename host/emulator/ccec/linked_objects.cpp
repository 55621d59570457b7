#include "linked_objects.h"

#include "error.h"
#include "file.h"

#include "aivops/kernel_binary/contract_records.h"
#include "aivops/kernel_binary/elf.h"

#include <cstdint>

namespace aivops::ccec {
namespace {

using kernel_binary::ByteView;
using kernel_binary::ElfFile;

// The architecture an object was compiled for.
std::uint32_t npu_arch_of(const std::string& path) {
    const std::string content = read_file(path);
    const ElfFile elf(ByteView(content.data(), content.size()));
    if (!elf.is_readable())
        throw Error(path + ": is no 64-bit little-endian ELF object");
    const kernel_binary::Section* section = elf.find(kernel_binary::kContractSection);
    if (!section)
        throw Error(path + ": was not compiled by the emulated ccec (it has no section " +
                    std::string(kernel_binary::kContractSection) +
                    "); compile every source of a kernel binary with it");
    std::string problem;
    const auto record = kernel_binary::read_contract(elf.content(*section), problem);
    if (!record)
        throw Error(path + ": section " + std::string(kernel_binary::kContractSection) + ": " + problem);
    return record->npu_arch;
}

} // namespace

void check_linked_objects(const std::vector<std::string>& paths) {
    std::uint32_t first = 0;
    for (const std::string& path : paths) {
        const std::uint32_t npu_arch = npu_arch_of(path);
        if (first == 0)
            first = npu_arch;
        if (npu_arch != first)
            throw Error(path + ": was compiled for NPU architecture " + std::to_string(npu_arch) + ", and " +
                        paths.front() + " for " + std::to_string(first) + "; a kernel binary has one architecture");
    }
}

} // namespace aivops::ccec
