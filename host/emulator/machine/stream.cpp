#include "stream.h"

#include "doorbell.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace aivops::machine {

std::optional<Failure> Stream::take_failure() {
    {
        std::lock_guard lock(mutex_);
        if (ended_) {
            return ended_;
        }
        if (failure_) {
            return std::exchange(failure_, std::nullopt);
        }
    }
    std::lock_guard lock(domain_->mutex);
    domain_->told |= domain_->stopped.has_value();
    return domain_->stopped;
}

std::optional<Failure> Stream::take_unclaimed_failure() {
    std::scoped_lock lock(mutex_, domain_->mutex);
    std::optional<Failure> taken = std::exchange(failure_, std::nullopt);
    return ended_ || domain_->told ? std::nullopt : taken;
}

void Stream::end(const Failure& failure) {
    std::lock_guard lock(mutex_);
    ended_ = failure;
}

size_t Stream::unfinished_launches() {
    std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::count_if(tasks_.begin(), tasks_.end(), [](const std::unique_ptr<Task>& task) {
        return std::string_view(task->activity().category) == "launch";
    }));
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
