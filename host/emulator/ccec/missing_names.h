// Which names of Ascend C a failed compilation lacked, by the host compiler's messages.
#ifndef AIVOPS_EMULATOR_CCEC_MISSING_NAMES_H
#define AIVOPS_EMULATOR_CCEC_MISSING_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace aivops::ccec {

// `messages` are those of g++ or clang++ in the C locale. Each name once, in the order of the messages.
std::vector<std::string> missing_names(std::string_view messages);

} // namespace aivops::ccec

#endif
