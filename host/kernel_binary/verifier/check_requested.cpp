// The kernels that a build says it makes, against those that the runtime will find.
#include "verifier/checks.h"
#include "verifier/glob.h"

#include <algorithm>

namespace aivops::kernel_binary {
namespace {

bool is_asked_for(const std::vector<std::string>& patterns, std::string_view kernel) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) { return glob_matches(pattern, kernel); });
}

// Why a symbol with the name that was asked for, or nearly, is no kernel.
std::string explain_missing(const Image& image, std::string_view name, std::string& fix) {
    std::vector<std::string_view> kernels;
    for (const Kernel& kernel : image.kernels) {
        if (is_mangled_form_of(kernel.name, name)) {
            fix = "declare it extern \"C\": extern \"C\" __global__ __aicore__ void " + printable(name) + "(...)";
            return "only the C++ symbol " + printable(kernel.name);
        }
        kernels.push_back(kernel.name);
    }
    for (std::uint64_t i = 0; image.symbols && i < image.symbols->count(); ++i) {
        const Symbol symbol = image.symbols->at(i);
        if (symbol.name == name && symbol.section != elf::kUndefinedSection) {
            fix = "make it a global function with default visibility: extern \"C\" __global__ __aicore__ void " +
                  printable(name) + "(...)";
            return symbol.type != elf::kFunction       ? "a symbol that is no function"
                   : symbol.visibility == elf::kHidden ? "a hidden function"
                   : symbol.binding == elf::kWeak      ? "a weak function"
                                                       : "a local function";
        }
    }
    const std::string_view near = nearest_name(name, kernels);
    if (!near.empty()) {
        fix = "correct the name: the binary has " + printable(near);
        return "kernel " + printable(near);
    }
    return counted(image.kernels.size(), "other kernel");
}

} // namespace

void check_requested_kernels(const Checking& checking) {
    const Image& image = checking.image;
    const std::vector<std::string>& patterns = checking.options.kernels;
    if (image.kernels.empty() && image.symbols && patterns.empty()) {
        checking.add(RuleId::META030,
                     {.message = "the file has no kernel", .expected = "a global function that is not hidden"});
    }
    for (const std::string& pattern : patterns) {
        if (std::ranges::any_of(image.kernels,
                                [&](const Kernel& kernel) { return glob_matches(pattern, kernel.name); })) {
            continue;
        }
        if (is_glob(pattern)) {
            checking.add(RuleId::META030, {.message = "pattern " + printable(pattern) + " matches no kernel",
                                           .expected = "at least one kernel that matches",
                                           .found = counted(image.kernels.size(), "kernel"),
                                           .fix = "correct the pattern, or define a kernel that it matches"});
        } else {
            std::string fix;
            std::string found = explain_missing(image, pattern, fix);
            checking.add(RuleId::META030, {.kernel = pattern,
                                           .message = kernel_entity(pattern) + " is not there",
                                           .expected = "a global function that is not hidden",
                                           .found = std::move(found),
                                           .fix = std::move(fix)});
        }
    }
    if (patterns.empty()) {
        return;
    }
    for (const Kernel& kernel : image.kernels) {
        const bool mangled_twin = std::ranges::any_of(
            patterns, [&](const std::string& pattern) { return is_mangled_form_of(kernel.name, pattern); });
        // Its missing extern "C" is reported already, under the name that was asked for.
        if (!mangled_twin && !is_asked_for(patterns, kernel.name)) {
            checking.add(RuleId::META036, {.kernel = kernel.name,
                                           .offset = image.symbol_section->offset + kernel.symbol * elf::kSymbolBytes,
                                           .message = kernel_entity(kernel.name) + " was not asked for",
                                           .expected = "only the kernels in the list"});
        }
    }
}

} // namespace aivops::kernel_binary
