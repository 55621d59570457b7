// The happens-before detector of strict mode. Each pipe of each vector core is an actor with a clock; barriers, events,
// SyncAll, flags in GM and the order of launches pass knowledge on; two accesses to the same bytes, one of them a
// write, race when neither actor can know that the other is done. race_check.cpp has the clocks and UB, gm_races.cpp
// GM.
#ifndef AIVOPS_MACHINE_RACE_CHECK_H
#define AIVOPS_MACHINE_RACE_CHECK_H

#include "contract/contract.h"
#include "knowledge.h"
#include "memory.h"
#include "piecewise.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace aivops::machine {

/// The pipes of an AIV core, numbered densely. Each is an actor; of the scalar unit that is what it writes, because
/// what it reads is over when it goes on, and so is an actor of its own.
enum class Lane : uint8_t { kScalar, kVector, kLoad, kStore };
constexpr uint32_t kLanes = 4;
constexpr uint32_t kScalarReads = kLanes;
static_assert(kActorsPerCore == kLanes + 1);
Lane lane_of(uint32_t pipe);

/// Who made an access, for reports. Interned: a pointer stays good for ever.
struct AccessOrigin {
    std::string kernel;
    uint32_t device;
    uint32_t block;
};
const AccessOrigin* origin_of(const std::string& kernel, uint32_t device, uint32_t block);

/// The launch that an access is part of.
struct LaunchOrigin {
    uint64_t number; // of the process's launches
    uint32_t stream; // its id
};

/// One access in a report.
struct Access {
    const char* name = nullptr; // the API
    const AccessOrigin* origin = nullptr;
    const void* place = nullptr;
    bool write = false;
    LaunchOrigin launch{}; // of an access to GM
};
std::string describe(const Access& access);

/// Two accesses that nothing orders, or what flags have to do with that.
struct Race {
    std::string text;
    const void* place; // of the second, as far as there is an order
    Access other;      // the first
    uint32_t category = AIVOPS_EMU_RACECHECK;
};

/// A read of a small piece of GM: a look at a flag, or at data that happens to be small? Flags are looked at again
/// while they are not set, and by the scalar unit; data goes on to other pipes.
struct Look {
    Access access;
    bool inspected = false; // by the scalar unit
    bool consumed = false;  // by another pipe
    bool over = false;      // the block has ended
    bool outdated = false;  // it got what was there before a write that nothing orders with it
    bool kept_back = false; // it got what was there before a store that the data cache of another core keeps
    std::optional<Race> suspect;
    Address suspect_at = 0; // granule
    // As a look at a flag.
    uint32_t issue = 0;
    bool again = false;             // the block went on looking, and did nothing else that others can see
    bool passed = false;            // the block went on
    std::optional<Race> taken_back; // what it found, before it is known to have found that
};

/// A wait that goes on with the very value that an earlier one went on with.
struct StalePoll {
    Access poll;
    Address flag;
    uint32_t value;
    Access write;
    uint64_t launch; // of the write
};

/// An update of elements in GM: its operation and type, because only equal ones come out the same in any order. The
/// scalar unit's are made for flags.
using Update = uint32_t;
constexpr Update kNoUpdate = 0;
constexpr Update kScalarUpdate = ~Update{0};
Update update_of(uint32_t atomic, uint32_t type);

/// What one instruction does to GM.
struct GmTouch {
    Lane lane;
    Address gm;
    uint64_t bytes;
    bool small; // so it may be a flag
    const char* name;
    const void* place;
    Update update = kNoUpdate;
    bool again = false;  // the block has read this before, and done nothing since that others can see
    bool cached = false; // a store that stays in the data cache until its line is cleaned
};

/// The clocks of one block, and what happened to its unified buffer.
class BlockRaces {
  public:
    struct Clock {
        Knowledge known;                            // of all actors
        std::array<uint32_t, kActorsPerCore> own{}; // of this block's, ahead of `known`
    };
    struct Issue {
        Clock clock;     // what the scalar unit knew
        uint32_t number; // in the order of the program
    };

    BlockRaces(uint32_t device, uint32_t core, uint32_t ub_bytes);

    /// A block starts on this core, knowing what its launch knows.
    void start(const AccessOrigin* origin, LaunchOrigin launch, Knowledge known);
    /// Adds what is known once all of the block is done.
    void gather_done(Gathering& all) const;

    // One instruction: issued, begun on its lane when it is done, then its accesses.
    Issue issue() { return {clock(Lane::kScalar), ++issues_}; }
    void begin(Lane lane, const Issue& issue);
    /// Before an instruction that may work in place notes what it reads: whether it writes what an earlier one of its
    /// pipe may still read.
    std::optional<Race> ub_overtakes(Lane lane, uint32_t ub, uint32_t bytes, const char* name, const void* place) const;
    std::optional<Race> ub_access(Lane lane, uint32_t ub, uint32_t bytes, bool write, const char* name,
                                  const void* place);
    /// `content` is what was read; nullptr for a read that is part of a change. A small piece may still be as it was
    /// before writes that nothing orders with the read: it becomes the oldest that the block may find.
    std::optional<Race> gm_read(const GmTouch& touch, uint8_t* content);
    /// Whether the latest small read would have found what the data cache of another core keeps back.
    bool kept_back() const { return look_ != nullptr && look_->kept_back; }
    /// A small read has come to UB.
    void looked_into(uint32_t ub, uint32_t bytes);
    /// Before the bytes change. `content` is what they change to, nullptr where that is not known.
    std::optional<Race> gm_write(const GmTouch& touch, const uint8_t* content);
    /// Before a store through the data cache, which is written back in whole lines.
    std::optional<Race> line_store(const GmTouch& touch);
    /// The data cache writes back from this byte on to the end of its line, as what the scalar unit has begun: what it
    /// has stored there is seen from now on by whoever comes after this. `stopped`: because the block was.
    void clean(Address from, bool stopped);
    /// What the data cache may have taken as the content of a line, instead of what memory holds now: the oldest.
    void oldest_line(Address line, uint8_t* content) const;
    // What the kernel does through pointers of its own shows when it cleans the line, or the whole cache. Stores of its
    // own are told to others then, and it learns what others have told. `publish_line` says whether the line has
    // changed. A load that the machine sees next finds for itself what it may know, and so `forget_line` takes back
    // what the cleaning before it has told.
    bool publish_line(Address line);
    void see_line(Address line);
    void forget_line(Address gm);
    void publish_cache();
    void see_cache();
    /// At the end of the block: a read that proved to be one of data.
    std::optional<Race> unanswered_look();

    // What orders.
    void barrier(Lane lane);
    void barrier_all();
    void set_flag(uint32_t source, uint32_t destination, uint32_t id);
    bool flag_is_set(uint32_t source, uint32_t destination, uint32_t id) const;
    void wait_flag(uint32_t source, uint32_t destination, uint32_t id);
    void learn_all(const Knowledge& knowledge); // SyncAll: every lane knows it, and what it knew before is part of it
    // Cross-core flags: what is done on one lane, and that a lane knows it.
    Knowledge done_on(Lane lane);
    void learn(Lane lane, const Knowledge& knowledge);

  private:
    struct UbPast { // of a piece of UB
        struct Done {
            uint32_t epoch = 0;
            uint32_t issue = 0;
            const char* name = nullptr;
            const void* place = nullptr;
            bool operator==(const Done&) const = default;
        };
        Done write;
        std::array<Done, kLanes> reads{};
        Lane write_lane = Lane::kScalar;
        std::shared_ptr<Look> look; // that has come there
        bool operator==(const UbPast&) const = default;
    };

    Clock& clock(Lane lane) { return clocks_[static_cast<size_t>(lane)]; }
    const Clock& clock(Lane lane) const { return clocks_[static_cast<size_t>(lane)]; }
    uint32_t actor(Lane lane) const { return first_actor_ + static_cast<uint32_t>(lane); }
    uint32_t reader(Lane lane) const { return lane == Lane::kScalar ? first_actor_ + kScalarReads : actor(lane); }
    uint32_t epoch(Lane lane) const { return issued_[static_cast<size_t>(lane)]; }
    bool knows(Lane lane, uint32_t actor, uint32_t epoch) const;
    void join_into(Clock& clock, const Clock& other) const;
    Knowledge published(const Clock& clock) const;
    Clock done(Lane lane) const;
    void acquire(Lane lane, const Knowledge& knowledge);
    uint64_t end_of_ub(uint64_t ub, uint64_t bytes) const;
    Race ub_race(uint64_t granule, Lane done_lane, const UbPast::Done& done, bool done_writes, Lane lane,
                 const Access& now) const;
    std::optional<Race> consume(Look& look, Lane lane);
    void look_at(struct GmCell& cell, Address granule, const GmTouch& touch, uint8_t* content,
                 const std::shared_ptr<Look>& look, Knowledge& acquired);
    std::optional<Race> take_back(struct GmCell& cell, const GmTouch& touch, const Access& now);
    std::optional<Race> leave_polls(uint32_t issue);
    std::optional<Race> overwrites_line(const GmTouch& touch, const Access& now) const;

    const uint32_t first_actor_;
    const uint32_t granules_; // of UB
    const AccessOrigin* origin_ = nullptr;
    LaunchOrigin launch_{};
    std::array<Clock, kLanes> clocks_;
    std::array<Clock, kLanes> learned_; // what the instructions of a lane knew: for whoever waits for them
    Clock now_;                         // of the instruction that is being done,
    uint32_t now_issue_ = 0;            // and its number
    uint32_t issues_ = 0;
    std::array<uint32_t, kActorsPerCore> issued_{}; // never goes back, so epochs of earlier blocks stay distinct
    std::array<uint32_t, kActorsPerCore> before_{}; // what had been issued when the block started
    Piecewise<UbPast> ub_;                          // by granule
    std::map<uint32_t, std::deque<Clock>> events_;  // set and not waited for, by source, destination and id

    std::shared_ptr<Look> look_;               // the latest
    std::vector<std::shared_ptr<Look>> looks_; // with a suspect
    std::unordered_map<Address, std::shared_ptr<Look>> looks_by_granule_;
    std::vector<std::shared_ptr<Look>> last_looks_; // since the block last wrote, of each wait
    std::shared_ptr<const StalePoll> stale_;        // the latest wait, if it was such a one

    struct SeenLine {
        Address line;
        Knowledge before; // of the scalar unit
        Knowledge after;
    };
    std::optional<SeenLine> seen_line_; // the latest
};

/// Forgets what happened to memory that is allocated anew or freed.
void forget_accesses(const Range& range);

/// Who wrote a flag last, as far as that is tracked, and whether the writer's data cache still keeps it.
std::string describe_writer(Address gm);
/// Whether somebody polls this piece of GM.
bool is_flag(Address gm);
/// A poll of this piece of GM: it is a flag from now on. Text when the flag has been set to the value that it had.
std::optional<std::string> note_poll(Address gm, uint64_t bytes, const void* place);
/// A flag is about to be written. Text when it is known to be one and gets the value that it has.
std::optional<std::string> check_flag_value(Address gm, const void* value, uint64_t bytes);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_RACE_CHECK_H
