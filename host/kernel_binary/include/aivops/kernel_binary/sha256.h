// SHA-256 (FIPS 180-4) over bytes in memory: the hash that manifests carry and loads check.
#ifndef AIVOPS_KERNEL_BINARY_SHA256_H
#define AIVOPS_KERNEL_BINARY_SHA256_H

#include "aivops/kernel_binary/bytes.h"

#include <array>
#include <cstring>
#include <string>

namespace aivops::kernel_binary {

class Sha256 {
  public:
    void update(ByteView bytes) {
        const unsigned char* data = bytes.data();
        std::uint64_t left = bytes.size();
        total_ += left;
        while (left > 0) {
            if (filled_ == 0 && left >= kBlockBytes) {
                compress(data);
                data += kBlockBytes;
                left -= kBlockBytes;
                continue;
            }
            const std::size_t take =
                left < kBlockBytes - filled_ ? static_cast<std::size_t>(left) : kBlockBytes - filled_;
            std::memcpy(block_ + filled_, data, take);
            filled_ += take;
            data += take;
            left -= take;
            if (filled_ == kBlockBytes) {
                compress(block_);
                filled_ = 0;
            }
        }
    }

    // 64 lower-case digits. Ends the computation.
    std::string hex_digest() {
        const std::uint64_t bits = total_ * 8;
        unsigned char padding[kBlockBytes * 2] = {0x80};
        const std::size_t zeros = (filled_ < 56 ? 56 : 120) - filled_;
        for (std::size_t i = 0; i < 8; ++i) {
            padding[zeros + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
        }
        update(ByteView(padding, zeros + 8));
        std::string text;
        text.reserve(64);
        for (const std::uint32_t word : state_) {
            for (int shift = 28; shift >= 0; shift -= 4) {
                text += "0123456789abcdef"[word >> shift & 0xf];
            }
        }
        return text;
    }

  private:
    static constexpr std::size_t kBlockBytes = 64;

    static std::uint32_t rotate(std::uint32_t value, int count) { return value >> count | value << (32 - count); }

    void compress(const unsigned char* block) {
        static constexpr std::uint32_t kRound[64] = {
            0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
            0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
            0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
            0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
            0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
            0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
            0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
            0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
        const ByteView view(block, kBlockBytes);
        std::uint32_t schedule[64];
        for (std::size_t i = 0; i < 16; ++i) {
            schedule[i] = view.big<std::uint32_t>(4 * i);
        }
        for (std::size_t i = 16; i < 64; ++i) {
            const std::uint32_t early = schedule[i - 15];
            const std::uint32_t late = schedule[i - 2];
            schedule[i] = schedule[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + schedule[i - 7] +
                          (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
        }
        auto [a, b, c, d, e, f, g, h] = state_;
        for (std::size_t i = 0; i < 64; ++i) {
            const std::uint32_t first =
                h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + schedule[i];
            const std::uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
        const std::uint32_t next[8] = {a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < 8; ++i) {
            state_[i] += next[i];
        }
    }

    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char block_[kBlockBytes] = {};
    std::size_t filled_ = 0;
    std::uint64_t total_ = 0;
};

inline std::string sha256_hex(ByteView bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.hex_digest();
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_SHA256_H
