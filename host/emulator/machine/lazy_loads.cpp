#include "lazy_loads.h"

#include "block.h"

#include <cstring>

namespace aivops::machine {

void LazyLoads::put_off(uint32_t ub, const uint8_t* from, uint32_t bytes) {
    forget(ub, bytes);
    if (count_ == loads_.size()) {
        happen(loads_[0]);
        drop(0);
    }
    loads_[count_++] = {ub, bytes, from};
}

const uint8_t* LazyLoads::read(uint32_t ub, uint32_t bytes) {
    for (uint32_t index = 0; index < count_; ++index) {
        const Load& load = loads_[index];
        if (load.ub <= ub && uint64_t{ub} + bytes <= uint64_t{load.ub} + load.bytes) {
            return load.from + (ub - load.ub);
        }
    }
    settle(ub, bytes);
    return block_.ub + ub;
}

void LazyLoads::forget(uint32_t ub, uint32_t bytes) {
    for (uint32_t index = 0; index < count_;) {
        const Load& load = loads_[index];
        if (!load.overlaps(ub, bytes)) {
            ++index;
            continue;
        }
        if (load.ub < ub || uint64_t{ub} + bytes < uint64_t{load.ub} + load.bytes) {
            happen(load); // the rest of it stays
        }
        drop(index);
    }
}

template <typename Condition>
void LazyLoads::settle_if(Condition condition) {
    for (uint32_t index = 0; index < count_;) {
        if (condition(loads_[index])) {
            happen(loads_[index]);
            drop(index);
        } else {
            ++index;
        }
    }
}

void LazyLoads::settle_sources(const uint8_t* gm, uint64_t bytes) {
    settle_if([=](const Load& load) { return gm < load.from + load.bytes && load.from < gm + bytes; });
}

void LazyLoads::settle_overlapping(uint32_t ub, uint32_t bytes) {
    settle_if([=](const Load& load) { return load.overlaps(ub, bytes); });
}

void LazyLoads::happen(const Load& load) {
    InCopy faults(block_);
    std::memcpy(block_.ub + load.ub, load.from, load.bytes);
}

} // namespace aivops::machine
