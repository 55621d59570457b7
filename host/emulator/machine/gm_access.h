// How instructions reach GM: small reads that may be polls, writes that others can see, and the traffic they count.
#ifndef AIVOPS_MACHINE_GM_ACCESS_H
#define AIVOPS_MACHINE_GM_ACCESS_H

#include "block.h"
#include "race_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace aivops::machine {

uint32_t owner_of(Address gm);

Traffic& traffic(Block& block, uint32_t owner);
void count_read(Block& block, uint32_t owner, uint64_t bytes, bool small);
void count_write(Block& block, uint32_t owner, uint64_t bytes, bool small);

/// When a traced instruction begins; nobody asks otherwise.
int64_t trace_clock();

/// Reads a small piece of GM; when it was just read and has not changed, lets others run first, or at the block's next
/// turn where pipes are late.
void read_small(Block& block, GmTouch touch, uint32_t owner, uint8_t* to);

/// Copies, small pieces as gm_words.h says.
void read_gm(Block& block, void* to, Address gm, uint64_t bytes);

/// What the atomic mode makes of elements.
void update_elements(Block& block, uint8_t* to, const uint8_t* from, uint64_t bytes);

/// From UB; plain or, in atomic mode, element by element.
void write_gm(Block& block, Address gm, uint32_t ub, uint32_t bytes);

/// Of a small write: what it may have told others.
inline void note_told(Block& block, const void* content, uint64_t bytes) {
    block.told = 0;
    std::memcpy(&block.told, content, std::min<uint64_t>(bytes, sizeof block.told));
}

/// Everything that others can see ends a block's polling and may end someone else's: writes, and signals on the device.
void after_write(Block& block, Address gm);
/// For those who wait for a change there.
void ring_for(Block& block, Address gm);
void after_signal(Block& block);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_GM_ACCESS_H
