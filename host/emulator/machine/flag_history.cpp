#include "flag_history.h"

#include <algorithm>
#include <utility>

namespace aivops::machine {

const FlagHistory::Reader* FlagHistory::reader(const AccessOrigin& origin) const {
    const auto found = std::find_if(readers_.begin(), readers_.end(),
                                    [&](const Reader& reader) { return reader.is_block_of(origin); });
    return found != readers_.end() ? &*found : nullptr;
}

void FlagHistory::look(Reader reader) {
    std::erase_if(readers_, [&](const Reader& other) { return other.is_block_of(*reader.access.origin); });
    readers_.push_back(std::move(reader));
}

void FlagHistory::write(Write write, uint32_t mask, const Content& content) {
    if (!holds(write.before)) {
        forget();
    }
    latest_ = write.before;
    for (uint32_t byte = 0; byte < kGranule; ++byte) {
        if ((mask & (1u << byte)) != 0) {
            latest_[byte] = content[byte];
        }
    }
    if (write.kept && !writes_.empty() && writes_.back().kept && writes_.back().actor == write.actor) {
        write.before = writes_.back().before;
        write.released = std::move(writes_.back().released);
        writes_.back() = std::move(write);
        return;
    }
    writes_.push_back(std::move(write));
    // What every reader has left behind, but for the write that led to what it found.
    uint64_t needed = writes_.size() > kKept ? latest() - kKept : first_;
    if (!readers_.empty()) {
        const auto last =
            std::min_element(readers_.begin(), readers_.end(),
                             [](const Reader& left, const Reader& right) { return left.state < right.state; });
        needed = std::max(needed, last->state - std::min<uint64_t>(last->state, 1));
    }
    while (first_ < needed) {
        writes_.pop_front();
        ++first_;
    }
}

uint64_t FlagHistory::latest_shown_to(uint32_t scalar_actor) const {
    const auto kept = std::find_if(writes_.begin(), writes_.end(), [scalar_actor](const Write& write) {
        return write.kept && write.actor != scalar_actor;
    });
    return first_ + static_cast<uint64_t>(kept - writes_.begin());
}

void FlagHistory::clean(uint32_t scalar_actor, uint32_t epoch, bool stopped) {
    for (Write& write : writes_) {
        if (write.kept && write.actor == scalar_actor) {
            write.kept = false;
            write.epoch = epoch;
            write.dropped = stopped;
        }
    }
}

void FlagHistory::forget() {
    first_ = latest() + 1;
    writes_.clear();
    readers_.clear();
}

} // namespace aivops::machine
