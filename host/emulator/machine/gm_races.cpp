// Races over GM, and what strict mode knows of flags there.
#include "race_check.h"

#include "flag_history.h"
#include "piecewise.h"
#include "polling_places.h"
#include "report.h"
#include "scalar_cache.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

namespace aivops::machine {

// What is known of one granule as a flag: somebody has read or written a small piece of it.
struct GmCell {
    Releases released;
    FlagHistory history;
    const void* polled_at = nullptr; // where somebody polls it; so it is a flag
    std::string same_value;          // what is to be said if it turns out to be one
};

namespace {

constexpr uint32_t kGranule = FlagHistory::kGranule;
constexpr uint64_t kLine = ScalarCache::kLine;
constexpr size_t kKeptAccesses = 64; // per granule
constexpr uint32_t kFindsOnce = 2;   // waits of one launch that may find the same old state
constexpr uint32_t kNotYet = ~0u;    // an epoch that nobody knows of

// The bytes of a granule that an access touches, one bit each.
uint32_t mask_of(Address granule, Address begin, Address end) {
    const Address at = granule * kGranule;
    const uint64_t from = begin > at ? begin - at : 0;
    const uint64_t to = std::min<uint64_t>(end - at, kGranule);
    const uint32_t up_to = to == kGranule ? ~0u : (1u << to) - 1;
    return up_to & ~((1u << from) - 1);
}

FlagHistory::Content content_of(Address granule) {
    FlagHistory::Content content;
    std::memcpy(content.data(), reinterpret_cast<const void*>(granule * kGranule), kGranule);
    return content;
}

using LineContent = std::array<uint8_t, kLine>;

LineContent content_of_line(Address line) {
    LineContent content;
    std::memcpy(content.data(), reinterpret_cast<const void*>(line), kLine);
    return content;
}

// The first word of a flag at `gm`, or what it has of one.
uint32_t word_at(const FlagHistory::Content& content, Address gm, uint64_t bytes) {
    const uint64_t offset = gm % kGranule;
    uint32_t word = 0;
    std::memcpy(&word, content.data() + offset, std::min({bytes, uint64_t{sizeof word}, kGranule - offset}));
    return word;
}

// An access that later ones may race with, to a piece of granules.
struct GmDone {
    Access access;
    uint32_t actor = 0;
    uint32_t epoch = 0;
    uint32_t mask = 0; // of each granule
    Update update = kNoUpdate;
    bool small = false;
    uint32_t seen_from = 0;     // of a write: the epoch in which it has come to memory
    std::shared_ptr<Look> look; // of a small read
    std::shared_ptr<const StalePoll> stale;

    // Of one instruction the rest is the same.
    bool operator==(const GmDone& other) const {
        return actor == other.actor && epoch == other.epoch && mask == other.mask &&
               access.write == other.access.write && seen_from == other.seen_from && look == other.look &&
               stale == other.stale;
    }
};

// Strict mode runs blocks on one thread at a time, and only blocks and allocations come here; the mutex is for the
// latter.
struct Shadow {
    std::mutex mutex;
    Piecewise<std::vector<GmDone>> accesses; // by granule number,
    std::map<Address, GmCell> flags;         // and these too
    struct LineStore {
        Access access;
        uint32_t actor;
        uint32_t epoch;
        uint32_t seen_from; // the epoch in which it was written back
    };
    // By line number: the latest stores of scalar units through their caches, one per core.
    std::map<Address, std::vector<LineStore>> lines;
    // By line number, what is known of lines that kernels clean without having loaded or stored there, except through
    // pointers of their own; of all of them together; and what cleaning of whole caches has told.
    std::map<Address, LineContent> pointed_at;
    Knowledge told_by_lines;
    Knowledge told_by_caches;
};

Shadow& shadow() {
    static Shadow& instance = *new Shadow;
    return instance;
}

bool is_polled(Address granule) {
    const auto flag = shadow().flags.find(granule);
    return flag != shadow().flags.end() && flag->second.polled_at != nullptr;
}

// The granules of an access, in runs of which it touches the same bytes; those of a small one each by itself, because
// each may be a flag.
template <typename Visit>
void for_each_run(const GmTouch& touch, Visit visit) {
    const Address end = touch.gm + touch.bytes;
    for (Address granule = touch.gm / kGranule; granule * kGranule < end;) {
        const uint32_t mask = mask_of(granule, touch.gm, end);
        const Address run_end = touch.small || mask != ~0u ? granule + 1 : end / kGranule;
        visit(granule, run_end, mask);
        granule = run_end;
    }
}

// What a write makes of its bytes of a granule.
FlagHistory::Content written_to(Address granule, const GmTouch& touch, const uint8_t* content) {
    const Address begin = std::max(touch.gm, granule * kGranule);
    const Address end = std::min(touch.gm + touch.bytes, (granule + 1) * kGranule);
    FlagHistory::Content written{};
    std::memcpy(written.data() + begin % kGranule, content + (begin - touch.gm), end - begin);
    return written;
}

// What a write that is seen makes of lines that kernels reach through pointers of their own.
void write_lines(std::map<Address, LineContent>& lines, const GmTouch& touch, const uint8_t* content) {
    const Address end = touch.gm + touch.bytes;
    for (auto at = lines.lower_bound(touch.gm / kLine); at != lines.end() && at->first * kLine < end;) {
        const Address line = at->first * kLine;
        if (content == nullptr) {
            at = lines.erase(at);
            continue;
        }
        const Address from = std::max(line, touch.gm);
        std::memcpy(at->second.data() + (from - line), content + (from - touch.gm), std::min(line + kLine, end) - from);
        ++at;
    }
}

bool commute(Update one, Update other) {
    return one != kNoUpdate && other != kNoUpdate && (one == other || one == kScalarUpdate || other == kScalarUpdate);
}

void keep(std::vector<GmDone>& accesses, const GmDone& now) {
    if (accesses.size() == kKeptAccesses) {
        accesses.erase(accesses.begin());
    }
    accesses.push_back(now);
}

Knowledge released(const Releases& releases, uint32_t mask) {
    Knowledge all;
    for (const Release& release : releases) {
        if ((release.mask & mask) != 0) {
            all = join(all, release.knowledge);
        }
    }
    return all;
}

void release(Releases& releases, uint32_t mask, const Knowledge& knowledge, bool atomic) {
    for (Release& other : releases) {
        if (other.mask == mask && atomic) {
            other.knowledge = join(other.knowledge, knowledge);
            return;
        }
    }
    if (!atomic) {
        std::erase_if(releases, [mask](const Release& other) { return (other.mask & ~mask) == 0; });
    }
    releases.push_back({mask, knowledge});
}

std::string not_ordered(Address at, const Access& first, const Access& second) {
    return "nothing orders two accesses to GM at " + describe_address(at) + ": " + describe(first) + "; then " +
           describe(second);
}

std::string what_orders(const Access& first, const Access& second) {
    if (first.launch.number == second.launch.number || first.origin->device != second.origin->device) {
        return "a flag after a barrier, or SyncAll, must lie between them";
    }
    auto words = [](const LaunchOrigin& launch) {
        return "launch " + std::to_string(launch.number) + " on stream " + std::to_string(launch.stream);
    };
    return "the first is part of " + words(first.launch) + ", the second of " + words(second.launch) +
           ", and launches on two streams may run at one time; call aclrtSynchronizeStream between them, or let one "
           "stream "
           "wait for an event of the other (aclrtRecordEvent, aclrtStreamWaitEvent)";
}

Race race_between(Address at, const Access& first, const Access& second, const Access& other) {
    return {not_ordered(at, first, second) + "; " + what_orders(first, second),
            other.place == second.place ? first.place : second.place, other};
}

// The same where one of the two came after a wait that did not wait for the other.
Race race_behind(const StalePoll& stale, Address at, const Access& first, const Access& second) {
    return {describe(stale.poll) + " goes on with " + hex(stale.value) + " in the flag at " +
                describe_address(stale.flag) + ", which it has gone on with before: " + describe(stale.write) +
                ", in launch " + std::to_string(stale.launch) +
                "; the poll cannot tell this call from the one before; wait for a value that only this call sets; so " +
                not_ordered(at, first, second),
            stale.poll.place, stale.write, AIVOPS_EMU_SYNCCHECK};
}

// Two accesses by two blocks: `stale` is the latest wait of the second.
Race race_of(const GmDone& first, const Access& second, const std::shared_ptr<const StalePoll>& stale, Address at,
             const Access& other) {
    // One block of a device may tell what all of it has done for another device, but not what others have done for its
    // own.
    auto waited_for = [](const std::shared_ptr<const StalePoll>& poll, const Access& access) {
        return poll != nullptr && poll->write.origin->device == access.origin->device &&
               (poll->poll.origin->device != access.origin->device || poll->write.origin == access.origin);
    };
    if (waited_for(stale, first.access)) {
        return race_behind(*stale, at, first.access, second);
    }
    if (waited_for(first.stale, second)) {
        return race_behind(*first.stale, at, first.access, second);
    }
    return race_between(at, first.access, second, other);
}

// A flag that is set back while its reader may still wait for what it was.
Race taken_back(Address flag, uint32_t value, const Access& write, const Access& poll) {
    return {"the flag at " + describe_address(flag) + " is set back to 0 from " + hex(value) + ": " + describe(write) +
                "; nothing orders that behind " + describe(poll) + ", which goes on with " + hex(value) +
                " and may come too late to find it; take a flag back when its reader has acknowledged it",
            write.place, poll, AIVOPS_EMU_SYNCCHECK};
}

// A store that whoever comes after it need not find.
Race not_cleaned(Address at, const Access& store, const Access& behind) {
    return {"a store that is not cleaned from its core's data cache: " + describe(store) + ", at " +
                describe_address(at) + "; then " + describe(behind) +
                (behind.write ? ", which the line is written back over some time"
                              : ", which finds what memory held before") +
                "; call DataCacheCleanAndInvalid behind the store, before the flag, barrier or SyncAll that orders "
                "the two",
            behind.place, store};
}

Race shared_line(Address line, const Access& first, const Access& second) {
    return {"two cores have written to one cache line, " + describe_address(line) + " and the " +
                std::to_string(kLine) + " bytes from there: " + describe(first) + "; then " + describe(second) +
                "; a data cache writes back the whole line, and one of the values is lost; keep what different "
                "cores write in different lines where one of them stores through its data cache",
            second.place, first};
}

Knowledge with_epoch(const Knowledge& known, uint32_t actor, uint32_t epoch) {
    auto more = std::make_shared<std::vector<uint32_t>>(*known);
    (*more)[actor] = std::max((*more)[actor], epoch);
    return more;
}

bool same_bytes(Address gm, uint64_t bytes, const uint8_t* content) {
    return content != nullptr && std::memcmp(reinterpret_cast<const void*>(gm), content, bytes) == 0;
}

// Of a look that is over, at a place that nobody has polled.
bool is_data(const Look& look) {
    return look.inspected && !look.again && !is_polling_place(look.access.place);
}

} // namespace

Update update_of(uint32_t atomic, uint32_t type) {
    return atomic == AIVOPS_EMU_ATOMIC_NONE ? kNoUpdate : atomic << 8 | type;
}

// A small read finds the oldest that hardware may still show, of what nothing orders with it: each wait finds once more
// what the wait before went on with, and then one later state a look.
void BlockRaces::look_at(GmCell& cell, Address granule, const GmTouch& touch, uint8_t* content,
                         const std::shared_ptr<Look>& look, Knowledge& acquired) {
    FlagHistory& history = cell.history;
    const uint32_t mask = mask_of(granule, touch.gm, touch.gm + touch.bytes);
    if (!history.holds(content_of(granule))) {
        history.forget();
    }
    uint64_t state = history.latest();
    const FlagHistory::Reader* mine = history.reader(*origin_);
    const bool same_launch = mine != nullptr && mine->launch == launch_.number;
    if (content != nullptr) {
        state = history.oldest_visible([&](uint32_t actor, uint32_t epoch) { return knows(touch.lane, actor, epoch); });
        if (same_launch) {
            state = std::max(state, touch.again || mine->times == kFindsOnce ? mine->state + 1 : mine->state);
        }
        state = std::min(state, history.latest());
        const uint64_t shown = history.latest_shown_to(actor(Lane::kScalar));
        look->kept_back = look->kept_back || shown < state;
        state = std::min(state, shown);
    }
    const bool is_flag = cell.polled_at != nullptr && granule == touch.gm / kGranule;
    look->outdated = look->outdated || state != history.latest();
    if (state == history.latest()) {
        acquired = join(acquired, released(cell.released, mask));
    } else {
        const FlagHistory::Content& old = history.content(state);
        for (uint32_t byte = 0; byte < kGranule; ++byte) {
            if ((mask & (1u << byte)) != 0) {
                content[granule * kGranule + byte - touch.gm] = old[byte];
            }
        }
        const FlagHistory::Write& next = *history.after(state);
        acquired = join(acquired, released(next.released, mask));
        const uint32_t value = word_at(old, touch.gm, touch.bytes);
        const uint32_t later = word_at(state + 1 == history.latest() ? content_of(granule) : history.content(state + 1),
                                       touch.gm, touch.bytes);
        if (is_flag && value != 0 && later == 0) {
            look->taken_back = taken_back(touch.gm, value, next.access, look->access);
        }
    }
    const FlagHistory::Write* write = history.before(state);
    if (is_flag) {
        const bool stale = !touch.again && mine != nullptr && mine->state == state && write != nullptr &&
                           write->access.origin != origin_;
        stale_ = !stale ? nullptr
                        : std::make_shared<StalePoll>(StalePoll{
                              look->access, touch.gm,
                              word_at(state == history.latest() ? content_of(granule) : history.content(state),
                                      touch.gm, touch.bytes),
                              write->access, write->launch});
    }
    const uint32_t times = same_launch && mine->state == state ? std::min(mine->times + 1, kFindsOnce) : 1;
    history.look({look->access, launch_.number, reader(touch.lane), epoch(touch.lane), state, times, look});
}

std::optional<Race> BlockRaces::gm_read(const GmTouch& touch, uint8_t* content) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access now{touch.name, origin_, touch.place, false, launch_};
    std::shared_ptr<Look> look;
    if (touch.small) {
        look = std::make_shared<Look>();
        look->access = now;
        look->issue = now_issue_;
        look->inspected = touch.lane == Lane::kScalar;
    }
    Knowledge acquired;
    std::optional<Race> race;
    for_each_run(touch, [&](Address run_begin, Address run_end, uint32_t mask) {
        all.accesses.change(run_begin, run_end, [&](Address granule, std::vector<GmDone>& accesses) {
            for (const GmDone& other : accesses) {
                const bool ordered = knows(touch.lane, other.actor, other.epoch);
                // A scalar unit finds its own stores in its cache; of its core's copies the cache itself knows.
                const bool seen =
                    other.actor == actor(Lane::kScalar) || knows(touch.lane, other.actor, other.seen_from);
                if (!other.access.write || (other.mask & mask) == 0 || (ordered && seen)) {
                    continue;
                }
                const bool flag = touch.small && other.small;
                const Address at = std::max(touch.gm, granule * kGranule);
                auto found = [&] {
                    return ordered ? not_cleaned(at, other.access, now) : race_of(other, now, stale_, at, other.access);
                };
                if (!flag && !race) {
                    race = found();
                } else if (flag && !is_polled(granule) && !look->suspect) {
                    look->suspect = found();
                    look->suspect_at = granule;
                }
            }
            if (touch.small) {
                std::shared_ptr<Look>& latest = looks_by_granule_[granule];
                if (latest && touch.again) {
                    latest->again = true;
                    std::erase(last_looks_, latest);
                } else if (latest && latest->suspect) {
                    looks_.push_back(latest); // by a write that has come since
                }
                latest = look;
                look_at(all.flags[granule], granule, touch, content, look, acquired);
            }
            std::erase_if(accesses, [&](const GmDone& other) {
                return !other.access.write && (other.mask & ~mask) == 0 &&
                       (knows(touch.lane, other.actor, other.epoch) || other.actor == reader(touch.lane));
            });
            keep(accesses, {now, reader(touch.lane), epoch(touch.lane), mask, kNoUpdate, touch.small, 0, look, stale_});
        });
    });
    if (look && look->suspect) {
        looks_.push_back(look);
    }
    if (look) {
        look_ = look;
        last_looks_.push_back(look);
    }
    if (acquired) {
        acquire(touch.lane, acquired);
    }
    return race;
}

// The block goes on, and so the waits before have ended.
std::optional<Race> BlockRaces::leave_polls(uint32_t issue) {
    std::optional<Race> race;
    std::erase_if(last_looks_, [&](const std::shared_ptr<Look>& look) {
        if (look->issue >= issue) {
            return false;
        }
        look->passed = true;
        if (look->taken_back && !race) {
            race = look->taken_back;
        }
        return true;
    });
    return race;
}

// Whoever has found the flag set, and is not known to have, may have come too late.
std::optional<Race> BlockRaces::take_back(GmCell& cell, const GmTouch& touch, const Access& now) {
    const uint32_t value = word_at(content_of(touch.gm / kGranule), touch.gm, touch.bytes);
    if (cell.polled_at == nullptr || value == 0) {
        return std::nullopt;
    }
    for (const FlagHistory::Reader& reader : cell.history.readers()) {
        if (reader.state != cell.history.latest() || reader.is_block_of(*origin_) ||
            knows(touch.lane, reader.actor, reader.epoch)) {
            continue;
        }
        reader.look->taken_back = taken_back(touch.gm, value, now, reader.access);
        if (reader.look->passed) {
            return reader.look->taken_back;
        }
    }
    return std::nullopt;
}

std::optional<Race> BlockRaces::gm_write(const GmTouch& touch, const uint8_t* content) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    write_lines(all.pointed_at, touch, content);
    const Access now{touch.name, origin_, touch.place, true, launch_};
    const Knowledge known = touch.small ? published(now_) : nullptr;
    std::optional<Race> race = leave_polls(now_issue_);
    race = race ? race : overwrites_line(touch, now);
    for_each_run(touch, [&](Address run_begin, Address run_end, uint32_t mask) {
        all.accesses.change(run_begin, run_end, [&](Address granule, std::vector<GmDone>& accesses) {
            const Address at = std::max(touch.gm, granule * kGranule);
            for (const GmDone& other : accesses) {
                if (race || (other.mask & mask) == 0 || commute(touch.update, other.update) ||
                    knows(touch.lane, other.actor, other.epoch)) {
                    continue;
                }
                if (!touch.small || !other.small) {
                    race = race_of(other, now, stale_, at, other.access);
                } else if (is_polled(granule)) {
                    continue;
                } else if (other.access.write) {
                    if (!same_bytes(touch.gm, touch.bytes, content)) {
                        race = race_of(other, now, stale_, at, other.access);
                    }
                } else if (other.look->consumed || (other.look->over && is_data(*other.look))) {
                    race = race_of(other, now, stale_, at, other.access);
                } else if (!other.look->over && !other.look->suspect) {
                    other.look->outdated = true;
                    other.look->suspect = race_of(other, now, stale_, at, now);
                    other.look->suspect_at = granule;
                }
                if (race && touch.update != kNoUpdate && other.update != kNoUpdate) {
                    race->text += "; they update elements by different operations, or of different types";
                }
            }
            // Whoever comes after this one comes after those. Another update of elements need not come after this one.
            std::erase_if(accesses, [&](const GmDone& other) {
                return (other.mask & ~mask) == 0 &&
                       (touch.update == kNoUpdate || commute(touch.update, other.update)) &&
                       (knows(touch.lane, other.actor, other.epoch) || other.actor == actor(touch.lane));
            });
            keep(accesses, {now, actor(touch.lane), epoch(touch.lane), mask, touch.update, touch.small,
                            touch.cached ? kNotYet : epoch(touch.lane), nullptr, stale_});
        });
        if (!touch.small) {
            for (auto flag = all.flags.lower_bound(run_begin); flag != all.flags.end() && flag->first < run_end;
                 ++flag) {
                flag->second.history.forget();
            }
            return;
        }
        GmCell& cell = all.flags[run_begin];
        if (content == nullptr) {
            cell.history.forget();
        } else {
            const FlagHistory::Content written = written_to(run_begin, touch, content);
            const bool is_first = run_begin == touch.gm / kGranule && touch.update == kNoUpdate;
            if (is_first && word_at(written, touch.gm, touch.bytes) == 0 && !race) {
                race = take_back(cell, touch, now);
            }
            cell.history.write({now, launch_.number, actor(touch.lane), epoch(touch.lane), content_of(run_begin),
                                cell.released, touch.cached},
                               mask, written);
        }
        release(cell.released, mask, known, touch.update != kNoUpdate);
    });
    return race;
}

// A write past the data caches, to a line that one of another core still has to write back.
std::optional<Race> BlockRaces::overwrites_line(const GmTouch& touch, const Access& now) const {
    const Shadow& all = shadow();
    for (auto line = all.lines.lower_bound(touch.gm / kLine);
         line != all.lines.end() && line->first * kLine < touch.gm + touch.bytes; ++line) {
        for (const Shadow::LineStore& store : line->second) {
            if (store.actor == actor(Lane::kScalar) || knows(touch.lane, store.actor, store.seen_from)) {
                continue;
            }
            return knows(touch.lane, store.actor, store.epoch) ? not_cleaned(line->first * kLine, store.access, now)
                                                               : shared_line(line->first * kLine, store.access, now);
        }
    }
    return std::nullopt;
}

std::optional<Race> BlockRaces::line_store(const GmTouch& touch) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access now{touch.name, origin_, touch.place, true, launch_};
    const uint32_t scalar = actor(Lane::kScalar);
    std::vector<Shadow::LineStore>& stores = all.lines[touch.gm / kLine];
    std::erase_if(stores, [&](const Shadow::LineStore& other) { return other.actor == scalar; });
    stores.push_back({now, scalar, epoch(Lane::kScalar), kNotYet});
    // Others may have written there past their caches, and the line may be older than that. Writes to these very bytes
    // are for gm_write to judge.
    std::vector<GmDone> there;
    for_each_run(touch, [&](Address run_begin, Address run_end, uint32_t mask) {
        all.accesses.visit(run_begin, run_end, [&](Address, const std::vector<GmDone>& accesses) {
            std::copy_if(accesses.begin(), accesses.end(), std::back_inserter(there),
                         [mask](const GmDone& done) { return (done.mask & mask) != 0; });
        });
    });
    std::optional<Race> race;
    const Address line = touch.gm / kLine * kLine;
    all.accesses.visit(line / kGranule, (line + kLine) / kGranule, [&](Address, const std::vector<GmDone>& accesses) {
        for (const GmDone& other : accesses) {
            const bool of_this_core = other.actor >= first_actor_ && other.actor < first_actor_ + kActorsPerCore;
            const bool same_bytes = std::any_of(there.begin(), there.end(), [&](const GmDone& done) {
                return done.actor == other.actor && done.epoch == other.epoch;
            });
            if (!race && other.access.write && !of_this_core && !same_bytes &&
                !knows(Lane::kScalar, other.actor, other.epoch)) {
                race = shared_line(line, other.access, now);
            }
        }
    });
    return race;
}

void BlockRaces::clean(Address from, bool stopped) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const uint32_t scalar = actor(Lane::kScalar);
    const Address line = from / kLine * kLine;
    const auto stores = all.lines.find(line / kLine);
    if (stores == all.lines.end()) {
        return;
    }
    const uint32_t now = epoch(Lane::kScalar);
    for (Shadow::LineStore& store : stores->second) {
        if (store.actor == scalar && from == line) {
            store.seen_from = now;
        }
    }
    for (Address granule = from / kGranule; granule < (line + kLine) / kGranule; ++granule) {
        const uint32_t cleaned = mask_of(granule, from, line + kLine);
        auto come_to_memory = [&](GmDone& done) {
            if (done.actor == scalar && done.seen_from == kNotYet && (done.mask & ~cleaned) == 0) {
                done.seen_from = now;
            }
        };
        if (all.accesses.holds(granule)) {
            all.accesses.change(granule, granule + 1, [&](Address, std::vector<GmDone>& accesses) {
                std::for_each(accesses.begin(), accesses.end(), come_to_memory);
            });
        }
        const auto flag = all.flags.find(granule);
        if (flag == all.flags.end()) {
            continue;
        }
        // A granule has one history, so one that is cleaned in part passes for cleaned.
        flag->second.history.clean(scalar, now, stopped);
        // Whoever finds what was stored comes after its cleaning.
        for (Release& release : flag->second.released) {
            release.knowledge = with_epoch(release.knowledge, scalar, now);
        }
    }
}

void BlockRaces::oldest_line(Address line, uint8_t* content) const {
    const Shadow& all = shadow();
    std::lock_guard lock(shadow().mutex);
    for (Address at = line; at < line + kLine; at += kGranule) {
        const auto flag = all.flags.find(at / kGranule);
        if (flag == all.flags.end() || !flag->second.history.holds(content_of(at / kGranule))) {
            continue;
        }
        const FlagHistory& history = flag->second.history;
        const uint64_t oldest = std::min(
            history.oldest_visible([&](uint32_t actor, uint32_t epoch) { return knows(Lane::kScalar, actor, epoch); }),
            history.latest_shown_to(actor(Lane::kScalar)));
        if (oldest != history.latest()) {
            std::memcpy(content + (at - line), history.content(oldest).data(), kGranule);
        }
    }
}

bool BlockRaces::publish_line(Address line) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const LineContent content = content_of_line(line);
    auto [known, added] = all.pointed_at.try_emplace(line / kLine, content);
    if (!added && known->second == content) {
        return false;
    }
    known->second = content;
    const Knowledge done = published(now_);
    for (Address granule = line / kGranule; granule < (line + kLine) / kGranule; ++granule) {
        release(all.flags[granule].released, ~0u, done, true);
    }
    all.told_by_lines = join(all.told_by_lines, done);
    return true;
}

void BlockRaces::see_line(Address line) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    Knowledge told = all.told_by_caches;
    for (Address granule = line / kGranule; granule < (line + kLine) / kGranule; ++granule) {
        told = join(told, released(all.flags[granule].released, ~0u));
    }
    if (told) {
        const Knowledge before = clock(Lane::kScalar).known;
        acquire(Lane::kScalar, told);
        seen_line_ = {line, before, clock(Lane::kScalar).known};
    }
}

void BlockRaces::forget_line(Address gm) {
    if (seen_line_ && seen_line_->line == gm / kLine * kLine && clock(Lane::kScalar).known == seen_line_->after) {
        clock(Lane::kScalar).known = seen_line_->before;
    }
    seen_line_.reset();
}

void BlockRaces::publish_cache() {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    all.told_by_caches = join(all.told_by_caches, published(now_));
}

void BlockRaces::see_cache() {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    if (const Knowledge told = join(all.told_by_lines, all.told_by_caches)) {
        acquire(Lane::kScalar, told);
    }
}

void BlockRaces::looked_into(uint32_t ub, uint32_t bytes) {
    ub_.change(ub / kGranule, end_of_ub(ub, bytes), [&](uint64_t, UbPast& past) { past.look = look_; });
}

// Something reads what a look has brought to UB.
std::optional<Race> BlockRaces::consume(Look& look, Lane lane) {
    if (lane == Lane::kScalar) {
        look.inspected = true;
        return std::nullopt;
    }
    look.consumed = true;
    if (!look.suspect) {
        return std::nullopt;
    }
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    return is_polled(look.suspect_at) ? std::nullopt : look.suspect;
}

std::optional<Race> BlockRaces::unanswered_look() {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    std::optional<Race> race = leave_polls(issues_ + 1);
    auto judge = [&](const Look& look) {
        if (!race && look.suspect && is_data(look) && look.outdated && !is_polled(look.suspect_at)) {
            race = look.suspect;
        }
    };
    for (const std::shared_ptr<Look>& look : looks_) {
        judge(*look);
    }
    for (auto& [granule, look] : looks_by_granule_) {
        judge(*look);
        look->over = true;
    }
    return race;
}

void forget_accesses(const Range& range) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    all.lines.erase(all.lines.lower_bound(range.begin / kLine), all.lines.lower_bound((range.end - 1) / kLine + 1));
    std::erase_if(all.pointed_at, [&](const auto& line) { return range.contains(line.first * kLine, 1); });
    const Address begin = range.begin / kGranule;
    const Address end = (range.end - 1) / kGranule + 1;
    all.accesses.forget(begin, end);
    all.flags.erase(all.flags.lower_bound(begin), all.flags.lower_bound(end));
}

std::string describe_writer(Address gm) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const auto found = all.flags.find(gm / kGranule);
    if (found == all.flags.end()) {
        return {};
    }
    const FlagHistory& history = found->second.history;
    const FlagHistory::Write* write = history.before(history.latest());
    if (write == nullptr) {
        return {};
    }
    return describe(write->access) + (write->kept || write->dropped
                                          ? ", and never cleaned from its core's data cache: call "
                                            "DataCacheCleanAndInvalid behind the store"
                                          : "");
}

bool is_flag(Address gm) {
    std::lock_guard lock(shadow().mutex);
    return is_polled(gm / kGranule);
}

std::optional<std::string> note_poll(Address gm, uint64_t bytes, const void* place) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    for (Address granule = gm / kGranule; granule <= (gm + bytes - 1) / kGranule; ++granule) {
        all.flags[granule].polled_at = place;
    }
    const std::string same = std::exchange(all.flags[gm / kGranule].same_value, {});
    return same.empty() ? std::nullopt : std::optional(same + describe_place(place));
}

std::optional<std::string> check_flag_value(Address gm, const void* value, uint64_t bytes) {
    const size_t compared = std::min<uint64_t>(bytes, sizeof(uint32_t));
    uint32_t word = 0;
    std::memcpy(&word, value, compared);
    const bool same = std::memcmp(reinterpret_cast<const void*>(gm), value, compared) == 0;
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const bool tracked = all.flags.contains(gm / kGranule) || all.accesses.holds(gm / kGranule);
    if (!tracked) {
        return std::nullopt;
    }
    GmCell& cell = all.flags[gm / kGranule];
    cell.same_value.clear();
    if (!same || word == 0) { // 0 takes a flag back, and may do so twice
        return std::nullopt;
    }
    const FlagHistory::Write* before = cell.history.before(cell.history.latest());
    std::string text =
        "the flag at " + describe_address(gm) + " is set to " + hex(word) + ", the value that it has" +
        (before != nullptr ? " since " + describe(before->access) + ", in launch " + std::to_string(before->launch)
                           : "") +
        "; whoever waits cannot tell this call from the one before; give each call its own tag; it is "
        "polled at ";
    if (cell.polled_at != nullptr) {
        return text + describe_place(cell.polled_at);
    }
    cell.same_value = std::move(text);
    return std::nullopt;
}

} // namespace aivops::machine
