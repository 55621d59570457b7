// The small writes to one granule of GM, and which of them its readers have seen: what a flag was, who may still find
// that, and what each of its values tells. A reader may find any state that it does not know to be over, and none that
// is older than what it found before.
#ifndef AIVOPS_MACHINE_FLAG_HISTORY_H
#define AIVOPS_MACHINE_FLAG_HISTORY_H

#include "race_check.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace aivops::machine {

// What a flag tells whoever reads these of its bytes.
struct Release {
    uint32_t mask;
    Knowledge knowledge;
};
using Releases = std::vector<Release>;

class FlagHistory {
  public:
    static constexpr uint32_t kGranule = 32;
    using Content = std::array<uint8_t, kGranule>;

    struct Write {
        Access access;
        uint64_t launch;
        uint32_t actor;
        uint32_t epoch;       // of the store; once a data cache has let go of it, of that cleaning
        Content before;       // of the whole granule
        Releases released;    // until then
        bool kept;            // in the data cache of its core, where no other finds it
        bool dropped = false; // with the block that was stopped before it cleaned it
    };

    // The latest look of one block of a device at the flag.
    struct Reader {
        Access access;
        uint64_t launch;
        uint32_t actor;
        uint32_t epoch;
        uint64_t state; // that it found
        uint32_t times; // that it has found it, in waits of its launch
        std::shared_ptr<Look> look;

        bool is_block_of(const AccessOrigin& origin) const {
            return access.origin->device == origin.device && access.origin->block == origin.block;
        }
    };

    /// The number of the state that the latest write has led to.
    uint64_t latest() const { return first_ + writes_.size(); }
    /// The write that has led to a state, or away from it; nullptr where that is forgotten, or has not come.
    const Write* before(uint64_t state) const { return state > first_ ? at(state - 1) : nullptr; }
    const Write* after(uint64_t state) const { return at(state); }
    /// The latest that is not kept in the data cache of another core than the one whose scalar unit that actor is.
    uint64_t latest_shown_to(uint32_t scalar_actor) const;
    /// What that scalar unit has stored is in memory from this epoch on: the kernel has cleaned it, or its block has
    /// ended or was stopped.
    void clean(uint32_t scalar_actor, uint32_t epoch, bool stopped);
    /// What the granule holds in a state that is over.
    const Content& content(uint64_t state) const { return at(state)->before; }

    /// The oldest state that a reader may find: `knows(actor, epoch)` tells what it comes after.
    template <typename Knows>
    uint64_t oldest_visible(Knows knows) const {
        uint64_t oldest = first_;
        for (size_t index = 0; index < writes_.size(); ++index) {
            if (knows(writes_[index].actor, writes_[index].epoch)) {
                oldest = first_ + index + 1;
            }
        }
        for (const Reader& reader : readers_) {
            if (reader.state > oldest && knows(reader.actor, reader.epoch)) {
                oldest = reader.state;
            }
        }
        return oldest;
    }

    const std::vector<Reader>& readers() const { return readers_; }
    const Reader* reader(const AccessOrigin& origin) const;
    void look(Reader reader);

    /// Before a write of `content` to the bytes of `mask` of the granule, which is what `now` says. What a data cache
    /// keeps is one state, however often it is stored to.
    void write(Write write, uint32_t mask, const Content& content);
    /// What others than kernels have written, or what is not known in advance, ends the history.
    void forget();
    bool holds(const Content& now) const { return writes_.empty() || latest_ == now; }

  private:
    static constexpr size_t kKept = 8;

    const Write* at(uint64_t number) const {
        return number >= first_ && number < latest() ? &writes_[number - first_] : nullptr;
    }

    std::deque<Write> writes_; // oldest first
    uint64_t first_ = 0;       // the state before all of them
    Content latest_{};         // what the last one has left
    std::vector<Reader> readers_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_FLAG_HISTORY_H
