// Argument sizes: what the compiler noted, what the records say, and what the host's side will pass have to agree.
#include "verifier/checks.h"

#include <unordered_set>

namespace aivops::kernel_binary {
namespace {

constexpr std::uint64_t round_up(std::uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

struct ArgumentCheck {
    const Checking& checking;
    const Kernel& kernel;
    std::optional<std::uint64_t> size; // as the binary says it

    void mismatch(const std::string& what, std::uint64_t expected) const {
        checking.add(RuleId::META091,
                     {.kernel = kernel.name,
                      .message = kernel_entity(kernel.name) + " has another argument size than " + what,
                      .expected = counted(expected, "byte"),
                      .found = counted(*size, "byte")});
    }
};

// `done` holds the layouts that were read: symbols of one name share one.
void check_own_layout(const Checking& checking, const Kernel& kernel, std::unordered_set<const Section*>& done) {
    const auto layout = checking.image.layouts.find(kernel.name);
    if (layout == checking.image.layouts.end() || checking.image.layouts_overlap ||
        !done.insert(layout->second).second) {
        return;
    }
    std::string error;
    if (!read_layout(checking.image.file.content(*layout->second), error)) {
        checking.add(RuleId::META091, {.kernel = kernel.name,
                                       .section = layout->second->name,
                                       .offset = layout->second->offset,
                                       .message = kernel_entity(kernel.name) + " has a layout that cannot be read",
                                       .expected = "a whole layout of version 1",
                                       .found = error});
    }
}

void check_host_layout(const ArgumentCheck& check, const std::map<std::string, KernelLayout>& layouts) {
    const auto layout = layouts.find(std::string(check.kernel.name));
    if (layout == layouts.end()) {
        check.checking.add(RuleId::META091,
                           {.kernel = check.kernel.name,
                            .message = kernel_entity(check.kernel.name) + " is not in the emulated build of its source",
                            .expected = "the same kernels in both builds",
                            .found = counted(layouts.size(), "other kernel")});
    } else if (check.size && *check.size != layout->second.args_size &&
               *check.size != round_up(layout->second.args_size)) {
        check.mismatch("the layout of the host's side", round_up(layout->second.args_size));
    }
}

void check_kernel(const ArgumentCheck& check) {
    const Image& image = check.checking.image;
    if (!check.size) {
        check.checking.add(RuleId::META090,
                           {.kernel = check.kernel.name,
                            .message = kernel_entity(check.kernel.name) + " does not say the size of its arguments",
                            .expected = image.emulated() ? std::string(kLayoutPrefix) + printable(check.kernel.name)
                                                         : "symbol " + printable(check.kernel.name) + "__ in " +
                                                               std::string(kArgumentSizeSection)});
    }
    if (check.size && check.kernel.meta != nullptr) {
        const KernelRecords& records = check.kernel.meta->records;
        // DFX lists count 8 bytes per argument; an emulated layout packs narrower ones.
        if (!image.emulated() && records.dfx && records.dfx->well_formed && records.dfx->arguments * 8 != *check.size) {
            check.mismatch("its DFX list", records.dfx->arguments * 8);
        }
        if (records.parameter_count.value_or(0) != 0 && round_up(records.parameter_bytes) != round_up(*check.size)) {
            check.mismatch("its PARAM_SUMMARY", round_up(records.parameter_bytes));
        }
    }
    if (check.checking.options.layouts != nullptr) {
        check_host_layout(check, *check.checking.options.layouts);
    }
}

} // namespace

void check_arguments(const Checking& checking) {
    std::unordered_set<const Section*> done;
    for (const Kernel& kernel : checking.image.kernels) {
        check_own_layout(checking, kernel, done);
        check_kernel({checking, kernel, checking.image.args_size(kernel)});
    }
}

} // namespace aivops::kernel_binary
