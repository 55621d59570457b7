// Dependency files name what the user wrote, not what the driver generated.
#ifndef AIVOPS_EMULATOR_CCEC_DEPFILE_H
#define AIVOPS_EMULATOR_CCEC_DEPFILE_H

#include <filesystem>
#include <string>

namespace aivops::ccec {

// Replaces the prerequisite `generated` by `source` in the make-style file `depfile`.
void replace_prerequisite(const std::filesystem::path& depfile, const std::filesystem::path& generated,
                          const std::string& source);

} // namespace aivops::ccec

#endif
