// A queue of bytes from one rank to another in shared memory. Its counters may be written by anybody who shares the
// memory, so they are checked before they move a byte.
#ifndef AIVOPS_EMULATOR_HCCL_RING_H
#define AIVOPS_EMULATOR_HCCL_RING_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace aivops::hccl {

/// Bytes ever written and ever read; each is written by one end only.
struct RingCounters {
    alignas(64) std::atomic<uint64_t> written;
    alignas(64) std::atomic<uint64_t> read;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

class Ring {
  public:
    Ring(RingCounters* counters, std::byte* data, uint64_t capacity)
        : counters_(counters), data_(data), capacity_(capacity) {}

    uint64_t capacity() const { return capacity_; }
    uint64_t readable() const;
    uint64_t writable() const { return capacity_ - readable(); }

    /// Both move as many bytes as there is room or data for, and say how many.
    uint64_t put(const void* from, uint64_t bytes);
    uint64_t get(void* to, uint64_t bytes);

  private:
    RingCounters* counters_;
    std::byte* data_;
    uint64_t capacity_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_RING_H
