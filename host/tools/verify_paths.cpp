#include "steps.h"

#include "verifier/file_bytes.h"
#include "verifier/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace aivops::tools {

using namespace kernel_binary;
namespace fs = std::filesystem;

namespace {

// The *.o files below a folder, in the order of their paths; links are not followed.
std::vector<std::string> list_folder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".o" && entry->is_regular_file() && !entry->is_symlink()) {
            files.push_back(entry->path().string());
        }
    }
    if (error) {
        throw UsageError(printable(folder) + ": cannot be read (" + error.message() + ")");
    }
    if (files.empty()) {
        throw UsageError(printable(folder) + ": has no *.o file to verify");
    }
    std::ranges::sort(files);
    return files;
}

FileReport verify_file(const std::string& path, const VerifyOptions& options) {
    try {
        const FileBytes file(path);
        FileReport report = verify(Image(file.bytes()), options);
        report.path = printable(path, 4096);
        return report;
    } catch (const std::system_error& error) {
        throw UsageError(printable(path) + ": cannot be read (" + error.code().message() + ")");
    }
}

} // namespace

int verify_paths(const Options& options) {
    VerifyOptions verify_options = options.verify;
    std::map<std::string, KernelLayout> layouts;
    if (!options.layout_from.empty()) {
        layouts = read_layouts(options.layout_from);
        verify_options.layouts = &layouts;
    }
    std::vector<FileReport> reports;
    for (const std::string& path : options.paths) {
        const std::vector<std::string> files = fs::is_directory(path) ? list_folder(path) : std::vector{path};
        for (const std::string& file : files) {
            reports.push_back(verify_file(file, verify_options));
        }
    }
    if (options.json) {
        std::fputs(report_json(reports).c_str(), stdout);
    } else {
        for (const FileReport& report : reports) {
            std::fputs(report_text(report, Severity::kWarning).c_str(), stdout);
        }
        std::fputs(summary_text(reports).c_str(), stdout);
    }
    const bool failed = std::ranges::any_of(reports, [&](const FileReport& report) {
        return std::ranges::any_of(report.findings,
                                   [&](const Finding& finding) { return finding.severity >= options.fail_on; });
    });
    return failed ? 1 : 0;
}

} // namespace aivops::tools
