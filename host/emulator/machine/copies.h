// Copies as they are done: at once, or late in strict mode.
#ifndef AIVOPS_MACHINE_COPIES_H
#define AIVOPS_MACHINE_COPIES_H

#include "block.h"
#include "contract/contract.h"

namespace aivops::machine {

/// Whether a copy may be a flag.
inline bool is_small(const AivEmuCopy& copy) {
    return copy.block_count == 1 && copy.block_bytes <= kSmallBytes;
}

/// With the atomic mode that is in force. `small` is what the whole copy is when this is a part of it.
void copy_now(Block& block, const AivEmuCopy& copy, bool small, const void* place);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_COPIES_H
