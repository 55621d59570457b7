#include "access_check.h"

#include "aivops/kernel_binary/counted.h"
#include "device.h"
#include "late_pipes.h"
#include "report.h"
#include "report_file.h"
#include "schedule.h"

#include <algorithm>
#include <cstring>

namespace aivops::machine {

std::string bytes_text(uint64_t bytes) {
    return kernel_binary::counted(bytes, "byte");
}

void raise_ub_fault(Block& block, const char* name, uint64_t ub, uint64_t bytes, uint32_t align, const void* place) {
    if (ub >= AIVOPS_EMU_NO_UB) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": the tensor has no buffer: it was declared, and nothing was assigned to it",
                    place);
    }
    if (align > 1 && ub % align != 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": UB offset " + std::to_string(ub) + " is not a multiple of " +
                        std::to_string(align),
                    place);
    }
    raise_fault(block, AIVOPS_EMU_MEMCHECK,
                std::string(name) + ": UB overflow: " + bytes_text(bytes) + " at offset " + std::to_string(ub) +
                    " end behind the " + bytes_text(block.ub_bytes) + " that a vector core has",
                place);
}

void check_read(Block& block, const char* name, uint32_t ub, uint32_t bytes, const void* place) {
    if (int64_t invalid = block.core->valid.first_invalid(ub, bytes); invalid >= 0) {
        raise_warning(block, AIVOPS_EMU_INITCHECK,
                      std::string(name) + ": reads UB at offset " + std::to_string(std::max<int64_t>(invalid, ub)) +
                          ", where nothing was written since the block began or the tensor was freed",
                      place);
    }
}

uint32_t check_gm(Block& block, const char* name, const char* verb, Address gm, uint64_t bytes, const void* place) {
    MemorySpace& memory = memory_space();
    if (const Block::KnownRange* known = block.known_range(gm, bytes)) {
        return known->owner;
    }
    const uint32_t generation = memory.generation();
    std::optional<uint32_t> owner = memory.owner(gm);
    std::optional<Range> range = owner ? memory.find(gm) : std::nullopt;
    if (!range || !range->contains(gm, bytes)) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": " + verb + " " + bytes_text(bytes) + " of GM at " + describe_address(gm) +
                        (range ? ", beyond its end" : ""),
                    place);
    }
    if (!block.device->can_access(*owner)) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": " + verb + " GM at " + describe_address(gm) + ", but device " +
                        std::to_string(block.device->index()) + " has no access to device " + std::to_string(*owner) +
                        "; call aclrtDeviceEnablePeerAccess(" + std::to_string(*owner) + ", 0) with device " +
                        std::to_string(block.device->index()) + " current",
                    place);
    }
    block.learn_range({*range, *owner, generation, memory.doorbell_of(gm)});
    return *owner;
}

bool may_touch_gm(Block& block, Address gm, uint64_t bytes) {
    if (block.known_range(gm, bytes) != nullptr) {
        return true;
    }
    const std::optional<uint32_t> owner = memory_space().owner(gm);
    const std::optional<Range> range = owner ? memory_space().find(gm) : std::nullopt;
    return range && range->contains(gm, bytes) && block.device->can_access(*owner);
}

// A repeat that overwrites what itself or the next one is going to read. Moving down by a whole repeat does not.
void check_overlap(Block& block, const char* name, uint64_t destination, uint64_t source, uint64_t bytes,
                   const void* place) {
    constexpr uint64_t kRepeatBytes = 256;
    const bool apart = destination + bytes <= source || source + bytes <= destination;
    if (apart || destination == source || destination + kRepeatBytes <= source) {
        return;
    }
    raise_warning(block, AIVOPS_EMU_MEMCHECK,
                  std::string(name) + ": the destination at UB offset " + std::to_string(destination) +
                      " overlaps the source at offset " + std::to_string(source) + " in part, " + bytes_text(bytes) +
                      " each; what it reads may be overwritten before; let them be the same bytes, or none",
                  place);
}

void check_padding(Block& block, const AivEmuCopy& copy, uint32_t owner, Address gm, const void* place) {
    if (settings().check != Check::kStrict || copy.byte_exact == 0) {
        return;
    }
    const Range asked = memory_space().arena(owner).without_padding(gm);
    if (asked.size() != 0 && !asked.contains(gm, copy.block_bytes)) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(copy.name) + ": " + bytes_text(copy.block_bytes) + " of GM at " + describe_address(gm) +
                        " reach " + bytes_text(gm + copy.block_bytes - asked.end) + " beyond the end of the " +
                        bytes_text(asked.size()) + " that were allocated",
                    place);
    }
}

namespace {

// Whether the block's accesses to GM are held against each other. What other processes do is not seen, nor the order
// that they make.
bool watches_gm(const Block& block) {
    if (block.races == nullptr) {
        return false;
    }
    if (memory_space().has_imports()) {
        report_unwatched();
        return false;
    }
    return true;
}

} // namespace

void check_races(Block& block, const std::optional<Race>& race) {
    if (race && settings().check == Check::kStrict) {
        raise_fault(block, race->category, race->text, race->place, &race->other);
    }
}

void check_history(Block& block, const std::optional<std::string>& same, const void* place) {
    if (same && settings().check == Check::kStrict) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK, *same, place);
    }
}

void check_cache(Block& block, const std::optional<std::string>& stale, const void* place) {
    if (stale && settings().check == Check::kStrict) {
        raise_fault(block, AIVOPS_EMU_RACECHECK, *stale, place);
    }
}

void track_scalar(Block& block, const void* place) {
    if (block.pipes != nullptr) {
        block.pipes->turn(place);
        block.races->begin(Lane::kScalar, block.races->issue());
    }
}

void track_ub(Block& block, Lane lane, const char* name, uint64_t ub, uint64_t bytes, bool write, const void* place) {
    if (block.races != nullptr) {
        check_races(block, block.races->ub_access(lane, static_cast<uint32_t>(ub), static_cast<uint32_t>(bytes), write,
                                                  name, place));
    }
}

bool track_read(Block& block, const GmTouch& touch, uint8_t* content) {
    if (!watches_gm(block)) {
        return false;
    }
    check_races(block, block.races->gm_read(touch, content));
    return touch.small && block.races->kept_back();
}

void track_line(Block& block, const GmTouch& touch) {
    if (watches_gm(block)) {
        check_races(block, block.races->line_store(touch));
    }
}

void track_cleaning(Block& block, const std::vector<Address>& lines, bool stopped) {
    if (lines.empty() || block.races == nullptr) {
        return;
    }
    block.races->begin(Lane::kScalar, block.races->issue());
    for (const Address line : lines) {
        block.races->clean(line, stopped);
    }
    schedule().note_write();
}

// Allocations begin and end at multiples of a line, so a whole one may always be read.
void track_fill(Block& block, Address gm, uint64_t bytes) {
    constexpr Address kLine = ScalarCache::kLine;
    for (Address line = gm / kLine * kLine; line < gm + bytes; line += kLine) {
        if (block.cache.holds(line)) {
            continue;
        }
        uint8_t content[kLine];
        std::memcpy(content, reinterpret_cast<const void*>(line), kLine);
        if (watches_gm(block)) {
            block.races->oldest_line(line, content);
        }
        block.cache.fill(line, content);
    }
}

void track_atomic(Block& block, const GmTouch& touch) {
    if (!watches_gm(block)) {
        return;
    }
    note_poll(touch.gm, touch.bytes, touch.place); // what is changed so is there for others to look at
    check_races(block, block.races->gm_read(touch, nullptr));
    check_races(block, block.races->gm_write(touch, nullptr));
}

void track_write(Block& block, const GmTouch& touch, const uint8_t* content) {
    if (!watches_gm(block)) {
        return;
    }
    if (touch.small && touch.update == kNoUpdate) {
        check_history(block, check_flag_value(touch.gm, content, touch.bytes), touch.place);
    }
    check_races(block, block.races->gm_write(touch, content));
}

} // namespace aivops::machine
