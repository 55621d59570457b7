// The kernels of a binary, described by the manifest it came with or, without one, by the image itself.
#ifndef AIVOPS_DISPATCH_IMAGE_KERNELS_H
#define AIVOPS_DISPATCH_IMAGE_KERNELS_H

#include "aivops/dispatch/arguments.h"
#include "aivops/kernel_binary/image_summary.h"
#include "aivops/kernel_binary/manifest.h"
#include "aivops/kernel_binary/records.h"

#include <optional>
#include <string>
#include <vector>

namespace aivops {

struct KernelDescription {
    std::string name;
    std::string type; // "K_TYPE_AIV", ...; empty when the binary does not say
    std::optional<ArgumentLayout> layout;
};

namespace detail {

inline ArgumentLayout make_layout(std::uint64_t bytes, const std::vector<kernel_binary::Parameter>& parameters) {
    ArgumentLayout layout;
    layout.bytes = static_cast<std::size_t>(bytes);
    for (const kernel_binary::Parameter& parameter : parameters) {
        std::size_t kind = 0;
        while (kernel_binary::kParameterKinds[kind] != parameter.kind) {
            ++kind; // the readers accept known kinds only
        }
        layout.parameters.push_back({parameter.name, static_cast<std::size_t>(parameter.offset),
                                     static_cast<std::size_t>(parameter.size), static_cast<ParameterKind>(kind)});
    }
    return layout;
}

inline std::vector<KernelDescription> describe_kernels(const kernel_binary::ManifestBinary& entry) {
    std::vector<KernelDescription> kernels;
    for (const kernel_binary::ManifestKernel& kernel : entry.kernels) {
        KernelDescription description{kernel.name, kernel.type, std::nullopt};
        if (kernel.args_size && kernel.parameters) {
            description.layout = make_layout(*kernel.args_size, *kernel.parameters);
        }
        kernels.push_back(std::move(description));
    }
    return kernels;
}

inline std::string read_kernel_type(const kernel_binary::ElfFile& file, const std::string& kernel) {
    namespace kb = kernel_binary;
    const kb::Section* section = file.find(std::string(kb::kKernelMetaPrefix) + kernel);
    if (section == nullptr) {
        return {};
    }
    std::string type;
    kb::walk_records(file.content(*section), [&](const kb::Record& record) {
        if (record.type == kb::kernel_record::kKernelType) {
            type = kb::kernel_type_name(record.payload.little<std::uint32_t>(0));
        }
    });
    return type;
}

/// Kernels are the global functions of the first symbol table, as the runtime has it.
inline std::vector<KernelDescription> describe_kernels(kernel_binary::ByteView bytes,
                                                       const kernel_binary::ImageSummary& summary) {
    namespace kb = kernel_binary;
    const kb::ElfFile file(bytes);
    std::vector<KernelDescription> kernels;
    for (const kb::Section& section : file.sections()) {
        const auto symbols = section.type == kb::elf::kSymtab ? file.symbols_of(section) : std::nullopt;
        if (!symbols) {
            continue;
        }
        for (std::uint64_t i = 0; i < symbols->count(); ++i) {
            const kb::Symbol symbol = symbols->at(i);
            if (symbol.type != kb::elf::kFunction || symbol.binding != kb::elf::kGlobal ||
                symbol.visibility == kb::elf::kHidden || symbol.section == kb::elf::kUndefinedSection) {
                continue;
            }
            KernelDescription kernel{std::string(symbol.name), {}, std::nullopt};
            kernel.type = read_kernel_type(file, kernel.name);
            if (const auto layout = summary.layouts.find(kernel.name); layout != summary.layouts.end()) {
                kernel.layout = make_layout(layout->second.args_size, layout->second.parameters);
            }
            kernels.push_back(std::move(kernel));
        }
        break;
    }
    return kernels;
}

} // namespace detail

} // namespace aivops

#endif // AIVOPS_DISPATCH_IMAGE_KERNELS_H
