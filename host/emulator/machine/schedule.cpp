#include "schedule.h"

#include "block.h"
#include "settings.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace aivops::machine {
namespace {

constexpr uint64_t kPriorityEvery = 8;  // one seed of so many runs by priorities
constexpr uint64_t kBlockChange = 256;  // there, one turn of so many puts the block back,
constexpr uint64_t kDeviceChange = 512; // or the device
constexpr uint32_t kEagerness[] = {0, 1, 4, 7};

} // namespace

Schedule::Schedule(uint64_t seed) : seed_(seed), dice_(seed, 0), order_(settings().devices) {
    std::iota(order_.begin(), order_.end(), 0u);
    if (settings().sweep) {
        sweeps_ = true;
        if (const uint64_t held = *settings().sweep; held < order_.size()) {
            held_device_ = held;
            order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(held));
            order_.push_back(static_cast<uint32_t>(held));
        } else {
            held_place_ = held - order_.size();
        }
        return;
    }
    priorities_ = seed % kPriorityEvery == kPriorityEvery - 1;
    for (size_t left = order_.size(); left > 1; --left) {
        std::swap(order_[left - 1], order_[dice_.below(left)]);
    }
}

std::span<const uint32_t> Schedule::devices_in_turn() {
    std::span<uint32_t> taking_turns = order_;
    if (held_device_ != kNone) {
        taking_turns = taking_turns.first(order_.size() - 1);
    }
    if (!taking_turns.empty()) {
        if (!priorities_) {
            std::swap(taking_turns.front(), taking_turns[dice_.below(taking_turns.size())]);
        } else if (dice_.one_in(kDeviceChange)) {
            std::rotate(taking_turns.begin(), taking_turns.begin() + 1, taking_turns.end());
        }
    }
    return desperate_ ? std::span<const uint32_t>(order_) : taking_turns;
}

size_t Schedule::choose(std::span<Block* const> blocks) {
    if (!priorities_) {
        return dice_.below(blocks.size());
    }
    const auto first = std::max_element(blocks.begin(), blocks.end(), [](const Block* left, const Block* right) {
        return left->priority < right->priority;
    });
    if (dice_.one_in(kBlockChange)) {
        put_back(**first);
    }
    return static_cast<size_t>(first - blocks.begin());
}

void Schedule::put_back(Block& block) {
    block.priority = --lowest_;
}

void Schedule::rank(Block& block) {
    block.priority = (uint64_t{1} << 62) + dice_.below(uint64_t{1} << 62);
}

uint32_t Schedule::draw_eagerness(Dice& dice) const {
    if (sweeps_) {
        return kEager;
    }
    return priorities_ ? kEager * static_cast<uint32_t>(dice.below(2)) : kEagerness[dice.below(std::size(kEagerness))];
}

uint32_t Schedule::place(const std::string& kernel, uint64_t offset) {
    return places_.try_emplace({kernel, offset}, places()).first->second;
}

Schedule& schedule() {
    static Schedule& instance = *new Schedule(settings().seed);
    return instance;
}

void begin_schedule(uint64_t seed) {
    schedule() = Schedule(seed);
}

} // namespace aivops::machine
