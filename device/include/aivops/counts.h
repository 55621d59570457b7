// Numbers of elements that differ by rank. Kernels take them by value, so a launch freezes nothing that the host owns.
// Plain structures without Ascend C, because the host fills them in.
#ifndef AIVOPS_COUNTS_H
#define AIVOPS_COUNTS_H

#include "aivops/window_layout.h"

namespace aivops {

/// One number per rank, the same on all ranks.
struct RankCounts {
    uint64_t of[kMaxRanks];
};

/// What one rank exchanges with every other, and the longest message that any two ranks exchange.
struct ExchangeCounts {
    uint64_t sent_to[kMaxRanks];
    uint64_t received_from[kMaxRanks];
    uint64_t longest;
};

} // namespace aivops

#endif // AIVOPS_COUNTS_H
