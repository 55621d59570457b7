// JSON for what the emulator writes to files: strings, whatever bytes they hold.
#ifndef AIVOPS_MACHINE_JSON_TEXT_H
#define AIVOPS_MACHINE_JSON_TEXT_H

#include <string>
#include <string_view>

namespace aivops::machine {

/// The text as a JSON string with its quotes. Bytes above 127 pass as they are: readers decide about UTF-8.
std::string json_string(std::string_view text);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_JSON_TEXT_H
