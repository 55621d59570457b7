#include "race_check.h"

#include "block.h"
#include "report.h"
#include "settings.h"
#include "soc.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace aivops::machine {
namespace {

constexpr uint32_t kGranule = 32;
constexpr uint32_t kArchitectureWithoutVectorOrder = 2201; // its vector unit finishes out of order, as copy engines do

uint32_t event_number(uint32_t source, uint32_t destination, uint32_t id) {
    return (static_cast<uint32_t>(lane_of(source)) * kLanes + static_cast<uint32_t>(lane_of(destination))) *
               Events::kIds +
           id;
}

// As PipeBarrier names a pipe.
const char* barrier_name(Lane lane) {
    switch (lane) {
    case Lane::kVector:
        return "PIPE_V";
    case Lane::kLoad:
        return "PIPE_MTE2";
    case Lane::kStore:
        return "PIPE_MTE3";
    default:
        return "PIPE_ALL"; // the scalar unit, which has no barrier of its own
    }
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

const AccessOrigin* origin_of(const std::string& kernel, uint32_t device, uint32_t block) {
    static std::mutex& mutex = *new std::mutex;
    static auto& origins = *new std::map<std::tuple<std::string, uint32_t, uint32_t>, AccessOrigin>;
    std::lock_guard lock(mutex);
    auto [found, added] = origins.try_emplace({kernel, device, block}, AccessOrigin{kernel, device, block});
    return &found->second;
}

std::string describe(const Access& access) {
    return std::string(access.name) + (access.write ? " writing" : " reading") + " in kernel " + access.origin->kernel +
           " on device " + std::to_string(access.origin->device) + ", block " + std::to_string(access.origin->block) +
           ", at " + describe_place(access.place);
}

BlockRaces::BlockRaces(uint32_t device, uint32_t core, uint32_t ub_bytes)
    : first_actor_((device * soc().vector_cores + core) * kActorsPerCore), granules_(ub_bytes / kGranule) {
}

void BlockRaces::start(const AccessOrigin* origin, LaunchOrigin launch, Knowledge known) {
    origin_ = origin;
    launch_ = launch;
    for (Clock& clock : clocks_) {
        clock = {known ? known : nothing_known(), {}};
    }
    learned_ = clocks_;
    before_ = issued_;
    events_.clear();
    ub_.clear();
    look_.reset();
    looks_.clear();
    looks_by_granule_.clear();
    last_looks_.clear();
    stale_.reset();
    seen_line_.reset();
}

bool BlockRaces::knows(Lane lane, uint32_t actor, uint32_t epoch) const {
    if (actor == this->actor(lane) && epoch == this->epoch(lane)) {
        return true; // the same instruction: in place, say
    }
    if ((*now_.known)[actor] >= epoch) {
        return true;
    }
    // What earlier blocks of the core did is not of this one.
    const bool own = actor >= first_actor_ && actor < first_actor_ + kActorsPerCore;
    return own && epoch > before_[actor - first_actor_] && epoch <= now_.own[actor - first_actor_];
}

void BlockRaces::join_into(Clock& clock, const Clock& other) const {
    clock.known = join(clock.known, other.known);
    for (size_t actor = 0; actor < kActorsPerCore; ++actor) {
        clock.own[actor] = std::max(clock.own[actor], other.own[actor]);
    }
}

Knowledge BlockRaces::published(const Clock& clock) const {
    auto all = std::make_shared<std::vector<uint32_t>>(*clock.known);
    for (uint32_t actor = 0; actor < kActorsPerCore; ++actor) {
        (*all)[first_actor_ + actor] = std::max((*all)[first_actor_ + actor], clock.own[actor]);
    }
    return all;
}

void BlockRaces::gather_done(Gathering& all) const {
    for (size_t lane = 0; lane < kLanes; ++lane) {
        all.add(clocks_[lane].known);
        all.add(learned_[lane].known);
    }
    all.add(first_actor_, issued_);
}

void BlockRaces::begin(Lane lane, const Issue& issue) {
    const uint32_t epoch = ++issued_[static_cast<size_t>(lane)];
    if (lane == Lane::kScalar) {
        // If it reads, it goes on when it has that.
        issued_[kScalarReads] = epoch;
        clock(lane).own[kScalarReads] = epoch;
    }
    now_ = clock(lane);
    now_issue_ = issue.number;
    // The scalar unit issues it, so it comes after all that the scalar unit had waited for; not after what the scalar
    // unit has written, unless another pipe has waited for that and the scalar unit for it.
    join_into(now_, issue.clock);
    if (lane == Lane::kScalar) {
        now_.own[static_cast<size_t>(Lane::kScalar)] = epoch - 1;
        return;
    }
    if (lane == Lane::kVector && soc().npu_arch != kArchitectureWithoutVectorOrder) {
        now_.own[static_cast<size_t>(Lane::kVector)] = epoch - 1;
    }
    join_into(learned_[static_cast<size_t>(lane)], now_);
}

// The granule behind the last of these bytes of UB; 0 behind none.
uint64_t BlockRaces::end_of_ub(uint64_t ub, uint64_t bytes) const {
    return bytes == 0 ? 0 : std::min<uint64_t>((ub + bytes + kGranule - 1) / kGranule, granules_);
}

Race BlockRaces::ub_race(uint64_t granule, Lane done_lane, const UbPast::Done& done, bool done_writes, Lane lane,
                         const Access& now) const {
    Access first{done.name, origin_, done.place, done_writes};
    Access second = now;
    if (done.issue > now_issue_) {
        std::swap(first, second); // as the program has them
    }
    return Race{"nothing orders two accesses to UB at offset " + std::to_string(granule * kGranule) + ": " +
                    describe(first) + "; then " + describe(second) +
                    (done_lane == lane
                         ? "; both are on one pipe, which may finish them in any order: use PipeBarrier<" +
                               std::string(barrier_name(lane)) + ">() between them"
                         : "; set and wait for an event between their pipes, or use "
                           "PipeBarrier<PIPE_ALL>()"),
                second.place, first};
}

std::optional<Race> BlockRaces::ub_overtakes(Lane lane, uint32_t ub, uint32_t bytes, const char* name,
                                             const void* place) const {
    std::optional<Race> race;
    ub_.visit(ub / kGranule, end_of_ub(ub, bytes), [&](uint64_t granule, const UbPast& past) {
        const UbPast::Done& read = past.reads[static_cast<size_t>(lane)];
        if (!race && !knows(lane, actor(lane), read.epoch)) {
            race = ub_race(granule, lane, read, false, lane, {name, origin_, place, true});
        }
    });
    return race;
}

std::optional<Race> BlockRaces::ub_access(Lane lane, uint32_t ub, uint32_t bytes, bool write, const char* name,
                                          const void* place) {
    std::optional<Race> race;
    ub_.change(ub / kGranule, end_of_ub(ub, bytes), [&](uint64_t granule, UbPast& past) {
        auto report = [&](Lane done_lane, const UbPast::Done& done, bool done_writes) {
            if (!race) {
                race = ub_race(granule, done_lane, done, done_writes, lane, {name, origin_, place, write});
            }
        };
        for (uint32_t other = 0; write && other < kLanes; ++other) {
            const UbPast::Done& read = past.reads[other];
            if (!knows(lane, reader(static_cast<Lane>(other)), read.epoch)) {
                report(static_cast<Lane>(other), read, false);
            }
        }
        if (!knows(lane, actor(past.write_lane), past.write.epoch)) {
            report(past.write_lane, past.write, true);
        }
        const UbPast::Done now{epoch(lane), now_issue_, name, place};
        if (write) {
            past = {now, {}, lane, nullptr};
            return;
        }
        past.reads[static_cast<size_t>(lane)] = now;
        if (past.look) {
            std::optional<Race> data = consume(*past.look, lane);
            race = race ? race : data;
        }
    });
    return race;
}

void BlockRaces::barrier(Lane lane) {
    clock(lane) = done(lane);
}

void BlockRaces::barrier_all() {
    Clock all = clocks_[0];
    for (size_t lane = 0; lane < kLanes; ++lane) {
        join_into(all, clocks_[lane]);
        join_into(all, learned_[lane]);
    }
    all.own = issued_;
    clocks_.fill(all);
}

// What is known when all that came before on its lane is done.
BlockRaces::Clock BlockRaces::done(Lane lane) const {
    Clock done = clock(lane);
    join_into(done, learned_[static_cast<size_t>(lane)]);
    done.own[static_cast<size_t>(lane)] = epoch(lane);
    return done;
}

void BlockRaces::set_flag(uint32_t source, uint32_t destination, uint32_t id) {
    events_[event_number(source, destination, id)].push_back(done(lane_of(source)));
}

bool BlockRaces::flag_is_set(uint32_t source, uint32_t destination, uint32_t id) const {
    auto set = events_.find(event_number(source, destination, id));
    return set != events_.end() && !set->second.empty();
}

void BlockRaces::wait_flag(uint32_t source, uint32_t destination, uint32_t id) {
    std::deque<Clock>& set = events_[event_number(source, destination, id)];
    join_into(clock(lane_of(destination)), set.front());
    set.pop_front();
}

void BlockRaces::learn_all(const Knowledge& knowledge) {
    for (Clock& clock : clocks_) {
        clock.known = knowledge;
    }
}

Knowledge BlockRaces::done_on(Lane lane) {
    Clock all = done(lane);
    join_into(all, clock(Lane::kScalar)); // which has waited for that before it told others
    return published(all);
}

void BlockRaces::learn(Lane lane, const Knowledge& knowledge) {
    clock(lane).known = join(clock(lane).known, knowledge);
}

// What a flag tells whoever reads it.
void BlockRaces::acquire(Lane lane, const Knowledge& knowledge) {
    now_.known = join(now_.known, knowledge);
    Clock& later = lane == Lane::kScalar ? clock(lane) : learned_[static_cast<size_t>(lane)];
    later.known = join(later.known, knowledge);
}

} // namespace aivops::machine
