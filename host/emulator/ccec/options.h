// The command line of ccec: what the emulated compiler understands itself, and what goes on to the host's compiler.
// Options only the Ascend compiler has (--cce-*, -mllvm, --npu-arch) are checked against a list: a misspelt one would
// do nothing here and break the same build on CANN.
#ifndef AIVOPS_EMULATOR_CCEC_OPTIONS_H
#define AIVOPS_EMULATOR_CCEC_OPTIONS_H

#include "architecture.h"
#include "process.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace aivops::ccec {

enum class Mode {
    object,     // -c
    assembly,   // -S
    preprocess, // -E, -M, -MM: the host compiler's own output
    check,      // -fsyntax-only
    version,
    help
};

struct Options {
    Mode mode = Mode::object;
    const Architecture* architecture = nullptr;
    std::string source;
    std::string output;                             // empty: derived from the source's name, or standard output
    Command host_arguments;                         // in the order given
    std::map<std::string, std::string> definitions; // of -D, with the value 1 where none is given
    std::vector<std::string> include_directories;
    bool standard_given = false;
    bool print_command = false; // -###
    bool write_depfile = false;
    std::string depfile;         // -MF
    Command depfile_arguments;   // -MD or -MMD, -MT and -MQ with their values
    bool depfile_target = false; // -MT or -MQ was given
};

// Takes the arguments behind the program's name; an Error explains what is wrong with them.
Options parse_options(const Command& arguments);

// What is written, named after the source where the command line does not say; empty when nothing is.
std::string output_of(const Options& options);
std::string depfile_of(const Options& options);

std::string help_text();

} // namespace aivops::ccec

#endif
