// A queue of work on one device. Made here, or borrowed from another user of the runtime, who then keeps owning it.
#ifndef AIVOPS_DISPATCH_STREAM_H
#define AIVOPS_DISPATCH_STREAM_H

#include "aivops/dispatch/device.h"
#include "aivops/dispatch/event.h"
#include "aivops/dispatch/retained.h"

#include <atomic>

namespace aivops {

namespace detail {

struct StreamState {
    explicit StreamState(const Device& device) : device(device), owned(true) {
        const ContextGuard guard(device);
        check(device.acl(), device.acl().aclrtCreateStream(&handle), "aclrtCreateStream",
              [&] { return "Stream on device " + std::to_string(device.id()); });
    }
    StreamState(const Device& device, aclrtStream borrowed) : device(device), handle(borrowed), owned(false) {}

    /// Waits for nothing: a destructor that blocked could wait for a kernel that waits for its caller.
    ~StreamState() {
        if (is_forked_child()) {
            return;
        }
        try {
            device.retire(handle, owned, queued.load(std::memory_order_relaxed) != 0, retained.take());
        } catch (const Error&) {
            // Someone else took the device down; the stream went with it.
        }
    }
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    Device device;
    aclrtStream handle = nullptr;
    const bool owned;
    RetainedList retained;
    std::atomic<std::uint32_t> queued{0}; // launches since the stream was last seen idle
};

} // namespace detail

class Stream {
  public:
    explicit Stream(const Device& device) : state_(std::make_shared<detail::StreamState>(device)) {}
    /// Null is the default stream of the device.
    static Stream borrow(const Device& device, aclrtStream handle) {
        return Stream(std::make_shared<detail::StreamState>(device, handle));
    }

    const Device& device() const { return state_->device; }
    aclrtStream handle() const { return state_->handle; }
    std::string describe() const { return "Stream on device " + std::to_string(device().id()); }

    /// Waits for everything queued so far; raises what failed. Blocks.
    void synchronize(const Timeout& timeout = {}) const {
        const std::int32_t ms = detail::wait_timeout_ms(timeout);
        auto passed = state_->retained.take();
        aclError code = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
        try {
            code = detail::wait_observed(acl(), ms, [&](std::int32_t slice) {
                const ContextGuard guard(device());
                return acl().aclrtSynchronizeStreamWithTimeout(handle(), slice);
            });
        } catch (...) {
            state_->retained.give_back(std::move(passed));
            throw;
        }
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
            state_->retained.give_back(std::move(passed));
        } else {
            state_->queued.store(0, std::memory_order_relaxed);
        }
        check(acl(), code, "aclrtSynchronizeStreamWithTimeout", [&] { return describe(); });
    }

    /// True when everything queued so far is done.
    bool query() const {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        const ContextGuard guard(device());
        check(acl(), acl().aclrtStreamQuery(handle(), &status), "aclrtStreamQuery", [&] { return describe(); });
        return status == ACL_STREAM_STATUS_COMPLETE;
    }

    void record(const Event& event) const {
        const ContextGuard guard(device());
        check(acl(), acl().aclrtRecordEvent(event.handle(), handle()), "aclrtRecordEvent", [&] { return describe(); });
    }

    /// What is queued from here on starts after `event`.
    void wait(const Event& event) const {
        const ContextGuard guard(device());
        check(acl(), acl().aclrtStreamWaitEvent(handle(), event.handle()), "aclrtStreamWaitEvent",
              [&] { return describe(); });
    }

    /// Vector cores that a launch on this stream may use. The limit is the thread's to ask for, so the stream is
    /// selected first; a thread that had selected another one has to do so again.
    std::uint32_t vector_cores() const {
        std::uint32_t cores = 0;
        const ContextGuard guard(device());
        check(acl(), acl().aclrtUseStreamResInCurrentThread(handle()), "aclrtUseStreamResInCurrentThread",
              [&] { return describe(); });
        const aclError code = acl().aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores);
        acl().aclrtUnuseStreamResInCurrentThread(handle());
        check(acl(), code, "aclrtGetResInCurrentThread", [&] { return describe(); });
        if (cores == 0) {
            throw InvalidValueError(describe() +
                                    ": its limit is 0 vector cores, so no kernel can run; raise the limit of the "
                                    "stream or of the device");
        }
        return cores;
    }

    void set_vector_core_limit(std::uint32_t cores) const {
        if (cores == 0) {
            throw InvalidValueError(describe() + ": a limit of 0 vector cores would keep every kernel from running");
        }
        const auto set = device().toolkit().require(acl().aclrtSetStreamResLimit, "aclrtSetStreamResLimit");
        const ContextGuard guard(device());
        check(acl(), set(handle(), ACL_RT_DEV_RES_VECTOR_CORE, cores), "aclrtSetStreamResLimit",
              [&] { return describe(); });
    }

    void reset_vector_core_limit() const {
        const auto reset = device().toolkit().require(acl().aclrtResetStreamResLimit, "aclrtResetStreamResLimit");
        const ContextGuard guard(device());
        check(acl(), reset(handle()), "aclrtResetStreamResLimit", [&] { return describe(); });
    }

    /// Whether queueing more may have to wait for room. Callers who hold a lock that kernels or peers need give it up
    /// first.
    bool may_block() const {
        if (state_->queued.load(std::memory_order_relaxed) < kQueueRoom) {
            return false;
        }
        if (query()) {
            state_->queued.store(0, std::memory_order_relaxed);
            return false;
        }
        return true;
    }

    /// Keeps `object` until the work queued so far, a launch of it included, is done.
    void retain(const std::shared_ptr<detail::Retainable>& object) const {
        if (state_->retained.keep(object)) {
            release_if_idle();
        }
    }

  private:
    friend class Kernel;

    /// Launches that every stream takes without waiting.
    static constexpr std::uint32_t kQueueRoom = 512;

    explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}

    void count_launch() const { state_->queued.fetch_add(1, std::memory_order_relaxed); }

    const cann::FunctionTable& acl() const { return device().acl(); }

    void release_if_idle() const {
        auto passed = state_->retained.take();
        if (!query()) {
            state_->retained.give_back(std::move(passed));
        }
    }

    std::shared_ptr<detail::StreamState> state_;
};

} // namespace aivops

#endif // AIVOPS_DISPATCH_STREAM_H
