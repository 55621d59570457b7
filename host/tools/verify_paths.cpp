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

// What was verified, and why the rest could not be.
struct Outcome {
    std::vector<FileReport> reports;
    std::vector<std::string> unreadable;

    void refuse(const std::string& path, const std::string& reason) {
        unreadable.push_back(printable(path, 4096) + ": " + reason);
    }
};

// The *.o files below a folder, in the order of their paths; links are not followed.
std::vector<std::string> list_folder(const std::string& folder, Outcome& outcome) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".o" && entry->is_regular_file() && !entry->is_symlink()) {
            files.push_back(entry->path().string());
        }
    }
    if (error) {
        outcome.refuse(folder, "cannot be read (" + error.message() + ")");
    } else if (files.empty()) {
        outcome.refuse(folder, "has no *.o file to verify");
    }
    std::ranges::sort(files);
    return files;
}

void verify_file(const std::string& path, const VerifyOptions& options, Outcome& outcome) {
    try {
        const FileBytes file(path);
        FileReport report = verify(Image(file.bytes()), options);
        report.path = printable(path, 4096);
        outcome.reports.push_back(std::move(report));
    } catch (const std::system_error& error) {
        outcome.refuse(path, "cannot be read (" + error.code().message() + ")");
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
    Outcome outcome;
    for (const std::string& path : options.paths) {
        std::error_code ignored; // opening the file tells the reason
        const bool is_folder = fs::is_directory(path, ignored);
        for (const std::string& file : is_folder ? list_folder(path, outcome) : std::vector{path}) {
            verify_file(file, verify_options, outcome);
        }
    }
    const std::vector<FileReport>& reports = outcome.reports;
    if (options.json) {
        std::fputs(report_json(reports, outcome.unreadable).c_str(), stdout);
    } else if (!reports.empty()) {
        for (const FileReport& report : reports) {
            std::fputs(report_text(report, Severity::kWarning).c_str(), stdout);
        }
        std::fputs(summary_text(reports).c_str(), stdout);
    }
    for (const std::string& reason : outcome.unreadable) {
        std::fprintf(stderr, "aivops-verify: %s\n", reason.c_str());
    }
    if (!outcome.unreadable.empty()) {
        return kUnreadable;
    }
    const bool failed = std::ranges::any_of(reports, [&](const FileReport& report) {
        return std::ranges::any_of(report.findings,
                                   [&](const Finding& finding) { return finding.severity >= options.fail_on; });
    });
    return failed ? 1 : 0;
}

} // namespace aivops::tools
