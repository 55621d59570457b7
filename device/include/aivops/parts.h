// A message cut into one part per rank, and what a lane moves of a part in one step.
// Parts are equal where the ranks divide the message; otherwise the last ones are shorter or empty.
#ifndef AIVOPS_PARTS_H
#define AIVOPS_PARTS_H

#include "aivops/lane.h"

namespace aivops {

struct Piece {
    uint64_t offset; // in the whole message
    uint64_t length;
};

struct Parts {
    uint64_t count;  // elements of the message
    uint64_t length; // of a full part

    __aicore__ inline Parts(uint64_t count, uint32_t ranks) : count(count), length((count + ranks - 1) / ranks) {}

    // `share` is this lane's share of a full part.
    __aicore__ inline Piece piece(uint32_t part, const Share& share, uint64_t step) const {
        const uint64_t begin = part * length;
        return Piece{begin + share.offset(step), share.length(step, begin < count ? count - begin : 0)};
    }
};

} // namespace aivops

#endif // AIVOPS_PARTS_H
