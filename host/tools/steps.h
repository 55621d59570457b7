// What aivops-verify does, one function for each way of calling it. They return the exit status.
#ifndef AIVOPS_TOOLS_STEPS_H
#define AIVOPS_TOOLS_STEPS_H

#include "options.h"

namespace aivops::tools {

int verify_paths(const Options& options);
int verify_and_move(const Options& options);
int write_manifest(const Options& options);

// Argument layouts of the emulated twin. Throws UsageError.
std::map<std::string, kernel_binary::KernelLayout> read_layouts(const std::string& path);

// The file appears whole or not at all. Throws UsageError.
void write_file(const std::string& path, const std::string& text);

} // namespace aivops::tools

#endif // AIVOPS_TOOLS_STEPS_H
