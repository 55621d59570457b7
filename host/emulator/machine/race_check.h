// The happens-before detector of strict mode. Each pipe of each vector core is an actor with a clock; barriers, events,
// SyncAll, flags in GM and the order of launches pass knowledge on; two accesses to the same bytes, one of them a
// write, race when neither actor can know that the other is done.
#ifndef AIVOPS_MACHINE_RACE_CHECK_H
#define AIVOPS_MACHINE_RACE_CHECK_H

#include "contract/contract.h"
#include "memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace aivops::machine {

/// The pipes of an AIV core, numbered densely.
enum class Lane : uint8_t { kScalar, kVector, kLoad, kStore };
constexpr uint32_t kLanes = 4;
Lane lane_of(uint32_t pipe);

/// What an actor knows to be done, by actor. Shared and never changed: most joins are of one with itself.
using Knowledge = std::shared_ptr<const std::vector<uint32_t>>;
Knowledge join(const Knowledge& left, const Knowledge& right);

/// What is known to be done at a point that others wait for: the end of a stream, an event, a return to the host.
class Ordering {
  public:
    Knowledge known() const {
        std::lock_guard lock(mutex_);
        return known_;
    }
    void learn(const Knowledge& knowledge) {
        std::lock_guard lock(mutex_);
        known_ = join(known_, knowledge);
    }

  private:
    mutable std::mutex mutex_;
    Knowledge known_;
};

/// What the program has waited for, and so everything that it submits from then on comes after. One for all threads:
/// how they order one another is not seen.
Ordering& host_ordering();

/// Who made an access, for reports. Interned: a pointer stays good for ever.
struct AccessOrigin {
    std::string kernel;
    uint32_t device;
    uint32_t block;
};
const AccessOrigin* origin_of(const std::string& kernel, uint32_t device, uint32_t block);

/// One access in a report.
struct Access {
    const char* name = nullptr; // the API
    const AccessOrigin* origin = nullptr;
    const void* place = nullptr;
    bool write = false;
};

/// The clocks of one block, and what happened to its unified buffer. Found races are returned as text.
class BlockRaces {
  public:
    BlockRaces(uint32_t device, uint32_t core, uint32_t ub_bytes);

    /// A block starts on this core, knowing what its launch knows.
    void start(const AccessOrigin* origin, Knowledge launch);
    /// What is known once all of the block is done.
    Knowledge all_done() const;

    // One instruction: issued on a lane, then its accesses.
    void issue(Lane lane);
    std::optional<std::string> ub_access(Lane lane, uint32_t ub, uint32_t bytes, bool write, const char* name,
                                         const void* place);
    std::optional<std::string> gm_access(Lane lane, Address gm, uint64_t bytes, bool write, bool atomic, bool flag,
                                         const char* name, const void* place);

    /// A store of the scalar unit that its data cache takes. Text when another core has the line in its own.
    std::optional<std::string> line_store(Address gm, const char* name, const void* place);

    // What orders.
    void barrier(uint32_t pipe);
    void set_flag(uint32_t source, uint32_t destination, uint32_t id);
    void wait_flag(uint32_t source, uint32_t destination, uint32_t id);
    void learn(const Knowledge& knowledge);                // SyncAll: every lane knows it
    void learn(uint32_t pipe, const Knowledge& knowledge); // a cross-core flag that this pipe has waited for
    /// What is done once a pipe has done all that was issued on it.
    Knowledge done(uint32_t pipe) const;

  private:
    struct Clock {
        Knowledge known;                  // of all actors
        std::array<uint32_t, kLanes> own; // of this block's lanes, ahead of `known`
    };
    struct UbCell {
        uint32_t write_epoch;
        std::array<uint32_t, kLanes> read_epochs;
        Lane write_lane;
        const char* write_name;
        const void* write_place;
        const char* read_name; // of the latest read
        const void* read_place;
    };

    uint32_t actor(Lane lane) const { return first_actor_ + static_cast<uint32_t>(lane); }
    bool knows(Lane lane, uint32_t actor, uint32_t epoch) const;
    void join_into(Clock& clock, const Clock& other) const;
    Clock behind(uint32_t pipe) const;
    Knowledge published(const Clock& clock) const;
    uint32_t epoch(Lane lane) const { return issued_[static_cast<size_t>(lane)]; }

    const uint32_t first_actor_;
    const uint32_t granules_; // of UB; their cells are made when the core first runs a block
    const AccessOrigin* origin_ = nullptr;
    std::array<Clock, kLanes> clocks_;
    std::array<uint32_t, kLanes> issued_{}; // never goes back, so epochs of earlier blocks stay distinct
    std::array<uint32_t, kLanes> before_{}; // what had been issued when the block started; UB knows nothing of that
    std::vector<UbCell> ub_;
    std::map<uint32_t, Clock> events_; // by source, destination and id
};

/// Forgets what happened to memory that is allocated anew or freed.
void forget_accesses(const Range& range);

/// A poll of this piece of GM: it is a flag from now on.
void note_poll(Address gm);
/// A flag is about to be written. Text when it gets the value that it has.
std::optional<std::string> check_flag_value(Address gm, const void* value, uint64_t bytes);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_RACE_CHECK_H
