// Which calls the compiler inlined to the place of an instruction, by the debug information that -g leaves in a binary.
#ifndef AIVOPS_MACHINE_INLINED_CALLS_H
#define AIVOPS_MACHINE_INLINED_CALLS_H

#include "dwarf.h"

#include <vector>

namespace aivops::machine::dwarf {

/// Where a call stands: a file of the line table at an offset of .debug_line, and a line.
struct CallPlace {
    uint64_t line_table;
    uint64_t file;
    uint64_t line;
};

/// The calls whose inlined bodies hold the code before `address`, the innermost first.
std::vector<CallPlace> inlined_calls(const Sections& sections, uint64_t address);

} // namespace aivops::machine::dwarf

#endif // AIVOPS_MACHINE_INLINED_CALLS_H
