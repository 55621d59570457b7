// Sections `.ascend.meta.<kernel>`: one per kernel, under its exact name, of a type and size that the runtime reads.
#include "verifier/checks.h"

#include <algorithm>
#include <unordered_set>

namespace aivops::kernel_binary {
namespace {

void check_section(const Checking& checking, const Section& section) {
    const std::size_t at = section.name.find(kKernelMetaPrefix);
    const bool relocation = section.type == elf::kRela || section.type == elf::kRel;
    if (at == std::string_view::npos || relocation) {
        return;
    }
    if (at != 0) {
        if (can_hold_records(section)) {
            checking.add(
                RuleId::META052,
                {.section = section.name,
                 .offset = section.offset,
                 .message = section_entity(section.name) + " does not begin with .ascend.meta.",
                 .found = "read as the meta section of kernel " +
                          printable(section.name.substr(std::min(kKernelMetaPrefix.size(), section.name.size())))});
        }
        return;
    }
    const std::string_view kernel = section.name.substr(kKernelMetaPrefix.size());
    const std::string entity = section_entity(section.name);
    if (!can_hold_records(section)) {
        checking.add(RuleId::META055, {.kernel = kernel,
                                       .section = section.name,
                                       .offset = section.offset,
                                       .message = entity + " has a type that the runtime does not read",
                                       .expected = "PROGBITS (1) or NOTE (7)",
                                       .found = "type " + std::to_string(section.type)});
        return;
    }
    if (kernel.empty() || kernel.size() >= elf::kNameLimit) {
        checking.add(RuleId::META053, {.section = section.name,
                                       .offset = section.offset,
                                       .message = entity + " names no kernel that the runtime takes",
                                       .expected = "1 to 4095 bytes behind .ascend.meta.",
                                       .found = kernel.empty() ? "0 bytes" : "4096 bytes or more"});
    }
    if (section.size <= 4) {
        checking.add(RuleId::META056, {.kernel = kernel,
                                       .section = section.name,
                                       .offset = section.offset,
                                       .message = entity + " holds no record",
                                       .expected = "8 bytes or more",
                                       .found = counted(section.size, "byte")});
    } else if (section.size > 0xffff) {
        checking.add(RuleId::META076, {.kernel = kernel,
                                       .section = section.name,
                                       .offset = section.offset,
                                       .message = entity + " is too large",
                                       .expected = "at most 65535 bytes",
                                       .found = counted(section.size, "byte")});
    }
}

// Comparing every name with every other one is for files that people wrote.
constexpr std::size_t kMostHints = 64;

void report_kernel_without_meta(const Checking& checking, std::string_view kernel,
                                const std::vector<std::string_view>& unused) {
    std::string found = "no section of this name";
    std::string fix;
    for (const std::string_view name : unused) {
        if (is_mangled_form_of(kernel, name)) {
            found = "a section for " + printable(name) + ", but the symbol is a C++ one";
            fix =
                "declare the kernel extern \"C\": extern \"C\" __global__ __aicore__ void " + printable(name) + "(...)";
        }
    }
    if (fix.empty()) {
        if (const std::string_view near = nearest_name(kernel, unused); !near.empty()) {
            found = "section .ascend.meta." + printable(near) + ", which names no kernel";
            fix = "correct the name in the section or in the export macro: " + printable(kernel);
        }
    }
    if (fix.empty() && kernel.starts_with("_Z")) {
        fix = "declare the kernel extern \"C\" and put AIVOPS_EXPORT_KERNEL(<its name>) of aivops/export.h into its "
              "source";
    } else if (fix.empty()) {
        fix = "put AIVOPS_EXPORT_KERNEL(" + printable(kernel) + ") of aivops/export.h into its source";
    }
    checking.add(RuleId::META050, {.kernel = kernel,
                                   .message = kernel_entity(kernel) + " has no meta section",
                                   .expected = ".ascend.meta." + printable(kernel),
                                   .found = std::move(found),
                                   .fix = std::move(fix)});
}

} // namespace

void check_meta_sections(const Checking& checking) {
    const Image& image = checking.image;
    std::unordered_set<std::string_view> kernels;
    std::vector<std::string_view> without_meta;
    for (const Kernel& kernel : image.kernels) {
        if (!image.metas.empty()) {
            kernels.insert(kernel.name);
        }
        if (kernel.meta == nullptr) {
            without_meta.push_back(kernel.name);
        }
    }
    std::unordered_set<std::string_view> seen;
    std::vector<std::string_view> unused;
    std::unordered_set<std::string_view> unreadable;
    for (const Section& section : image.file.sections()) {
        check_section(checking, section);
        if (!section.name.starts_with(kKernelMetaPrefix)) {
            continue;
        }
        const std::string_view kernel = section.name.substr(kKernelMetaPrefix.size());
        if (!can_hold_records(section)) {
            unreadable.insert(kernel);
            continue;
        }
        if (!seen.insert(kernel).second) {
            checking.add(RuleId::META054, {.kernel = kernel,
                                           .section = section.name,
                                           .offset = section.offset,
                                           .message = kernel_entity(kernel) + " has a second meta section",
                                           .expected = "one"});
        } else if (image.symbols && !kernel.empty() && kernel.size() < elf::kNameLimit && !kernels.contains(kernel)) {
            unused.push_back(kernel);
        }
    }
    const bool hints = unused.size() <= kMostHints && without_meta.size() <= kMostHints;
    for (const std::string_view name : unused) {
        const Section& section = *image.metas.at(name).section;
        const std::string_view near = hints ? nearest_name(name, without_meta) : std::string_view();
        checking.add(RuleId::META051,
                     {.kernel = name,
                      .section = section.name,
                      .offset = section.offset,
                      .message = section_entity(section.name) + " names no kernel",
                      .expected = "the name of a kernel of this binary",
                      .found = near.empty() ? counted(image.kernels.size(), "kernel") + ", none of this name"
                                            : "kernel " + printable(near) + " is the nearest name",
                      .fix = near.empty() ? std::string() : "write .ascend.meta." + printable(near)});
    }
    for (const std::string_view kernel : without_meta) {
        // A section that is there but cannot be read has been reported as such.
        if (!unreadable.contains(kernel) && kernel.size() < elf::kNameLimit) {
            report_kernel_without_meta(checking, kernel, hints ? unused : std::vector<std::string_view>());
        }
    }
}

} // namespace aivops::kernel_binary
