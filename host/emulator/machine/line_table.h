// From an address in a kernel binary to the line of the source, by the DWARF line table that -g leaves in it.
#ifndef AIVOPS_MACHINE_LINE_TABLE_H
#define AIVOPS_MACHINE_LINE_TABLE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace aivops::machine {

/// "file.asc:34" for the code before `address` (an offset in the image); empty when the binary does not tell. Code of
/// the toolkit's own headers, which is inlined into kernels, counts as the line that the kernel's author called it
/// from.
std::string source_line(std::span<const std::byte> elf, uint64_t address);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_LINE_TABLE_H
