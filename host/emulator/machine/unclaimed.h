// What nobody waited for: failures and launches that a program leaves behind are said on standard error, since no call
// returns them any more.
#ifndef AIVOPS_MACHINE_UNCLAIMED_H
#define AIVOPS_MACHINE_UNCLAIMED_H

#include <cstddef>

namespace aivops::machine {

class Stream;

/// Arranges that the end of this process says it of the streams that are left. Children that it forks say nothing.
void watch_end_of_process();

/// A stream goes, and its failure with it.
void say_unclaimed(Stream& stream);

/// Launches that have not ended, on all devices.
size_t unfinished_launches();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_UNCLAIMED_H
