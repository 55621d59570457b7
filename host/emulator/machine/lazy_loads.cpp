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

void LazyLoads::settle_sources(const uint8_t* gm, uint64_t bytes) {
    for (uint32_t index = 0; index < count_;) {
        const Load& load = loads_[index];
        if (gm < load.from + load.bytes && load.from < gm + bytes) {
            happen(load);
            drop(index);
        } else {
            ++index;
        }
    }
}

void LazyLoads::settle_overlapping(uint32_t ub, uint32_t bytes) {
    for (uint32_t index = 0; index < count_;) {
        if (loads_[index].overlaps(ub, bytes)) {
            happen(loads_[index]);
            drop(index);
        } else {
            ++index;
        }
    }
}

void LazyLoads::happen(const Load& load) {
    InCopy faults(block_);
    std::memcpy(block_.ub + load.ub, load.from, load.bytes);
}

} // namespace aivops::machine
