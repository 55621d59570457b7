// Where the same elements of every rank lie, for folding them where their owners registered them.
#ifndef AIVOPS_REGISTERED_SOURCES_H
#define AIVOPS_REGISTERED_SOURCES_H

#include "aivops/regions.h"

namespace aivops {

template <typename T>
class RegisteredSources {
  public:
    // Waits for every peer and finds the array that it announced; false when the call cannot go on. `own` is what this
    // rank announced.
    __aicore__ inline bool wait_all(const Lane& lane, Regions& regions, __gm__ T* own) {
        arrays_[lane.rank()] = own;
        for (uint32_t turn = 1; turn < lane.size(); ++turn) {
            const uint32_t peer = lane.peer(turn);
            arrays_[peer] = regions.wait<T>(peer);
            if (arrays_[peer] == nullptr) {
                return false;
            }
        }
        return true;
    }

    // Begins at element `begin` of every array from here on.
    __aicore__ inline void begin_at(uint64_t begin) { begin_ = begin; }

    __aicore__ inline __gm__ T* operator()(uint32_t rank) const { return arrays_[rank] + begin_; }

  private:
    __gm__ T* arrays_[kMaxRanks];
    uint64_t begin_ = 0;
};

} // namespace aivops

#endif // AIVOPS_REGISTERED_SOURCES_H
