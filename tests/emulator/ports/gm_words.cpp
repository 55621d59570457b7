// Moves pieces of every size to and from every place, then lets one thread write a flag while another reads it.
#include "machine/gm_words.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace aivops::machine;

namespace {

constexpr uint32_t kPlaces = 16;
constexpr uint64_t kFlags = 200000;

using Bytes = std::array<unsigned char, kPlaces + kSmallBytes + kPlaces>;

// What a copy of bytes one by one gives.
void copy_bytes(unsigned char* to, const unsigned char* from, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; ++at) {
        to[at] = from[at];
    }
}

bool moves_every_piece() {
    alignas(16) Bytes source;
    for (size_t at = 0; at < source.size(); ++at) {
        source[at] = static_cast<unsigned char>(at * 7 + 1);
    }
    for (uint32_t place = 0; place < kPlaces; ++place) {
        for (uint32_t bytes = 0; bytes <= kSmallBytes; ++bytes) {
            alignas(16) Bytes expected{};
            alignas(16) Bytes loaded{};
            alignas(16) Bytes stored{};
            copy_bytes(expected.data() + 3, source.data() + place, bytes);
            load_words(loaded.data() + 3, source.data() + place, bytes);
            if (loaded != expected) {
                return false;
            }
            expected.fill(0);
            copy_bytes(expected.data() + place, source.data() + 5, bytes);
            store_words(stored.data() + place, source.data() + 5, bytes);
            if (stored != expected || !equal_words(stored.data() + place, source.data() + 5, bytes)) {
                return false;
            }
            if (bytes != 0) {
                stored[place + bytes - 1] ^= 1;
                if (equal_words(stored.data() + place, source.data() + 5, bytes)) {
                    return false;
                }
            }
        }
    }
    return true;
}

// A flag is four words with one number; whoever sees the number in the first finds it, or a later one, in the others.
bool shows_no_halves() {
    alignas(32) std::array<uint64_t, 4> flag{};
    std::thread writer([&flag] {
        for (uint64_t number = 1; number <= kFlags; ++number) {
            const std::array<uint64_t, 4> next{number, number, number, number};
            store_words(flag.data(), next.data(), sizeof next);
        }
    });
    bool whole = true;
    for (std::array<uint64_t, 4> seen{}; seen[0] != kFlags;) {
        load_words(seen.data(), flag.data(), sizeof seen);
        whole = whole && seen[1] >= seen[0] && seen[2] >= seen[0] && seen[3] >= seen[0];
    }
    writer.join();
    return whole;
}

} // namespace

int main() {
    std::printf("%s, %s\n", moves_every_piece() ? "every piece" : "WRONG", shows_no_halves() ? "no halves" : "HALVES");
}
