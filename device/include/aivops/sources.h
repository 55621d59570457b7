// Where the same elements of every rank lie in this step, for folding them: the own ones in the input, those of the
// peers in their stages.
#ifndef AIVOPS_SOURCES_H
#define AIVOPS_SOURCES_H

#include "aivops/lane.h"

namespace aivops {

template <typename T>
struct Sources {
    const Lane& lane;
    __gm__ T* own;
    uint64_t staged; // elements before them in every peer's stage

    __aicore__ inline __gm__ T* operator()(uint32_t rank) const {
        return rank == lane.rank() ? own : lane.stage<T>(rank) + staged;
    }
};

} // namespace aivops

#endif // AIVOPS_SOURCES_H
