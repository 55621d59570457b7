// The checks of what an instruction touches, which cost little, and what strict mode's detectors are told of it.
#ifndef AIVOPS_MACHINE_ACCESS_CHECK_H
#define AIVOPS_MACHINE_ACCESS_CHECK_H

#include "block.h"
#include "race_check.h"
#include "settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aivops::machine {

inline bool checking() {
    return settings().check != Check::kOff;
}

std::string bytes_text(uint64_t bytes);

[[gnu::cold]] void raise_ub_fault(Block& block, const char* name, uint64_t ub, uint64_t bytes, uint32_t align,
                                  const void* place);

inline void check_ub(Block& block, const char* name, uint64_t ub, uint64_t bytes, uint32_t align, const void* place) {
    if ((align > 1 && ub % align != 0) || ub + bytes > block.ub_bytes) {
        raise_ub_fault(block, name, ub, bytes, align, place);
    }
}

/// Reading UB that holds nothing is a warning.
void check_read(Block& block, const char* name, uint32_t ub, uint32_t bytes, const void* place);

/// The device that owns GM the block is about to touch; a fault when it may not.
uint32_t check_gm(Block& block, const char* name, const char* verb, Address gm, uint64_t bytes, const void* place);
bool may_touch_gm(Block& block, Address gm, uint64_t bytes);

/// An instruction may work in place; operands that overlap otherwise are undefined.
void check_overlap(Block& block, const char* name, uint64_t destination, uint64_t source, uint64_t bytes,
                   const void* place);

// Strict mode.
/// A copy of single bytes has no business in the padding of an allocation, where whole units of 32 bytes may end.
void check_padding(Block& block, const AivEmuCopy& copy, uint32_t owner, Address gm, const void* place);
void check_races(Block& block, const std::optional<Race>& race);
/// The scalar unit does something itself, at a place that a sweep may hold back.
void track_scalar(Block& block, const void* place);
void track_ub(Block& block, Lane lane, const char* name, uint64_t ub, uint64_t bytes, bool write, const void* place);
/// `content` is what was read; it may become what was there before. Whether the data cache of another core keeps back
/// what the read would have found.
bool track_read(Block& block, const GmTouch& touch, uint8_t* content);
/// Before the write. `content` is what is written; nullptr for one that depends on what is there.
void track_write(Block& block, const GmTouch& touch, const uint8_t* content);
/// A store into a line of the data cache.
void track_line(Block& block, const GmTouch& touch);
/// The data cache writes back what the scalar unit has stored to these lines. `stopped`: because the block was.
void track_cleaning(Block& block, const std::vector<Address>& lines, bool stopped = false);
/// Lines that a load brings to the data cache.
void track_fill(Block& block, Address gm, uint64_t bytes);
/// A read and a write in one.
void track_atomic(Block& block, const GmTouch& touch);
/// A flag that is set to the value it has says nothing.
void check_history(Block& block, const std::optional<std::string>& same, const void* place);
/// What the scalar unit's data cache hides, or holds back.
void check_cache(Block& block, const std::optional<std::string>& stale, const void* place);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_ACCESS_CHECK_H
