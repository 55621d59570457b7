// An ordered queue of tasks, and where its failures wait for the next synchronisation.
#ifndef AIVOPS_MACHINE_STREAM_H
#define AIVOPS_MACHINE_STREAM_H

#include "race_check.h"
#include "task.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace aivops::machine {

// What the streams of a context share: whether a failure stops them all.
struct FailureDomain {
    std::atomic<bool> stop_on_failure{false};
    std::mutex mutex;
    std::optional<Failure> stopped; // the failure that stopped them
    bool told = false;              // to somebody
};

class Stream {
  public:
    Stream(uint32_t device, uint32_t id, std::shared_ptr<FailureDomain> domain)
        : device_(device), id_(id), domain_(std::move(domain)) {}

    uint32_t device() const { return device_; }
    uint32_t id() const { return id_; }

    /// How many tasks were ever submitted, and how many are done.
    uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
    uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
    bool idle() const { return completed() == submitted(); }

    /// The failure since it was last asked for; the domain's, for ever, where failures stop.
    std::optional<Failure> take_failure();

    /// From now on whoever waits for it is told of this failure, and of no other.
    void end(const Failure& failure);

    /// The same, unless somebody has been told of it through another stream of the domain.
    std::optional<Failure> take_unclaimed_failure();
    size_t unfinished_launches();

    FailureDomain& domain() { return *domain_; }
    const std::shared_ptr<Ordering>& ordering() const { return ordering_; }

  private:
    friend class Device;

    Task* front() {
        std::lock_guard lock(mutex_);
        return tasks_.empty() ? nullptr : tasks_.front().get();
    }
    void finish_front(std::optional<Failure> failure);

    const uint32_t device_;
    const uint32_t id_;
    std::shared_ptr<FailureDomain> domain_;
    std::shared_ptr<Ordering> ordering_ = std::make_shared<Ordering>(); // for whoever turns the engine
    std::mutex mutex_;
    std::deque<std::unique_ptr<Task>> tasks_;
    std::optional<Failure> failure_;
    std::optional<Failure> ended_; // why it was ended from outside
    int64_t front_began_ns_ = 0;   // when traced, for whoever turns the engine; 0 = the front task has not begun
    std::atomic<uint64_t> submitted_{0};
    std::atomic<uint64_t> completed_{0};
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_STREAM_H
