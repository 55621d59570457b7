// Small pieces of GM, which other threads and processes may write or read at the same time: flags, counters, tags.
// They move in whole words, the first one written last and read first, so whoever sees a new first word sees the rest
// of the piece as well, and everything that was written before it. That is what one copy of a flag does on hardware.
#ifndef AIVOPS_MACHINE_GM_WORDS_H
#define AIVOPS_MACHINE_GM_WORDS_H

#include <cstdint>

namespace aivops::machine {

constexpr uint32_t kSmallBytes = 128; // at most

/// Both take any alignment; words are as large as the address allows, up to 8 bytes.
void load_words(void* to, const void* gm, uint32_t bytes);
void store_words(void* gm, const void* from, uint32_t bytes);

/// Whether the piece still is what it was.
bool equal_words(const void* gm, const void* content, uint32_t bytes);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_GM_WORDS_H
