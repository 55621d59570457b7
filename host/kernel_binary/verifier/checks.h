// The groups of checks, in the order in which they run. Each reads the image and adds findings; none changes anything.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_CHECKS_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_CHECKS_H

#include "aivops/kernel_binary/counted.h"
#include "aivops/kernel_binary/nearest_name.h"
#include "verifier/verify.h"

namespace aivops::kernel_binary {

struct Checking {
    const Image& image;
    const VerifyOptions& options;
    FindingList& findings;

    // Rules say which machines they are for.
    bool applies(RuleId rule) const {
        return (find_rule(rule).machines & (image.emulated() ? kOnEmulated : kOnAscend)) != 0;
    }
    void add(RuleId rule, Detail detail) const {
        if (applies(rule)) {
            findings.add(rule, std::move(detail));
        }
    }
    void add(RuleId rule, Severity severity, Detail detail) const {
        if (applies(rule)) {
            findings.add(rule, severity, std::move(detail));
        }
    }
};

// False when the file is so wrong, or so foreign, that further checks would only repeat it.
bool check_header(const Checking& checking);
// False when sections have no names: every check behind it looks for them by name.
bool check_sections(const Checking& checking);
void check_loading(const Checking& checking);
void check_symbols(const Checking& checking);
void check_requested_kernels(const Checking& checking);
void check_meta_sections(const Checking& checking);
void check_kernel_records(const Checking& checking);
void check_binary_records(const Checking& checking);
void check_arguments(const Checking& checking);
void check_stack_record(const Checking& checking);
void check_contents(const Checking& checking);

std::string hex(std::uint64_t value);
// "1 kernel", "2 kernels"
// "kernel NAME" with a printable name: how messages about a kernel begin.
std::string kernel_entity(std::string_view name);
std::string section_entity(std::string_view name);

// `mangled` is a C++ symbol of a function called `name`.
bool is_mangled_form_of(std::string_view mangled, std::string_view name);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_CHECKS_H
