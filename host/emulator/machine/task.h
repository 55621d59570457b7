// One piece of work on a stream. Whoever drives the device steps the first task of each stream until it is done.
#ifndef AIVOPS_MACHINE_TASK_H
#define AIVOPS_MACHINE_TASK_H

#include "report.h"

#include <functional>
#include <optional>

namespace aivops::machine {

class Device;

class Task {
  public:
    enum class Step { kIdle, kProgress, kDone };

    virtual ~Task() = default;
    virtual Step step(Device& device) = 0;

    /// Gives back what a task that has begun holds; it is not stepped again.
    virtual void abandon(Device&) {}

    /// Why it failed; asked once, when it is done.
    virtual std::optional<Failure> failure() { return std::nullopt; }
};

/// Work that is done in one go: a copy, a fill.
class FunctionTask : public Task {
  public:
    explicit FunctionTask(std::function<std::optional<Failure>()> function) : function_(std::move(function)) {}
    Step step(Device&) override {
        failure_ = function_();
        return Step::kDone;
    }
    std::optional<Failure> failure() override { return std::move(failure_); }

  private:
    std::function<std::optional<Failure>()> function_;
    std::optional<Failure> failure_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_TASK_H
