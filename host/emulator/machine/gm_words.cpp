#include "gm_words.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

namespace aivops::machine {
namespace {

// Bytes of the largest word that may stand at a place (or end there) in what is left.
uint32_t word_bytes(uintptr_t place, uint32_t left) {
    const uintptr_t aligned = place == 0 ? 8 : place & -place;
    return static_cast<uint32_t>(std::min<uintptr_t>({aligned, std::bit_floor(left), 8}));
}

template <typename Word>
void load_word(std::byte* to, const std::byte* gm) {
    // A reference to const cannot be loaded from.
    auto* word = reinterpret_cast<Word*>(const_cast<std::byte*>(gm));
    const Word value = std::atomic_ref<Word>(*word).load(std::memory_order_acquire);
    std::memcpy(to, &value, sizeof value);
}

template <typename Word>
void store_word(std::byte* gm, const std::byte* from) {
    Word value;
    std::memcpy(&value, from, sizeof value);
    std::atomic_ref<Word>(*reinterpret_cast<Word*>(gm)).store(value, std::memory_order_release);
}

} // namespace

void load_words(void* to, const void* gm, uint32_t bytes) {
    auto* into = static_cast<std::byte*>(to);
    const auto* from = static_cast<const std::byte*>(gm);
    for (uint32_t done = 0; done < bytes;) {
        const uint32_t step = word_bytes(reinterpret_cast<uintptr_t>(from + done), bytes - done);
        switch (step) {
        case 8:
            load_word<uint64_t>(into + done, from + done);
            break;
        case 4:
            load_word<uint32_t>(into + done, from + done);
            break;
        case 2:
            load_word<uint16_t>(into + done, from + done);
            break;
        default:
            load_word<uint8_t>(into + done, from + done);
            break;
        }
        done += step;
    }
}

void store_words(void* gm, const void* from, uint32_t bytes) {
    auto* into = static_cast<std::byte*>(gm);
    const auto* source = static_cast<const std::byte*>(from);
    for (uint32_t left = bytes; left != 0;) {
        const uint32_t step = word_bytes(reinterpret_cast<uintptr_t>(into + left), left);
        left -= step;
        switch (step) {
        case 8:
            store_word<uint64_t>(into + left, source + left);
            break;
        case 4:
            store_word<uint32_t>(into + left, source + left);
            break;
        case 2:
            store_word<uint16_t>(into + left, source + left);
            break;
        default:
            store_word<uint8_t>(into + left, source + left);
            break;
        }
    }
}

bool equal_words(const void* gm, const void* content, uint32_t bytes) {
    std::array<std::byte, kSmallBytes> now;
    load_words(now.data(), gm, bytes);
    return std::memcmp(now.data(), content, bytes) == 0;
}

} // namespace aivops::machine
