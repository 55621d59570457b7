// Whole files in and out, with errors that name them.
#ifndef AIVOPS_EMULATOR_CCEC_FILE_H
#define AIVOPS_EMULATOR_CCEC_FILE_H

#include <filesystem>
#include <string>
#include <string_view>

namespace aivops::ccec {

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view content);

} // namespace aivops::ccec

#endif
