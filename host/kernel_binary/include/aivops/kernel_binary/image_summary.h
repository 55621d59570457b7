// What a host needs to know of an image before it hands it to a toolkit: machine, architecture, contract and argument
// layouts. Reads bytes in memory, runs nothing, and judges nothing: rules are aivops-verify's.
#ifndef AIVOPS_KERNEL_BINARY_IMAGE_SUMMARY_H
#define AIVOPS_KERNEL_BINARY_IMAGE_SUMMARY_H

#include "aivops/kernel_binary/architecture.h"
#include "aivops/kernel_binary/contract_records.h"
#include "aivops/kernel_binary/elf.h"
#include "aivops/kernel_binary/printable.h"

#include <map>
#include <stdexcept>

namespace aivops::kernel_binary {

struct ImageSummary {
    Machine machine = Machine::kUnknown; // an ELF of the host without a contract record is unknown
    std::uint16_t elf_machine = 0;
    Architecture architecture;
    std::uint32_t contract_version = 0;          // 0 for `ascend`
    std::string toolkit_version;                 // empty for `ascend`
    std::map<std::string, KernelLayout> layouts; // by kernel; empty for `ascend`
};

// Machine and architecture; `contract_error` says what is wrong with a contract record that is there and cannot be
// used.
inline ImageSummary identify(const ElfFile& file, std::string& contract_error) {
    ImageSummary summary;
    summary.elf_machine = file.header().machine;
    if (summary.elf_machine == kMachineAscend) {
        summary.machine = Machine::kAscend;
        summary.architecture = architecture_of_flags(file.header().flags);
        return summary;
    }
    const Section* section = file.find(kContractSection);
    if (section == nullptr || (summary.elf_machine != kMachineX86 && summary.elf_machine != kMachineArm)) {
        return summary;
    }
    summary.machine = summary.elf_machine == kMachineX86 ? Machine::kEmulatedX86 : Machine::kEmulatedArm;
    if (const auto record = read_contract(file.content(*section), contract_error)) {
        summary.contract_version = record->version;
        summary.architecture = architecture_of_npu(record->npu_arch);
        summary.toolkit_version = record->toolkit_version;
    }
    return summary;
}

// Throws std::runtime_error when the bytes are no kernel binary of a machine we know, or its records are damaged.
inline ImageSummary summarize_image(ByteView bytes) {
    const ElfFile file(bytes);
    if (!file.is_readable() || file.sections().empty()) {
        throw std::runtime_error("not a complete 64-bit little-endian ELF");
    }
    std::string error;
    ImageSummary summary = identify(file, error);
    if (!error.empty()) {
        throw std::runtime_error("its " + std::string(kContractSection) + " section cannot be used: " + error);
    }
    if (summary.machine == Machine::kUnknown) {
        throw std::runtime_error("ELF machine " + std::to_string(summary.elf_machine) +
                                 " without a contract record is no kernel binary");
    }
    ByteBudget budget(bytes.size());
    for (const Section& section : file.sections()) {
        if (!is_emulated(summary.machine) || section.name.substr(0, kLayoutPrefix.size()) != kLayoutPrefix) {
            continue;
        }
        if (!budget.spend(section.size)) {
            throw std::runtime_error("its layout sections overlap");
        }
        auto layout = read_layout(file.content(section), error);
        if (!layout) {
            throw std::runtime_error("section " + printable(section.name) + " cannot be used: " + error);
        }
        summary.layouts.emplace(section.name.substr(kLayoutPrefix.size()), std::move(*layout));
    }
    return summary;
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_IMAGE_SUMMARY_H
