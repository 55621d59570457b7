// Which objects may become one kernel binary: those of this toolkit's ccec, all for one architecture.
#ifndef AIVOPS_EMULATOR_CCEC_LINKED_OBJECTS_H
#define AIVOPS_EMULATOR_CCEC_LINKED_OBJECTS_H

#include <string>
#include <vector>

namespace aivops::ccec {

// An Error names the first object that does not fit, and why.
void check_linked_objects(const std::vector<std::string>& paths);

} // namespace aivops::ccec

#endif
