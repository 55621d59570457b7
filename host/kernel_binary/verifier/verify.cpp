#include "verifier/verify.h"

#include "verifier/checks.h"

#include <algorithm>

namespace aivops::kernel_binary {
namespace {

// Names may share their bytes, so together they can be far longer than the file; the longest published one has 88.
constexpr std::size_t kNameShown = 512;

std::vector<KernelReport> list_kernels(const Image& image) {
    std::vector<KernelReport> kernels;
    kernels.reserve(image.kernels.size());
    for (const Kernel& kernel : image.kernels) {
        const Symbol symbol = image.symbols->at(kernel.symbol);
        KernelReport& report = kernels.emplace_back();
        report.name = printable(kernel.name, kNameShown);
        report.offset = symbol.value;
        report.size = symbol.size;
        report.args_size = image.args_size(kernel);
        if (kernel.meta != nullptr) {
            report.type = kernel.meta->records.type;
        }
    }
    return kernels;
}

} // namespace

std::size_t FileReport::count(Severity severity) const {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

FileReport verify(const Image& image, const VerifyOptions& options) {
    FindingList findings(options.profile);
    const Checking checking{image, options, findings};
    if (check_header(checking) && check_sections(checking)) {
        check_loading(checking);
        check_symbols(checking);
        check_requested_kernels(checking);
        check_meta_sections(checking);
        if (!image.meta_overlaps) {
            check_kernel_records(checking);
        }
        check_binary_records(checking);
        check_arguments(checking);
        check_stack_record(checking);
        check_contents(checking);
    }
    FileReport report;
    report.machine = machine_name(image.machine);
    report.architecture = image.architecture.name;
    report.kernels = list_kernels(image);
    report.findings = findings.take();
    return report;
}

} // namespace aivops::kernel_binary
