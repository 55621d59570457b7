// The text the host compiler gets: the user's source, then what makes its kernels callable by the emulator.
// The source is part of the text, not included by it, so that no diagnostic ever starts in generated code.
#ifndef AIVOPS_EMULATOR_CCEC_TRANSLATION_UNIT_H
#define AIVOPS_EMULATOR_CCEC_TRANSLATION_UNIT_H

#include "kernel_scan.h"

#include <filesystem>
#include <string>

namespace aivops::ccec {

// `shown_name` is the source's name in diagnostics and __FILE__; `entry_header` declares the macros of the records.
std::string translation_unit(std::string source, const std::string& shown_name, const Scan& scan,
                             const std::filesystem::path& entry_header);

} // namespace aivops::ccec

#endif
