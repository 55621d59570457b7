// The command line of aivops-verify.
#ifndef AIVOPS_TOOLS_OPTIONS_H
#define AIVOPS_TOOLS_OPTIONS_H

#include "verifier/manifest_writer.h"
#include "verifier/verify.h"

#include <stdexcept>

namespace aivops::tools {

// The exit status of wrong usage, and of a path that cannot be read.
inline constexpr int kUnreadable = 2;

class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Options {
    bool help = false;
    bool json = false;
    kernel_binary::Severity fail_on = kernel_binary::Severity::kError;
    kernel_binary::VerifyOptions verify;
    std::vector<std::string> paths;

    // A build: the verified file gets its final name, and its manifest entry is recorded.
    std::string move_to;
    std::string record;
    std::string layout_from;
    kernel_binary::Provenance provenance;

    // A set: entries are joined to one manifest.
    std::string write_manifest;
    std::string base;
};

extern const char* const kUsage;

// Throws UsageError.
Options read_options(int count, char** words);

} // namespace aivops::tools

#endif // AIVOPS_TOOLS_OPTIONS_H
