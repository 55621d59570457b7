// Whole files in and out, with errors that name them.
#ifndef AIVOPS_EMULATOR_CCEC_FILE_H
#define AIVOPS_EMULATOR_CCEC_FILE_H

#include <filesystem>
#include <string>
#include <string_view>

namespace aivops::ccec {

// An Error when there is none, or something else: a source is read more than once.
void check_is_file(const std::filesystem::path& path);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view content);

} // namespace aivops::ccec

#endif
