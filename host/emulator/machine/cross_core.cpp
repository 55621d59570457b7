#include "cross_core.h"

#include <algorithm>

namespace aivops::machine {

CrossCoreFlags::Flag& CrossCoreFlags::flag(uint32_t id) {
    Flag& flag = flags_[id];
    flag.sets.resize(blocks_);
    flag.waits.resize(blocks_);
    return flag;
}

bool CrossCoreFlags::set(uint32_t block, uint32_t mode, uint32_t id, Knowledge done, const void* place) {
    Flag& set = flag(id);
    if (set.place == nullptr) {
        set.mode = mode;
    }
    set.place = place;
    set.sets[block].push_back(std::move(done));
    return set.mode == mode;
}

void CrossCoreFlags::wait(uint32_t block, uint32_t id) {
    ++flag(id).waits[block];
}

CrossCoreFlags::Group CrossCoreFlags::group(uint32_t block, uint32_t mode) const {
    const uint32_t pair = block / 2 * 2;
    return mode == 1 ? Group{pair, std::min(pair + 2, blocks_)} : Group{0, blocks_};
}

bool CrossCoreFlags::is_set(uint32_t block, uint32_t id) const {
    return missing(block, id) == group(block, mode(id)).end;
}

uint32_t CrossCoreFlags::missing(uint32_t block, uint32_t id) const {
    const Flag& flag = flags_[id];
    const auto [first, end] = group(block, flag.mode);
    const auto late = std::find_if(flag.sets.begin() + first, flag.sets.begin() + end,
                                   [&](const auto& sets) { return sets.size() < flag.waits[block]; });
    return static_cast<uint32_t>(late - flag.sets.begin());
}

Knowledge CrossCoreFlags::passed_on(uint32_t block, uint32_t id) const {
    const Flag& flag = flags_[id];
    const auto [first, end] = group(block, flag.mode);
    Knowledge all;
    for (uint32_t other = first; other < end; ++other) {
        all = join(all, flag.sets[other][flag.waits[block] - 1]);
    }
    return all;
}

bool CrossCoreFlags::uses_those_of_sync_all() const {
    for (uint32_t id = 0; id < kIds; ++id) {
        if (is_of_sync_all(id) && !flags_[id].sets.empty()) {
            return true;
        }
    }
    return false;
}

std::optional<CrossCoreFlags::Leftover> CrossCoreFlags::leftover() const {
    for (uint32_t id = 0; id < kIds; ++id) {
        const Flag& flag = flags_[id];
        for (uint32_t block = 0; block < flag.sets.size(); ++block) {
            if (flag.sets[block].size() != flag.waits[block]) {
                return Leftover{id, block, flag.sets[block].size(), flag.waits[block], flag.place};
            }
        }
    }
    return std::nullopt;
}

} // namespace aivops::machine
