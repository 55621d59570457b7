#include "race_check.h"

#include "report.h"
#include "settings.h"
#include "soc.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace aivops::machine {
namespace {

constexpr uint32_t kGranule = 32;
constexpr uint32_t kCacheLine = 64;             // of the scalar unit
constexpr uint32_t kNeedsVectorBarriers = 2201; // between vector instructions that depend on each other
constexpr uint32_t kEventIds = 64;              // of a pair of pipes
constexpr size_t kKeptAccesses = 8;             // per granule of GM

uint32_t actor_count() {
    return settings().devices * soc().vector_cores * kLanes;
}

Knowledge nothing() {
    static const Knowledge empty = std::make_shared<const std::vector<uint32_t>>(actor_count(), 0);
    return empty;
}

uint32_t event_number(uint32_t source, uint32_t destination, uint32_t id) {
    return (static_cast<uint32_t>(lane_of(source)) * kLanes + static_cast<uint32_t>(lane_of(destination))) * kEventIds +
           id;
}

// The bytes of a granule that an access touches, one bit each.
uint32_t mask_of(Address granule, Address begin, Address end) {
    const uint64_t from = begin > granule ? begin - granule : 0;
    const uint64_t to = std::min<uint64_t>(end - granule, kGranule);
    const uint32_t up_to = to == kGranule ? ~0u : (1u << to) - 1;
    return up_to & ~((1u << from) - 1);
}

struct GmAccess {
    Access access;
    uint32_t actor = 0;
    uint32_t epoch = 0;
    uint32_t mask = 0;
    bool atomic = false;
    bool flag = false;
};

struct GmCell {
    std::vector<GmAccess> accesses;
    Knowledge released; // what the flag in this granule tells whoever reads it
};

// In strict mode one thread at a time runs blocks, and only blocks and allocations come here; the mutex is for the
// latter.
struct Shadow {
    std::mutex mutex;
    std::unordered_map<Address, GmCell> cells; // by granule number
    std::unordered_set<Address> polled;        // addresses of flags
    // By line number: the latest stores of scalar units through their caches, one per core.
    std::unordered_map<Address, std::vector<GmAccess>> lines;
};

Shadow& shadow() {
    static Shadow& instance = *new Shadow;
    return instance;
}

std::string describe(const Access& access) {
    return std::string(access.name) + (access.write ? " writing" : " reading") + " in kernel " + access.origin->kernel +
           " on device " + std::to_string(access.origin->device) + ", block " + std::to_string(access.origin->block) +
           ", at " + describe_place(access.place);
}

} // namespace

Lane lane_of(uint32_t pipe) {
    switch (pipe) {
    case AIVOPS_EMU_PIPE_V:
        return Lane::kVector;
    case AIVOPS_EMU_PIPE_MTE2:
        return Lane::kLoad;
    case AIVOPS_EMU_PIPE_MTE3:
        return Lane::kStore;
    default:
        return Lane::kScalar;
    }
}

Knowledge join(const Knowledge& left, const Knowledge& right) {
    if (left == right || !right) {
        return left;
    }
    if (!left) {
        return right;
    }
    auto joined = std::make_shared<std::vector<uint32_t>>(*left);
    bool changed = false;
    for (size_t index = 0; index < joined->size(); ++index) {
        changed |= (*right)[index] > (*joined)[index];
        (*joined)[index] = std::max((*joined)[index], (*right)[index]);
    }
    return changed ? Knowledge(std::move(joined)) : left;
}

Ordering& host_ordering() {
    static Ordering& instance = *new Ordering;
    return instance;
}

const AccessOrigin* origin_of(const std::string& kernel, uint32_t device, uint32_t block) {
    static std::mutex& mutex = *new std::mutex;
    static auto& origins = *new std::map<std::tuple<std::string, uint32_t, uint32_t>, AccessOrigin>;
    std::lock_guard lock(mutex);
    auto [found, added] = origins.try_emplace({kernel, device, block}, AccessOrigin{kernel, device, block});
    return &found->second;
}

BlockRaces::BlockRaces(uint32_t device, uint32_t core, uint32_t ub_bytes)
    : first_actor_((device * soc().vector_cores + core) * kLanes), granules_(ub_bytes / kGranule) {
}

void BlockRaces::start(const AccessOrigin* origin, Knowledge launch) {
    origin_ = origin;
    for (Clock& clock : clocks_) {
        clock = {launch ? launch : nothing(), {}};
    }
    before_ = issued_;
    events_.clear();
    ub_.resize(granules_);
}

bool BlockRaces::knows(Lane lane, uint32_t actor, uint32_t epoch) const {
    const Clock& clock = clocks_[static_cast<size_t>(lane)];
    if (actor == this->actor(lane) && epoch == issued_[static_cast<size_t>(lane)]) {
        return true; // the same instruction: in place, say
    }
    uint32_t known = (*clock.known)[actor];
    if (actor >= first_actor_ && actor < first_actor_ + kLanes) {
        known = std::max(known, clock.own[actor - first_actor_]);
    }
    // An instruction may write where it reads itself.
    return known >= epoch || (actor == this->actor(lane) && epoch == this->epoch(lane));
}

void BlockRaces::join_into(Clock& clock, const Clock& other) const {
    clock.known = join(clock.known, other.known);
    for (size_t lane = 0; lane < kLanes; ++lane) {
        clock.own[lane] = std::max(clock.own[lane], other.own[lane]);
    }
}

Knowledge BlockRaces::published(const Clock& clock) const {
    auto all = std::make_shared<std::vector<uint32_t>>(*clock.known);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        (*all)[first_actor_ + lane] = std::max((*all)[first_actor_ + lane], clock.own[lane]);
    }
    return all;
}

Knowledge BlockRaces::all_done() const {
    Clock all = clocks_[0];
    for (const Clock& clock : clocks_) {
        join_into(all, clock);
    }
    all.own = issued_;
    return published(all);
}

void BlockRaces::issue(Lane lane) {
    Clock& clock = clocks_[static_cast<size_t>(lane)];
    const Clock& scalar = clocks_[static_cast<size_t>(Lane::kScalar)];
    if (lane != Lane::kScalar) {
        // The scalar unit issues it, so it comes after all that the scalar unit has waited for; not after what the
        // scalar unit has written.
        const uint32_t scalar_writes = clock.own[static_cast<size_t>(Lane::kScalar)];
        join_into(clock, scalar);
        clock.own[static_cast<size_t>(Lane::kScalar)] = scalar_writes;
    }
    const uint32_t now = ++issued_[static_cast<size_t>(lane)];
    // The scalar unit finishes in order, and so does the vector unit of dav-c310-vec; the others only start so.
    if (lane == Lane::kScalar || (lane == Lane::kVector && soc().npu_arch != kNeedsVectorBarriers)) {
        clock.own[static_cast<size_t>(lane)] = now - 1;
    }
}

std::optional<std::string> BlockRaces::ub_access(Lane lane, uint32_t ub, uint32_t bytes, bool write, const char* name,
                                                 const void* place) {
    if (bytes == 0) {
        return std::nullopt;
    }
    std::optional<std::string> race;
    const size_t last = std::min<size_t>((ub + bytes - 1) / kGranule, ub_.size() - 1);
    for (size_t index = ub / kGranule; index <= last; ++index) {
        UbCell& cell = ub_[index];
        const Access now{name, origin_, place, write};
        auto report = [&](const char* other_name, const void* other_place, bool other_write) {
            if (!race) {
                race = std::string("nothing orders two accesses to UB at offset ") + std::to_string(index * kGranule) +
                       ": " + describe({other_name, origin_, other_place, other_write}) + "; then " + describe(now) +
                       "; set and wait for an event between their pipes, or use PipeBarrier<PIPE_ALL>()";
            }
        };
        for (uint32_t other = 0; write && other < kLanes; ++other) {
            if (cell.read_epochs[other] > before_[other] &&
                !knows(lane, first_actor_ + other, cell.read_epochs[other])) {
                report(cell.read_name, cell.read_place, false);
            }
        }
        if (cell.write_epoch > before_[static_cast<size_t>(cell.write_lane)] &&
            !knows(lane, actor(cell.write_lane), cell.write_epoch)) {
            report(cell.write_name, cell.write_place, true);
        }
        if (write) {
            cell.write_epoch = epoch(lane);
            cell.write_lane = lane;
            cell.write_name = name;
            cell.write_place = place;
            cell.read_epochs = {};
        } else if (lane != Lane::kScalar) { // a scalar read is over when the next instruction is issued
            cell.read_epochs[static_cast<size_t>(lane)] = epoch(lane);
            cell.read_name = name;
            cell.read_place = place;
        }
    }
    return race;
}

std::optional<std::string> BlockRaces::gm_access(Lane lane, Address gm, uint64_t bytes, bool write, bool atomic,
                                                 bool flag, const char* name, const void* place) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    Clock& clock = clocks_[static_cast<size_t>(lane)];
    Knowledge release = flag && write ? published(clock) : nullptr;
    Knowledge acquired;
    std::optional<std::string> race;
    for (Address granule = gm / kGranule; granule <= (gm + bytes - 1) / kGranule; ++granule) {
        GmCell& cell = all.cells[granule];
        const GmAccess now{{name, origin_, place, write},
                           actor(lane),
                           epoch(lane),
                           mask_of(granule * kGranule, gm, gm + bytes),
                           atomic,
                           flag};
        if (flag && !write) {
            acquired = join(acquired ? acquired : clock.known, cell.released);
        }
        for (const GmAccess& other : cell.accesses) {
            const bool conflict = (other.mask & now.mask) != 0 && (write || other.access.write) &&
                                  !(atomic && other.atomic) && !(flag && other.flag);
            if (conflict && !race && !knows(lane, other.actor, other.epoch)) {
                race = "nothing orders two accesses to GM at " + describe_address(std::max(gm, granule * kGranule)) +
                       ": " + describe(other.access) + "; then " + describe(now.access) +
                       "; a flag after a barrier, or SyncAll, must lie between them";
            }
        }
        std::erase_if(cell.accesses, [&](const GmAccess& other) {
            const bool covered = (other.mask & ~now.mask) == 0 && (write || !other.access.write);
            return covered && (knows(lane, other.actor, other.epoch) || other.actor == now.actor);
        });
        if (cell.accesses.size() == kKeptAccesses) {
            cell.accesses.erase(cell.accesses.begin());
        }
        cell.accesses.push_back(now);
        if (release) {
            cell.released = atomic ? join(cell.released, release) : release;
        }
    }
    if (acquired) {
        clock.known = acquired;
    }
    return race;
}

std::optional<std::string> BlockRaces::line_store(Address gm, const char* name, const void* place) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access access{name, origin_, place, true};
    std::vector<GmAccess>& stores = all.lines[gm / kCacheLine];
    const uint32_t scalar = actor(Lane::kScalar);
    for (const GmAccess& other : stores) {
        if (other.actor != scalar && !knows(Lane::kScalar, other.actor, other.epoch)) {
            return "two cores have stored to one cache line, " + describe_address(gm / kCacheLine * kCacheLine) +
                   " and the " + std::to_string(kCacheLine) + " bytes from there: " + describe(other.access) +
                   "; then " + describe(access) +
                   "; each core writes back the whole line, and one of the values is lost; keep what different cores "
                   "store in different lines";
        }
    }
    std::erase_if(stores, [&](const GmAccess& other) { return other.actor == scalar; });
    stores.push_back({access, scalar, epoch(Lane::kScalar), 0, false, false});
    return std::nullopt;
}

void BlockRaces::barrier(uint32_t pipe) {
    if (pipe != AIVOPS_EMU_PIPE_ALL) {
        const auto lane = static_cast<size_t>(lane_of(pipe));
        clocks_[lane].own[lane] = issued_[lane];
        return;
    }
    Clock all = clocks_[0];
    for (const Clock& clock : clocks_) {
        join_into(all, clock);
    }
    all.own = issued_;
    clocks_.fill(all);
}

// A flag is set when all that came before on its pipe is done.
BlockRaces::Clock BlockRaces::behind(uint32_t pipe) const {
    const auto lane = static_cast<size_t>(lane_of(pipe));
    Clock done = clocks_[lane];
    done.own[lane] = issued_[lane];
    return done;
}

void BlockRaces::set_flag(uint32_t source, uint32_t destination, uint32_t id) {
    events_[event_number(source, destination, id)] = behind(source);
}

Knowledge BlockRaces::done(uint32_t pipe) const {
    return published(behind(pipe));
}

void BlockRaces::wait_flag(uint32_t source, uint32_t destination, uint32_t id) {
    auto set = events_.find(event_number(source, destination, id));
    if (set != events_.end()) {
        join_into(clocks_[static_cast<size_t>(lane_of(destination))], set->second);
    }
}

void BlockRaces::learn(uint32_t pipe, const Knowledge& knowledge) {
    Clock& clock = clocks_[static_cast<size_t>(lane_of(pipe))];
    clock.known = join(clock.known, knowledge);
}

void BlockRaces::learn(const Knowledge& knowledge) {
    for (Clock& clock : clocks_) {
        clock.known = join(clock.known, knowledge);
    }
}

void forget_accesses(const Range& range) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Address first = range.begin / kGranule;
    const Address last = (range.end - 1) / kGranule;
    if (last - first < all.cells.size()) {
        for (Address granule = first; granule <= last; ++granule) {
            all.cells.erase(granule);
        }
    } else {
        std::erase_if(all.cells, [&](const auto& cell) { return cell.first >= first && cell.first <= last; });
    }
    std::erase_if(all.lines, [&](const auto& line) {
        return line.first >= range.begin / kCacheLine && line.first <= (range.end - 1) / kCacheLine;
    });
    std::erase_if(all.polled, [&](Address gm) { return range.contains(gm, 1); });
}

void note_poll(Address gm) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    all.polled.insert(gm);
}

std::optional<std::string> check_flag_value(Address gm, const void* value, uint64_t bytes) {
    {
        Shadow& all = shadow();
        std::lock_guard lock(all.mutex);
        if (!all.polled.contains(gm)) {
            return std::nullopt;
        }
    }
    const size_t compared = std::min<uint64_t>(bytes, sizeof(uint32_t));
    if (std::memcmp(reinterpret_cast<const void*>(gm), value, compared) != 0) {
        return std::nullopt;
    }
    uint32_t word = 0;
    std::memcpy(&word, value, compared);
    return "the flag at " + describe_address(gm) + " is set to " + hex(word) +
           ", the value that it has: whoever waits cannot tell this call from the one before; give each call its own "
           "tag";
}

} // namespace aivops::machine
