// Reports as people and programs read them.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_REPORT_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_REPORT_H

#include "verifier/json_writer.h"
#include "verifier/verify.h"

#include <functional>

namespace aivops::kernel_binary {

// {"schema": 1, "files": [...], "summary": {...}}, and "unreadable": [...] when something could not be read
std::string report_json(const std::vector<FileReport>& files, const std::vector<std::string>& unreadable = {});
// `more_of_kernel` and `more_of_file` add keys of their own to the object of a kernel (by index) and to the file's.
void write_file_report(JsonWriter& json, const FileReport& file,
                       const std::function<void(std::size_t)>& more_of_kernel = nullptr,
                       const std::function<void()>& more_of_file = nullptr);
// The elements of an array that the caller has begun.
void write_findings(JsonWriter& json, const std::vector<Finding>& findings);

// One paragraph per finding of at least this severity: "PATH: error META061: kernel X ...", then expected, found, fix.
std::string report_text(const FileReport& file, Severity least);
// "2 files, 14 kernels: 1 error, 0 warnings"
std::string summary_text(const std::vector<FileReport>& files);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_REPORT_H
