// One piece of work on a stream. Whoever drives the device steps the first task of each stream until it is done.
#ifndef AIVOPS_MACHINE_TASK_H
#define AIVOPS_MACHINE_TASK_H

#include "report.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace aivops::machine {

class Device;

// What a task is, in a timeline.
struct Activity {
    const char* category; // a literal: launch, copy, ...
    std::string name;
    uint64_t bytes = 0;
    uint32_t blocks = 0;
};

class Task {
  public:
    enum class Step { kIdle, kProgress, kDone };

    virtual ~Task() = default;
    virtual Step step(Device& device) = 0;

    /// Gives back what a task that has begun holds; it is not stepped again.
    virtual void abandon(Device&) {}

    /// Why it failed; asked once, when it is done.
    virtual std::optional<Failure> failure() { return std::nullopt; }

    virtual Activity activity() const = 0;
};

/// Work that is done in one go: a copy, a fill.
class FunctionTask : public Task {
  public:
    FunctionTask(Activity activity, std::function<std::optional<Failure>()> function)
        : activity_(std::move(activity)), function_(std::move(function)) {}
    Step step(Device&) override {
        failure_ = function_();
        return Step::kDone;
    }
    std::optional<Failure> failure() override { return std::move(failure_); }
    Activity activity() const override { return activity_; }

  private:
    Activity activity_;
    std::function<std::optional<Failure>()> function_;
    std::optional<Failure> failure_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_TASK_H
