// The C++ compiler of this machine, which does the work behind both drivers.
#ifndef AIVOPS_EMULATOR_CCEC_HOST_COMPILER_H
#define AIVOPS_EMULATOR_CCEC_HOST_COMPILER_H

#include "process.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace aivops::ccec {

// The command that starts the compiler (a launcher and flags may be part of it): AIVOPS_EMU_CXX, else CXX, else the
// first of c++, g++ and clang++ in PATH. A variable that names no program is an Error; so is a machine without a
// compiler.
Command find_host_compiler();

// Runs a command of the host compiler that writes `output`, and returns its exit status. What lay there before is
// removed first, so that a compiler that says it succeeded and wrote nothing is an Error and not an old binary. Its
// messages show the second of each pair in `shown` where it says the first.
using ShownNames = std::vector<std::pair<std::string, std::string>>;
int run_host_compiler(const Command& command, const std::filesystem::path& output, const ShownNames& shown = {});

} // namespace aivops::ccec

#endif
