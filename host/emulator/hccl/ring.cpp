#include "ring.h"

#include "aivops/kernel_binary/counted.h"
#include "error.h"

#include <algorithm>
#include <cstring>

namespace aivops::hccl {

uint64_t Ring::readable() const {
    const uint64_t read = counters_->read.load(std::memory_order_acquire);
    const uint64_t bytes = counters_->written.load(std::memory_order_acquire) - read;
    require(bytes <= capacity_, HCCL_E_INTERNAL,
            "the shared memory of the communicator is damaged: a queue of " +
                aivops::kernel_binary::counted(capacity_, "byte") + " says that it holds " + std::to_string(bytes));
    return bytes;
}

uint64_t Ring::put(const void* from, uint64_t bytes) {
    bytes = std::min(bytes, writable());
    if (bytes == 0) {
        return 0; // `from` may be nothing at all
    }
    const uint64_t written = counters_->written.load(std::memory_order_relaxed);
    const uint64_t at = written % capacity_;
    const uint64_t first = std::min(bytes, capacity_ - at);
    std::memcpy(data_ + at, from, first);
    std::memcpy(data_, static_cast<const std::byte*>(from) + first, bytes - first);
    counters_->written.store(written + bytes, std::memory_order_release);
    return bytes;
}

uint64_t Ring::get(void* to, uint64_t bytes) {
    bytes = std::min(bytes, readable());
    if (bytes == 0) {
        return 0;
    }
    const uint64_t read = counters_->read.load(std::memory_order_relaxed);
    const uint64_t at = read % capacity_;
    const uint64_t first = std::min(bytes, capacity_ - at);
    std::memcpy(to, data_ + at, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data_, bytes - first);
    counters_->read.store(read + bytes, std::memory_order_release);
    return bytes;
}

} // namespace aivops::hccl
