// Events: order between streams, and time.
#include "errors.h"
#include "limits.h"
#include "objects.h"

#include "machine/doorbell.h"

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

machine::Activity activity(const char* verb, const EventObject& event) {
    return {verb, std::string(verb) + " event " + std::to_string(event.id)};
}

// Waits on a stream until an event has been recorded as often as it was asked for when the wait was.
class EventWait : public machine::Task {
  public:
    EventWait(std::shared_ptr<EventObject> event, std::shared_ptr<machine::Ordering> ordering, uint64_t target,
              int64_t timeout_ns)
        : event_(std::move(event)), ordering_(std::move(ordering)), target_(target), timeout_ns_(timeout_ns) {}

    Step step(machine::Device&) override {
        if (event_->completed.load(std::memory_order_acquire) >= target_) {
            event_->waiting.fetch_sub(1);
            ordering_->learn(event_->ordering.known());
            return Step::kDone;
        }
        const int64_t now = machine::now_ns();
        began_ = began_ == 0 ? now : began_;
        if (timeout_ns_ != 0 && now - began_ > timeout_ns_) {
            event_->waiting.fetch_sub(1);
            failure_ = {ACL_ERROR_RT_WAIT_TIMEOUT,
                        "a stream has waited longer than its limit for event " + std::to_string(event_->id)};
            return Step::kDone;
        }
        return Step::kIdle;
    }
    void abandon(machine::Device&) override { event_->waiting.fetch_sub(1); }
    std::optional<machine::Failure> failure() override { return failure_; }
    machine::Activity activity() const override { return ::activity("wait", *event_); }

  private:
    std::shared_ptr<EventObject> event_;
    std::shared_ptr<machine::Ordering> ordering_;
    uint64_t target_;
    int64_t timeout_ns_;
    int64_t began_ = 0;
    std::optional<machine::Failure> failure_;
};

aclError make(const char* function, aclrtEvent* event, uint32_t flag) {
    if (event == nullptr) {
        return null_argument(function, "event");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(function);
    }
    static std::atomic<uint32_t> next_id{0};
    auto made = std::make_shared<EventObject>();
    made->id = next_id.fetch_add(1);
    made->flags = flag;
    made->device = context->device;
    *event = runtime().events.add(made);
    return ACL_SUCCESS;
}

std::shared_ptr<EventObject> find(const char* function, aclrtEvent handle, aclError& error) {
    if (handle == nullptr) {
        error = null_argument(function, "event");
        return nullptr;
    }
    std::shared_ptr<EventObject> event = runtime().events.find(handle);
    error = event ? ACL_SUCCESS : bad_handle(function, "event");
    return event;
}

aclError record(const char* function, aclrtEvent event, aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> found = find(function, event, error);
    if (!found) {
        return error;
    }
    std::shared_ptr<StreamObject> on = find_stream(function, stream, false, error);
    if (!on) {
        return error;
    }
    found->device = on->queue->device();
    const uint64_t generation = found->recorded.fetch_add(1) + 1;
    on->device().submit(*on->queue,
                        std::make_unique<machine::FunctionTask>(
                            activity("record", *found), [found, generation, ordering = on->queue->ordering()] {
                                found->ordering.learn(ordering->known());
                                found->at_ns.store(machine::now_ns());
                                found->completed.store(generation, std::memory_order_release);
                                machine::doorbell().ring();
                                return std::optional<machine::Failure>();
                            }));
    return ACL_SUCCESS;
}

aclError wait(const char* function, aclrtStream stream, aclrtEvent event, int64_t timeout_ns) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> found = find(function, event, error);
    if (!found) {
        return error;
    }
    std::shared_ptr<StreamObject> on = find_stream(function, stream, false, error);
    if (!on) {
        return error;
    }
    // An event that was never recorded is waited for until it is, for the first time.
    const uint64_t target = std::max<uint64_t>(found->recorded.load(), 1);
    found->waiting.fetch_add(1);
    on->device().submit(*on->queue, std::make_unique<EventWait>(found, on->queue->ordering(), target, timeout_ns));
    return ACL_SUCCESS;
}

bool complete(const EventObject& event) {
    const uint64_t recorded = event.recorded.load();
    return recorded != 0 && event.completed.load(std::memory_order_acquire) >= recorded;
}

aclError synchronize_event(const char* function, aclrtEvent event, int32_t timeout_ms) {
    if (timeout_ms < -1) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "the timeout is milliseconds, or -1 for none");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> found = find(function, event, error);
    if (!found) {
        return error;
    }
    const uint64_t target = found->recorded.load();
    if (target == 0) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "the event was never recorded, so this would wait for ever");
    }
    if (!machine::machine().drive(found->device, [&] { return found->completed.load() >= target; }, timeout_ms)) {
        return fail(function, ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                    "event " + std::to_string(found->id) + " has not happened after " + std::to_string(timeout_ms) +
                        " ms");
    }
    return ACL_SUCCESS;
}

} // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
    return make(__func__, event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
    return make(__func__, event, flag);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
    return make(__func__, event, flag);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    if (event == nullptr) {
        return null_argument(__func__, "event");
    }
    return runtime().events.remove(event) ? ACL_SUCCESS : bad_handle(__func__, "event");
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    return record(__func__, event, stream);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t) {
    return record(__func__, event, stream);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> found = find(__func__, event, error);
    if (!found) {
        return error;
    }
    std::shared_ptr<StreamObject> on = find_stream(__func__, stream, false, error);
    if (!on) {
        return error;
    }
    on->device().submit(*on->queue, std::make_unique<machine::FunctionTask>(activity("reset", *found), [found] {
        found->recorded.store(0);
        found->completed.store(0);
        return std::optional<machine::Failure>();
    }));
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    return wait(__func__, stream, event, wait_timeout_ns());
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    if (timeout < -1) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the timeout is milliseconds, or -1 for none");
    }
    return wait(__func__, stream, event, timeout < 0 ? 0 : int64_t{timeout} * 1000000);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t) {
    return wait(__func__, stream, event, int64_t{timeout} * 1000000);
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    if (status == nullptr) {
        return null_argument(__func__, "status");
    }
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<EventObject> found = find(__func__, event, error)) {
        machine::machine().device(found->device).advance();
        *status = complete(*found) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    }
    return error;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    if (status == nullptr) {
        return null_argument(__func__, "status");
    }
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<EventObject> found = find(__func__, event, error)) {
        machine::machine().device(found->device).advance();
        *status = complete(*found) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    }
    return error;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
    if (status == nullptr) {
        return null_argument(__func__, "status");
    }
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<EventObject> found = find(__func__, event, error)) {
        *status = found->waiting.load() == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    }
    return error;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return synchronize_event(__func__, event, -1);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    return synchronize_event(__func__, event, timeout);
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    if (ms == nullptr) {
        return null_argument(__func__, "ms");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> start = find(__func__, startEvent, error);
    std::shared_ptr<EventObject> end = start ? find(__func__, endEvent, error) : nullptr;
    if (!end) {
        return error;
    }
    if (!complete(*start) || !complete(*end)) {
        return fail(__func__, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "both events must have happened; synchronise the streams they are recorded on first");
    }
    *ms = static_cast<float>(static_cast<double>(end->at_ns.load() - start->at_ns.load()) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
    if (timestamp == nullptr) {
        return null_argument(__func__, "timestamp");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<EventObject> found = find(__func__, event, error);
    if (!found) {
        return error;
    }
    if (!complete(*found)) {
        return fail(__func__, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event has not happened");
    }
    *timestamp = static_cast<uint64_t>(found->at_ns.load() / 1000);
    return ACL_SUCCESS;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
    if (eventId == nullptr) {
        return null_argument(__func__, "eventId");
    }
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<EventObject> found = find(__func__, event, error)) {
        *eventId = found->id;
    }
    return error;
}
