// Whether the process behind shared memory still lives. A process holds a lock on every piece of memory that it shares;
// the kernel drops the lock when the process ends, however it ends, and its forked children do not inherit it.
#ifndef AIVOPS_MACHINE_IPC_LIFE_H
#define AIVOPS_MACHINE_IPC_LIFE_H

#include <cstdint>

namespace aivops::machine {

/// Holds the lock on byte `place` of the file until the process ends, drops it, or closes any descriptor of the file.
void hold_life(int descriptor, uint64_t place);
void drop_life(int descriptor, uint64_t place);

/// Tells whether anybody still counts on the owner of the file: a process that has closed what it shared may end.
void mark_in_use(int descriptor, bool in_use);
bool is_in_use(int descriptor);

/// Whether another process holds it. Of its own locks a process learns nothing here.
bool is_life_held(int descriptor, uint64_t place);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_IPC_LIFE_H
