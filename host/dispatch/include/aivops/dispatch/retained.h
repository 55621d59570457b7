// What work in flight still needs. A stream keeps the binaries and buffers of its launches until it knows that they are
// done: the runtime waits for nothing when a binary is unloaded or memory is freed.
#ifndef AIVOPS_DISPATCH_RETAINED_H
#define AIVOPS_DISPATCH_RETAINED_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace aivops::detail {

/// Base of what can be kept. It remembers who keeps it, so that launching again costs one comparison.
struct Retainable {
    std::atomic<std::uint64_t> epoch{0};
};

class RetainedList {
  public:
    RetainedList() : epoch_(next_epoch()) {}

    /// Keeps `object` until the next take(). True when the list has grown past its mark: time to ask whether the stream
    /// is idle.
    bool keep(const std::shared_ptr<Retainable>& object) {
        if (object->epoch.load(std::memory_order_acquire) == epoch_.load(std::memory_order_acquire)) {
            return false;
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        object->epoch.store(epoch_.load(std::memory_order_relaxed), std::memory_order_release);
        objects_.push_back(object);
        return objects_.size() >= mark_;
    }

    /// Takes everything kept so far; the caller drops it once the stream has passed this point.
    std::vector<std::shared_ptr<Retainable>> take() {
        const std::lock_guard<std::mutex> lock(mutex_);
        epoch_.store(next_epoch(), std::memory_order_release);
        return std::exchange(objects_, {});
    }

    /// Puts back what was taken, when the stream turned out not to have passed.
    void give_back(std::vector<std::shared_ptr<Retainable>> objects) {
        const std::lock_guard<std::mutex> lock(mutex_);
        objects_.insert(objects_.end(), objects.begin(), objects.end());
        mark_ = objects_.size() * 2 > kFirstMark ? objects_.size() * 2 : kFirstMark;
    }

  private:
    static constexpr std::size_t kFirstMark = 256;

    static std::uint64_t next_epoch() {
        static std::atomic<std::uint64_t> last{0};
        return last.fetch_add(1, std::memory_order_relaxed) + 1;
    }

    std::mutex mutex_;
    std::atomic<std::uint64_t> epoch_;
    std::vector<std::shared_ptr<Retainable>> objects_;
    std::size_t mark_ = kFirstMark;
};

} // namespace aivops::detail

#endif // AIVOPS_DISPATCH_RETAINED_H
