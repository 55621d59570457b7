// Who runs next in strict mode, and what is late: by seed, or by the place that a sweep holds back.
// Only for the thread that turns the engine, which all devices share then.
#ifndef AIVOPS_MACHINE_SCHEDULE_H
#define AIVOPS_MACHINE_SCHEDULE_H

#include "dice.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aivops::machine {

struct Block;

class Schedule {
  public:
    explicit Schedule(uint64_t seed);
    uint64_t seed() const { return seed_; }

    /// The devices in the order in which they may try: the first that can move has the turn. A device that is held back
    /// is missing until nothing else moves.
    std::span<const uint32_t> devices_in_turn();
    /// Which of a launch's blocks runs, of those that can.
    size_t choose(std::span<Block* const> blocks);
    /// Whether a block lets others run before its next instruction.
    bool gives_way() { return dice_.one_in(kTurnChances); }
    /// The block has looked in vain at what others must change.
    void put_back(Block& block);
    /// A block starts.
    void rank(Block& block);
    /// Of choosers that share the seed.
    uint64_t next_chooser() { return ++choosers_; }

    /// In how many of kEager turns of its block a pipe goes on, for a pipe of a block that starts; 0 is only when it
    /// must.
    uint32_t draw_eagerness(Dice& dice) const;
    static constexpr uint32_t kEager = 8;

    /// The number of an instruction, in the order in which the process first comes to them.
    uint32_t place(const std::string& kernel, uint64_t offset);
    /// Whether what is issued there is held back.
    bool holds(uint32_t place) const { return held_place_ == place; }
    bool sweeps() const { return sweeps_; }

    /// Nothing else moves: what is held back goes on, and so does what waits for a change that has not come.
    bool desperate() const { return desperate_; }
    void set_desperate(bool desperate) { desperate_ = desperate; }

    /// A block has changed something that others may wait for.
    void note_write() { ++writes_; }
    uint64_t writes() const { return writes_; }

    /// How many instructions the process has come to. A sweep holds back every device, then every instruction.
    uint32_t places() const { return static_cast<uint32_t>(places_.size()); }

  private:
    static constexpr uint64_t kTurnChances = 4;
    static constexpr uint64_t kNone = ~uint64_t{0};

    uint64_t seed_;
    Dice dice_;
    bool sweeps_ = false;
    bool priorities_ = false;
    uint64_t held_device_ = kNone;
    uint64_t held_place_ = kNone;
    bool desperate_ = false;
    std::vector<uint32_t> order_; // of devices; one that is held back is the last
    uint64_t choosers_ = 0;
    uint64_t writes_ = 0;
    uint64_t lowest_ = uint64_t{1} << 62;
    std::map<std::pair<std::string, uint64_t>, uint32_t> places_;
};

/// As AIVOPS_EMU_SEED says, until another one begins.
Schedule& schedule();
void begin_schedule(uint64_t seed);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_SCHEDULE_H
