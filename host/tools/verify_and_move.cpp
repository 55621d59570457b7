// The last step of a kernel's build. OUT is removed first and comes back only when nothing fails, so that no unverified
// binary, and no older one either, ever has the final name.
#include "steps.h"

#include "verifier/file_bytes.h"
#include "verifier/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace aivops::tools {

using namespace kernel_binary;
namespace fs = std::filesystem;

namespace {

// A device or a folder is not what a binary takes the place of.
void refuse_other_than_files(const std::string& path) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
        throw UsageError(path + ": is there and no file; name another one");
    }
}

void remove_old(const std::string& path) {
    refuse_other_than_files(path);
    std::error_code error;
    fs::remove(path, error);
    if (error) {
        throw UsageError(path + ": the old file cannot be removed (" + error.message() + ")");
    }
}

void rename_over(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) {
        throw UsageError(to + ": cannot be made from " + from + " (" + error.message() +
                         "); both have to be on one file system");
    }
}

} // namespace

void write_file(const std::string& path, const std::string& text) {
    refuse_other_than_files(path);
    const std::string temporary = path + ".part";
    {
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (!file) {
            throw UsageError(path + ": cannot be written");
        }
    }
    rename_over(temporary, path);
}

std::map<std::string, KernelLayout> read_layouts(const std::string& path) {
    try {
        const FileBytes file(path);
        const ImageSummary summary = summarize_image(file.bytes());
        if (!is_emulated(summary.machine)) {
            throw UsageError("--layout-from " + path + ": expected an emulated binary, found one for " +
                             std::string(machine_name(summary.machine)));
        }
        return summary.layouts;
    } catch (const UsageError&) {
        throw;
    } catch (const std::system_error& error) {
        throw UsageError("--layout-from " + path + ": cannot be read (" + error.code().message() + ")");
    } catch (const std::runtime_error& error) {
        throw UsageError("--layout-from " + path + ": " + error.what());
    }
}

int verify_and_move(const Options& options) {
    const std::string& path = options.paths.front();
    for (const std::string& output : {options.move_to, options.record}) {
        std::error_code error;
        if (!output.empty() && fs::equivalent(path, output, error)) {
            throw UsageError(output + ": is the binary to verify; name another file");
        }
    }
    remove_old(options.move_to);
    if (!options.record.empty()) {
        remove_old(options.record);
    }
    VerifyOptions verify_options = options.verify;
    std::map<std::string, KernelLayout> layouts;
    if (!options.layout_from.empty()) {
        layouts = read_layouts(options.layout_from);
        verify_options.layouts = &layouts;
    }
    try {
        const FileBytes file(path);
        const Image image(file.bytes());
        FileReport report = verify(image, verify_options);
        report.path = printable(path, 4096);
        const bool failed = std::ranges::any_of(
            report.findings, [&](const Finding& finding) { return finding.severity >= options.fail_on; });
        if (failed) {
            const std::string text = options.json ? report_json({report}) : report_text(report, Severity::kWarning);
            std::fputs(text.c_str(), options.json ? stdout : stderr);
            return 1;
        }
        // Warnings that do not fail are shown: a build that swallows them helps nobody.
        std::fputs(report_text(report, Severity::kWarning).c_str(), stderr);
        if (!options.record.empty()) {
            write_file(options.record, entry_json(describe_binary(image, options.provenance, verify_options.layouts)));
        }
    } catch (const std::system_error& error) {
        throw UsageError(printable(path) + ": cannot be read (" + error.code().message() + ")");
    }
    rename_over(path, options.move_to);
    return 0;
}

} // namespace aivops::tools
