#include "cross_core.h"

#include <algorithm>

namespace aivops::machine {

void CrossCoreFlags::set(uint32_t block, uint32_t id, Knowledge done) {
    sets_[id].resize(blocks_);
    sets_[id][block].push_back(std::move(done));
}

CrossCoreFlags::Group CrossCoreFlags::group(uint32_t block, uint32_t mode) const {
    const uint32_t pair = block / 2 * 2;
    return mode == 1 ? Group{pair, std::min(pair + 2, blocks_)} : Group{0, blocks_};
}

bool CrossCoreFlags::is_set(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const {
    const auto [first, end] = group(block, mode);
    return !sets_[id].empty() && std::all_of(sets_[id].begin() + first, sets_[id].begin() + end,
                                             [&](const auto& sets) { return sets.size() >= times; });
}

uint32_t CrossCoreFlags::missing(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const {
    const auto [first, end] = group(block, mode);
    for (uint32_t other = first; other < end; ++other) {
        if (sets_[id].empty() || sets_[id][other].size() < times) {
            return other;
        }
    }
    return end;
}

Knowledge CrossCoreFlags::passed_on(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const {
    const auto [first, end] = group(block, mode);
    Knowledge all;
    for (uint32_t other = first; other < end; ++other) {
        all = join(all, sets_[id][other][times - 1]);
    }
    return all;
}

} // namespace aivops::machine
