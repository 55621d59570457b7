#include "stream.h"

#include "doorbell.h"

namespace aivops::machine {

std::optional<Failure> Stream::take_failure() {
    {
        std::lock_guard lock(mutex_);
        if (failure_) {
            std::optional<Failure> taken = std::move(failure_);
            failure_.reset();
            return taken;
        }
    }
    std::lock_guard lock(domain_->mutex);
    return domain_->stopped;
}

void Stream::finish_front(std::optional<Failure> failure) {
    if (failure && domain_->stop_on_failure.load()) {
        std::lock_guard lock(domain_->mutex);
        if (!domain_->stopped) {
            domain_->stopped = failure;
        }
    }
    std::unique_ptr<Task> finished; // destroyed without the lock: a task may hold the last reference to much
    {
        std::lock_guard lock(mutex_);
        finished = std::move(tasks_.front());
        tasks_.pop_front();
        if (failure && !failure_) {
            failure_ = std::move(failure);
        }
    }
    completed_.fetch_add(1, std::memory_order_release);
    doorbell().ring();
}

} // namespace aivops::machine
