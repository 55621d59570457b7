// What a device's kernels did, counted where it happens. One thread at a time writes a device's counters; any may read.
#ifndef AIVOPS_MACHINE_COUNTERS_H
#define AIVOPS_MACHINE_COUNTERS_H

#include "gm_words.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace aivops::machine {

constexpr uint32_t kMaxOwners = 64; // devices whose memory a device may touch

/// A count with one writer at a time.
class Count {
  public:
    void add(uint64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
    void clear() { value_.store(0, std::memory_order_relaxed); }
    uint64_t get() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<uint64_t> value_{0};
};

struct Traffic {
    Count read_bytes;
    Count written_bytes;
    Count small_reads; // at most kSmallBytes: flags and single words; their bytes are part of read_bytes
    Count small_read_bytes;
    Count small_writes;
    Count small_written_bytes;
    Count polls; // small reads of what was just read, counted here and nowhere else
    Count poll_bytes;
};

/// Instructions of one name that work on the unified buffer.
struct InstructionCount {
    std::array<char, 32> name{}; // terminated
    Count issued;
    Count read_bytes;
    Count written_bytes;
};

/// Such instructions by name, in the order in which they first came.
class InstructionCounts {
  public:
    void add(const char* name, uint64_t read_bytes, uint64_t written_bytes);
    void clear();
    std::span<const InstructionCount> all() const { return {counts_.data(), size_.load(std::memory_order_acquire)}; }

  private:
    InstructionCount& of(const char* name);

    // Several times as many as the Ascend C headers have names. What finds no room shares the last place.
    static constexpr uint32_t kMost = 256;
    std::array<InstructionCount, kMost> counts_;
    std::atomic<uint32_t> size_{0};
    std::array<uint32_t, 128> likely_{}; // by the address of a name: where it was found
};

struct Counters {
    std::array<Traffic, kMaxOwners> by_owner;
    InstructionCounts instructions;
    Count launches;
    Count blocks;
    Count sync_alls;
    Count atomics;

    void reset() {
        for (Traffic& traffic : by_owner) {
            for (Count* count :
                 {&traffic.read_bytes, &traffic.written_bytes, &traffic.small_reads, &traffic.small_read_bytes,
                  &traffic.small_writes, &traffic.small_written_bytes, &traffic.polls, &traffic.poll_bytes}) {
                count->clear();
            }
        }
        for (Count* count : {&launches, &blocks, &sync_alls, &atomics}) {
            count->clear();
        }
        instructions.clear();
    }
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_COUNTERS_H
