// What kernels ask of counts that differ by rank: where a rank's elements begin, and the longest of all.
#ifndef AIVOPS_RANK_COUNTS_H
#define AIVOPS_RANK_COUNTS_H

#include "kernel_operator.h"

#include "aivops/counts.h"

namespace aivops {

__aicore__ inline uint64_t before(const RankCounts& counts, uint32_t rank) {
    uint64_t sum = 0;
    for (uint32_t lower = 0; lower < rank; ++lower) {
        sum += counts.of[lower];
    }
    return sum;
}

__aicore__ inline uint64_t longest(const RankCounts& counts, uint32_t ranks) {
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        most = counts.of[rank] > most ? counts.of[rank] : most;
    }
    return most;
}

} // namespace aivops

#endif // AIVOPS_RANK_COUNTS_H
