// A point in a stream: others can wait for it, and the time between two can be read.
#ifndef AIVOPS_DISPATCH_EVENT_H
#define AIVOPS_DISPATCH_EVENT_H

#include "aivops/dispatch/device.h"

namespace aivops {

namespace detail {

struct EventState {
    explicit EventState(const Device& device) : device(device) {
        const ContextGuard guard(device);
        check(device.acl(), device.acl().aclrtCreateEventExWithFlag(&handle, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE),
              "aclrtCreateEventExWithFlag", [&] { return "Event on device " + std::to_string(device.id()); });
    }
    ~EventState() {
        if (!is_forked_child()) {
            const ContextSaver saver(device.acl());
            device.acl().aclrtSetCurrentContext(device.context());
            device.acl().aclrtDestroyEvent(handle);
        }
    }
    EventState(const EventState&) = delete;
    EventState& operator=(const EventState&) = delete;

    Device device;
    aclrtEvent handle = nullptr;
};

} // namespace detail

class Event {
  public:
    explicit Event(const Device& device) : state_(std::make_shared<detail::EventState>(device)) {}

    const Device& device() const { return state_->device; }
    aclrtEvent handle() const { return state_->handle; }

    /// Whether the stream has come past it.
    bool query() const {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        const ContextGuard guard(device());
        check(acl(), acl().aclrtQueryEventStatus(handle(), &status), "aclrtQueryEventStatus",
              [&] { return describe(); });
        return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }

    /// Blocks until the stream has come past it.
    void synchronize(const Timeout& timeout = {}) const {
        const std::int32_t ms = detail::wait_timeout_ms(timeout);
        const aclError code = detail::wait_observed(acl(), ms, [&](std::int32_t slice) {
            const ContextGuard guard(device());
            return acl().aclrtSynchronizeEventWithTimeout(handle(), slice);
        });
        check(acl(), code, "aclrtSynchronizeEventWithTimeout", [&] { return describe(); });
    }

    /// Seconds from `start` to this event; both must have been passed.
    double elapsed_since(const Event& start) const {
        float ms = 0;
        const ContextGuard guard(device());
        check(acl(), acl().aclrtEventElapsedTime(&ms, start.handle(), handle()), "aclrtEventElapsedTime",
              [&] { return describe(); });
        return static_cast<double>(ms) / 1e3;
    }

  private:
    const cann::FunctionTable& acl() const { return device().acl(); }
    std::string describe() const { return "Event on device " + std::to_string(device().id()); }

    std::shared_ptr<detail::EventState> state_;
};

} // namespace aivops

#endif // AIVOPS_DISPATCH_EVENT_H
