// Finds the kernels of a preprocessed translation unit. Only names are read here: what a parameter is, the compiler
// says.
#ifndef AIVOPS_EMULATOR_CCEC_KERNEL_SCAN_H
#define AIVOPS_EMULATOR_CCEC_KERNEL_SCAN_H

#include <string>
#include <string_view>
#include <vector>

namespace aivops::ccec {

struct ScannedKernel {
    std::string qualified_name;               // ::ns::name
    std::string symbol;                       // name
    std::vector<std::string> parameter_names; // empty where the source names none
    std::string file;                         // of its definition
    unsigned line = 0;
    bool aicore = false; // marked as code of the core
};

struct Scan {
    std::vector<ScannedKernel> kernels; // definitions with C linkage, in the order of the source
    bool balanced = true;               // every brace closed
    bool block_locals = false;          // [[block_local]] occurs
    bool aicore_attributes = false;     // [aicore] occurs
    bool by_gcc = false;                // the preprocessor was GCC's
};

// `text` is the output of -E -dD with `__global__` and `__aicore__` left in place as the markers of kernels.
Scan scan_kernels(std::string_view text);

// Preprocessed text without [aicore], the Ascend compiler's own spelling of `__aicore__`, which is no C++.
std::string without_aicore_attributes(std::string text);

} // namespace aivops::ccec

#endif
