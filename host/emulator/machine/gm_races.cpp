// Races over GM, and what strict mode knows of flags there.
#include "race_check.h"

#include "polling_places.h"
#include "report.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace aivops::machine {
namespace {

constexpr uint32_t kGranule = 32;
constexpr uint64_t kLine = 64;       // bytes of the scalar unit's cache
constexpr size_t kKeptAccesses = 64; // per granule

// The bytes of a granule that an access touches, one bit each.
uint32_t mask_of(Address granule, Address begin, Address end) {
    const Address at = granule * kGranule;
    const uint64_t from = begin > at ? begin - at : 0;
    const uint64_t to = std::min<uint64_t>(end - at, kGranule);
    const uint32_t up_to = to == kGranule ? ~0u : (1u << to) - 1;
    return up_to & ~((1u << from) - 1);
}

struct GmAccess {
    Access access;
    uint32_t actor = 0;
    uint32_t epoch = 0;
    uint32_t issue = 0;
    uint32_t mask = 0;
    bool atomic = false;
    bool small = false;
    std::shared_ptr<Look> look; // of a small read
};

// What a flag tells whoever reads these of its bytes.
struct Release {
    uint32_t mask;
    Knowledge knowledge;
};
using Releases = std::vector<Release>;

// What the latest small write has replaced.
struct Before {
    uint32_t mask = 0;
    uint32_t actor = 0;
    uint32_t epoch = 0;
    std::array<uint8_t, kGranule> content; // until then
    std::array<uint8_t, kGranule> after;
    Releases released;

    bool holds(Address granule) const {
        const auto* now = reinterpret_cast<const uint8_t*>(granule * kGranule);
        for (uint32_t byte = 0; byte < kGranule; ++byte) {
            if ((mask & (1u << byte)) != 0 && after[byte] != now[byte]) {
                return false; // the host has written since, say
            }
        }
        return true;
    }
};

struct GmCell {
    std::vector<GmAccess> accesses;
    Releases released;
    std::unique_ptr<Before> before;
    bool polled = false;    // so it is a flag
    std::string same_value; // what is to be said if it turns out to be one
};

// Strict mode runs blocks on one thread at a time, and only blocks and allocations come here; the mutex is for the
// latter.
struct Shadow {
    std::mutex mutex;
    std::unordered_map<Address, GmCell> cells; // by granule number
    struct LineStore {
        Access access;
        uint32_t actor;
        uint32_t epoch;
    };
    // By line number: the latest stores of scalar units through their caches, one per core.
    std::unordered_map<Address, std::vector<LineStore>> lines;
};

Shadow& shadow() {
    static Shadow& instance = *new Shadow;
    return instance;
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

Race race_between(Address at, const Access& first, const Access& second, const Access& other) {
    return {"nothing orders two accesses to GM at " + describe_address(at) + ": " + describe(first) + "; then " +
                describe(second) + "; a flag after a barrier, or SyncAll, must lie between them",
            other.place == second.place ? first.place : second.place, other};
}

bool same_bytes(Address gm, uint64_t bytes, const uint8_t* content) {
    return content != nullptr && std::memcmp(reinterpret_cast<const void*>(gm), content, bytes) == 0;
}

// Of a look that is over, at a place that nobody has polled.
bool is_data(const Look& look) {
    return look.inspected && !look.repeated && !is_polling_place(look.access.place);
}

} // namespace

std::optional<Race> BlockRaces::gm_read(const GmTouch& touch, uint8_t* content) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access now{touch.name, origin_, touch.place, false};
    std::shared_ptr<Look> look;
    if (touch.small) {
        look = std::make_shared<Look>();
        look->access = now;
        look->inspected = touch.lane == Lane::kScalar;
    }
    Knowledge acquired;
    std::optional<Race> race;
    for (Address granule = touch.gm / kGranule; granule <= (touch.gm + touch.bytes - 1) / kGranule; ++granule) {
        GmCell& cell = all.cells[granule];
        const uint32_t mask = mask_of(granule, touch.gm, touch.gm + touch.bytes);
        for (const GmAccess& other : cell.accesses) {
            if (!other.access.write || (other.mask & mask) == 0 || knows(touch.lane, other.actor, other.epoch)) {
                continue;
            }
            const bool flag = touch.small && other.small;
            const Address at = std::max(touch.gm, granule * kGranule);
            if (!flag && !race) {
                race = race_between(at, other.access, now, other.access);
            } else if (flag && !cell.polled && !look->suspect) {
                look->suspect = race_between(at, other.access, now, other.access);
                look->suspect_at = granule;
            }
        }
        if (touch.small) {
            std::shared_ptr<Look>& latest = looks_by_granule_[granule];
            const Before* before = cell.before.get();
            if (!latest && content != nullptr && before != nullptr && (before->mask & mask) != 0 &&
                !knows(touch.lane, before->actor, before->epoch) && before->holds(granule)) {
                look->outdated = true;
                for (uint32_t byte = 0; byte < kGranule; ++byte) {
                    if ((before->mask & mask & (1u << byte)) != 0) {
                        content[granule * kGranule + byte - touch.gm] = before->content[byte];
                    }
                }
                acquired = join(acquired, released(before->released, mask));
            } else {
                acquired = join(acquired, released(cell.released, mask));
            }
            if (latest) {
                latest->repeated = true;
            }
            latest = look;
        }
        std::erase_if(cell.accesses, [&](const GmAccess& other) {
            return !other.access.write && (other.mask & ~mask) == 0 &&
                   (knows(touch.lane, other.actor, other.epoch) || other.actor == actor(touch.lane));
        });
        if (cell.accesses.size() == kKeptAccesses) {
            cell.accesses.erase(cell.accesses.begin());
        }
        cell.accesses.push_back(
            {now, actor(touch.lane), epoch(touch.lane), now_issue_, mask, false, touch.small, look});
    }
    if (look && look->suspect) {
        looks_.push_back(look);
    }
    if (look) {
        look_ = look;
    }
    if (acquired) {
        acquire(touch.lane, acquired);
    }
    return race;
}

std::optional<Race> BlockRaces::gm_write(const GmTouch& touch, bool atomic, const uint8_t* content) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access now{touch.name, origin_, touch.place, true};
    const Knowledge known = touch.small ? published(now_) : nullptr;
    std::optional<Race> race;
    for (Address granule = touch.gm / kGranule; granule <= (touch.gm + touch.bytes - 1) / kGranule; ++granule) {
        GmCell& cell = all.cells[granule];
        const uint32_t mask = mask_of(granule, touch.gm, touch.gm + touch.bytes);
        const Address at = std::max(touch.gm, granule * kGranule);
        for (const GmAccess& other : cell.accesses) {
            // A scalar read is over when the next instruction is issued.
            const bool over = !other.access.write && other.actor == actor(Lane::kScalar) && other.issue < now_issue_ &&
                              other.epoch > before_[static_cast<size_t>(Lane::kScalar)];
            if (race || over || (other.mask & mask) == 0 || (atomic && other.atomic) ||
                knows(touch.lane, other.actor, other.epoch)) {
                continue;
            }
            if (!touch.small || !other.small) {
                race = race_between(at, other.access, now, other.access);
            } else if (cell.polled) {
                continue;
            } else if (other.access.write) {
                if (!same_bytes(touch.gm, touch.bytes, content)) {
                    race = race_between(at, other.access, now, other.access);
                }
            } else if (other.look->consumed || (other.look->over && is_data(*other.look))) {
                race = race_between(at, other.access, now, other.access);
            } else if (!other.look->over && !other.look->suspect) {
                other.look->outdated = true;
                other.look->suspect = race_between(at, other.access, now, now);
                other.look->suspect_at = granule;
            }
        }
        std::erase_if(cell.accesses, [&](const GmAccess& other) {
            return (other.mask & ~mask) == 0 &&
                   (knows(touch.lane, other.actor, other.epoch) || other.actor == actor(touch.lane));
        });
        if (cell.accesses.size() == kKeptAccesses) {
            cell.accesses.erase(cell.accesses.begin());
        }
        cell.accesses.push_back(
            {now, actor(touch.lane), epoch(touch.lane), now_issue_, mask, atomic, touch.small, nullptr});
        cell.before.reset();
        if (!touch.small) {
            continue;
        }
        if (content == nullptr) {
            release(cell.released, mask, known, atomic);
            continue;
        }
        cell.before = std::make_unique<Before>();
        cell.before->mask = mask;
        cell.before->actor = actor(touch.lane);
        cell.before->epoch = epoch(touch.lane);
        std::memcpy(cell.before->content.data(), reinterpret_cast<const void*>(granule * kGranule), kGranule);
        for (uint32_t byte = 0; content != nullptr && byte < kGranule; ++byte) {
            if ((mask & (1u << byte)) != 0) {
                cell.before->after[byte] = content[granule * kGranule + byte - touch.gm];
            }
        }
        cell.before->released = cell.released;
        release(cell.released, mask, known, atomic);
    }
    return race;
}

std::optional<Race> BlockRaces::line_store(const GmTouch& touch) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    const Access now{touch.name, origin_, touch.place, true};
    std::vector<Shadow::LineStore>& stores = all.lines[touch.gm / kLine];
    const uint32_t scalar = actor(Lane::kScalar);
    for (const Shadow::LineStore& other : stores) {
        if (other.actor != scalar && !knows(Lane::kScalar, other.actor, other.epoch)) {
            return Race{"two cores have stored to one cache line, " + describe_address(touch.gm / kLine * kLine) +
                            " and the " + std::to_string(kLine) + " bytes from there: " + describe(other.access) +
                            "; then " + describe(now) +
                            "; each core writes back the whole line, and one of the values is lost; keep what "
                            "different cores store in different lines",
                        touch.place, other.access};
        }
    }
    std::erase_if(stores, [&](const Shadow::LineStore& other) { return other.actor == scalar; });
    stores.push_back({now, scalar, epoch(Lane::kScalar)});
    return std::nullopt;
}

void BlockRaces::looked_into(uint32_t ub, uint32_t bytes) {
    const size_t last = std::min<size_t>((ub + bytes - 1) / kGranule, looks_in_ub_.size() - 1);
    for (size_t granule = ub / kGranule; granule <= last; ++granule) {
        looks_in_ub_[granule] = look_;
    }
}

// Something reads what a look has brought to UB.
std::optional<Race> BlockRaces::consume(size_t granule, Lane lane) {
    Look& look = *looks_in_ub_[granule];
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
    return all.cells[look.suspect_at].polled ? std::nullopt : look.suspect;
}

std::optional<Race> BlockRaces::unanswered_look() {
    std::optional<Race> race;
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    auto judge = [&](const Look& look) {
        if (!race && look.suspect && is_data(look) && look.outdated && !all.cells[look.suspect_at].polled) {
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
    std::erase_if(all.lines, [&](const auto& line) { return range.contains(line.first * kLine, 1); });
    const Address first = range.begin / kGranule;
    const Address last = (range.end - 1) / kGranule;
    if (last - first < all.cells.size()) {
        for (Address granule = first; granule <= last; ++granule) {
            all.cells.erase(granule);
        }
    } else {
        std::erase_if(all.cells, [&](const auto& cell) { return cell.first >= first && cell.first <= last; });
    }
}

std::optional<std::string> note_poll(Address gm, uint64_t bytes) {
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    std::optional<std::string> same;
    for (Address granule = gm / kGranule; granule <= (gm + bytes - 1) / kGranule; ++granule) {
        GmCell& cell = all.cells[granule];
        cell.polled = true;
        if (granule == gm / kGranule && !cell.same_value.empty()) {
            same = std::exchange(cell.same_value, {});
        }
    }
    return same;
}

std::optional<std::string> check_flag_value(Address gm, const void* value, uint64_t bytes) {
    const size_t compared = std::min<uint64_t>(bytes, sizeof(uint32_t));
    uint32_t word = 0;
    std::memcpy(&word, value, compared);
    const bool same = std::memcmp(reinterpret_cast<const void*>(gm), value, compared) == 0;
    Shadow& all = shadow();
    std::lock_guard lock(all.mutex);
    auto found = all.cells.find(gm / kGranule);
    if (found == all.cells.end()) {
        return std::nullopt;
    }
    GmCell& cell = found->second;
    cell.same_value.clear();
    if (!same || word == 0) { // 0 takes a flag back, and may do so twice
        return std::nullopt;
    }
    std::string text = "the flag at " + describe_address(gm) + " is set to " + hex(word) +
                       ", the value that it has: whoever waits cannot tell this call from the one before; give each "
                       "call its own tag";
    if (cell.polled) {
        return text;
    }
    cell.same_value = std::move(text);
    return std::nullopt;
}

} // namespace aivops::machine
