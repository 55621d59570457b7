// Everything a kernel binary says of itself, decoded: a file's entry of a report with more keys, as JSON.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_INSPECT_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_INSPECT_H

#include "verifier/verify.h"

namespace aivops::kernel_binary {

std::string inspect_json(const Image& image, const FileReport& report);

// What a record says, in words; bytes in hexadecimal where the type or the length is not known.
std::string kernel_record_text(const Record& record);
std::string binary_record_text(const Record& record);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_INSPECT_H
