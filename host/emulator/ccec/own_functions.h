// Inline functions of the objects of one binary. On the device such code becomes a part of each kernel, so that sources
// may give one name to different functions; a host linker would keep the first of them for all.
#ifndef AIVOPS_EMULATOR_CCEC_OWN_FUNCTIONS_H
#define AIVOPS_EMULATOR_CCEC_OWN_FUNCTIONS_H

#include <filesystem>
#include <string>
#include <vector>

namespace aivops::ccec {

// Copies `objects` (64-bit little-endian ELF) into `folder` and gives the inline functions of each a name of that
// object's own: "f" becomes "f.2" in the second. Functions that another object relies on keep their name. Returns the
// copies' paths.
std::vector<std::string> copy_with_own_functions(const std::vector<std::string>& objects,
                                                 const std::filesystem::path& folder);

} // namespace aivops::ccec

#endif
