// The text the host compiler gets: the user's source, then what makes its kernels callable by the emulator.
// The source is part of the text, not included by it, so that no diagnostic ever starts in generated code. One that
// says
// `#pragma once` must be included: only the file itself is known again when one of its headers asks for it.
#ifndef AIVOPS_EMULATOR_CCEC_TRANSLATION_UNIT_H
#define AIVOPS_EMULATOR_CCEC_TRANSLATION_UNIT_H

#include "kernel_scan.h"

#include <filesystem>
#include <string>

namespace aivops::ccec {

struct Source {
    std::string text;
    std::filesystem::path path; // absolute
    std::string shown_name;     // in diagnostics and __FILE__
};

// `entry_header` declares the macros of the records.
std::string translation_unit(const Source& source, const Scan& scan, const std::filesystem::path& entry_header);

} // namespace aivops::ccec

#endif
