// One device of a toolkit. Copies share the device's primary context, which is retained while any of them lives.
#ifndef AIVOPS_DISPATCH_DEVICE_H
#define AIVOPS_DISPATCH_DEVICE_H

#include "aivops/cann/error_names.h"
#include "aivops/dispatch/retained.h"
#include "aivops/dispatch/timeout.h"
#include "aivops/dispatch/toolkit.h"
#include "aivops/dispatch/wait.h"
#include "aivops/kernel_binary/counted.h"

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace aivops {

namespace detail {

/// The calling thread's context; null when it has none. The runtime calls that an error: its message is taken away, or
/// it would be told with the next real one.
inline aclrtContext current_context(const cann::FunctionTable& acl) {
    aclrtContext context = nullptr;
    if (acl.aclrtGetCurrentContext(&context) == ACL_SUCCESS) {
        return context;
    }
    acl.aclGetRecentErrMsg();
    return nullptr;
}

/// Saves the calling thread's context and puts it back. A thread that had none keeps what was set in between: the
/// runtime has no call to take a context away.
class ContextSaver {
  public:
    explicit ContextSaver(const cann::FunctionTable& acl) : acl_(acl), previous_(current_context(acl)) {}
    ~ContextSaver() {
        if (previous_ != nullptr) {
            acl_.aclrtSetCurrentContext(previous_);
        }
    }
    ContextSaver(const ContextSaver&) = delete;
    ContextSaver& operator=(const ContextSaver&) = delete;

  private:
    const cann::FunctionTable& acl_;
    aclrtContext previous_;
};

struct DeviceState;

/// A stream that was dropped while it had work: nobody waits for it, it goes when it is seen idle. It keeps its device,
/// so one that never becomes idle is simply left to the end of the process.
struct RetiredStream {
    aclrtStream handle = nullptr;
    bool owned = false;
    bool launched = false; // something since it was last waited for
    std::vector<std::shared_ptr<Retainable>> needed;
    std::shared_ptr<DeviceState> device;
};

/// Holds one reference to the primary context. aclrtSetDevice would leak one per call if it were used to switch
/// devices.
struct DeviceState {
    DeviceState(const Toolkit& toolkit, std::int32_t id) : toolkit(toolkit), id(id) {
        const cann::FunctionTable& acl = toolkit.acl();
        const std::uint32_t count = toolkit.device_count();
        if (count == 0) {
            throw ToolkitError(toolkit.describe() +
                               ": has no device; check the NPU driver with npu-smi info, or use the "
                               "emulated toolkit with AIVOPS_TOOLKIT=emulator");
        }
        if (id < 0 || static_cast<std::uint32_t>(id) >= count) {
            throw InvalidValueError(describe() + ": there are " + kernel_binary::counted(count, "device") + ", 0 to " +
                                    std::to_string(count - 1));
        }
        soc_name = toolkit.soc_name();
        architecture = toolkit.architecture();
        const ContextSaver saver(acl);
        check(acl, acl.aclrtSetDevice(id), "aclrtSetDevice", [&] { return describe(); });
        try {
            check(acl, acl.aclrtGetCurrentContext(&context), "aclrtGetCurrentContext", [&] { return describe(); });
            check(acl, acl.aclrtGetOpTimeOutInterval(&timeout_interval_us), "aclrtGetOpTimeOutInterval",
                  [&] { return describe(); });
            if (timeout_interval_us == 0) {
                throw ToolkitError(describe() + ": the runtime reports a timeout interval of 0 us");
            }
        } catch (...) {
            acl.aclrtResetDevice(id);
            throw;
        }
    }

    ~DeviceState() {
        if (!is_forked_child()) {
            const ContextSaver saver(toolkit.acl());
            toolkit.acl().aclrtResetDevice(id);
        }
    }

    DeviceState(const DeviceState&) = delete;
    DeviceState& operator=(const DeviceState&) = delete;

    std::string describe() const { return "Device " + std::to_string(id); }

    /// Destroys a stream of this device now if it is idle, later otherwise. The device must be current.
    void retire(RetiredStream stream) {
        if (!finish(stream)) {
            const std::lock_guard<std::mutex> lock(mutex);
            retired.push_back(std::move(stream));
        }
    }

    /// Destroys the retired streams that have become idle. The device must be current.
    void sweep() {
        std::vector<RetiredStream>
            finished; // dropped after the lock is released: it may hold the last use of this device
        const std::lock_guard<std::mutex> lock(mutex);
        for (std::size_t i = 0; i < retired.size();) {
            if (finish(retired[i])) {
                finished.push_back(std::move(retired[i]));
                retired.erase(retired.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
        }
    }

    const Toolkit& toolkit;
    const std::int32_t id;
    std::string soc_name;
    std::string architecture;
    aclrtContext context = nullptr;
    std::uint64_t timeout_interval_us = 0;

  private:
    /// False when the stream still has work. One that cannot be asked any more has none.
    bool finish(const RetiredStream& stream) const {
        const cann::FunctionTable& acl = toolkit.acl();
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        const aclError code = acl.aclrtStreamQuery(stream.handle, &status);
        if (code == ACL_SUCCESS && status != ACL_STREAM_STATUS_COMPLETE) {
            return false;
        }
        if (stream.launched && code >= ACL_ERROR_RT_INTERNAL_ERROR) { // below are mistakes of the call
            const char* pending = acl.aclGetRecentErrMsg();
            const std::string message = pending != nullptr ? pending : cann::error_name(code);
            std::fprintf(stderr,
                         "aivops: warning: Stream on device %d was dropped, and nobody waited for a launch on it that "
                         "failed: %s\n",
                         id, message.substr(0, message.find('\n')).c_str());
        }
        if (stream.owned) {
            acl.aclrtDestroyStream(stream.handle);
        }
        return true;
    }

    std::mutex mutex;
    std::vector<RetiredStream> retired;
};

} // namespace detail

class Device {
  public:
    Device(const Toolkit& toolkit, std::int32_t id) : state_(find(toolkit, id)) {}

    const Toolkit& toolkit() const { return state_->toolkit; }
    std::int32_t id() const { return state_->id; }
    const std::string& soc_name() const { return state_->soc_name; }
    const std::string& architecture() const { return state_->architecture; }
    aclrtContext context() const { return state_->context; }
    const cann::FunctionTable& acl() const { return toolkit().acl(); }
    std::string describe() const { return state_->describe(); }

    /// Vector cores of the hardware.
    std::uint32_t vector_cores() const {
        std::int64_t cores = 0;
        check(acl(), acl().aclrtGetDeviceInfo(static_cast<std::uint32_t>(id()), ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores),
              "aclrtGetDeviceInfo", [&] { return describe(); });
        return static_cast<std::uint32_t>(cores);
    }

    /// Vector cores that launches may use, for the whole process; a stream may have its own limit.
    std::uint32_t vector_core_limit() const;
    void set_vector_core_limit(std::uint32_t cores) const;
    void reset_vector_core_limit() const;

    /// Free and total bytes of device memory.
    std::pair<std::size_t, std::size_t> memory() const;

    /// Longest time limit of a kernel, in seconds, and the step in which it counts.
    double max_timeout() const {
        return static_cast<double>(detail::kMaxTimeoutUnits * state_->timeout_interval_us) / 1e6;
    }
    std::uint64_t timeout_interval_us() const { return state_->timeout_interval_us; }
    /// What a launch with this limit gets: the default filled in, rounded up to the device's step.
    double effective_timeout(const Timeout& timeout) const {
        return detail::effective_timeout(detail::launch_timeout_us(timeout, timeout_interval_us()),
                                         timeout_interval_us());
    }

    /// Waits for everything on this device, of every stream; raises what failed. Blocks.
    void synchronize(const Timeout& timeout = {}) const;

    /// Gives up a stream without waiting for it.
    void retire(aclrtStream stream, bool owned, bool launched,
                std::vector<std::shared_ptr<detail::Retainable>> needed) const;

    friend bool operator==(const Device& left, const Device& right) { return left.state_ == right.state_; }
    friend bool operator!=(const Device& left, const Device& right) { return !(left == right); }

  private:
    static std::shared_ptr<detail::DeviceState> find(const Toolkit& toolkit, std::int32_t id) {
        detail::refuse_forked_child();
        static std::mutex mutex;
        static auto* states = new std::map<std::pair<const Toolkit*, std::int32_t>, std::weak_ptr<detail::DeviceState>>;
        const std::lock_guard<std::mutex> lock(mutex);
        std::weak_ptr<detail::DeviceState>& known = (*states)[{&toolkit, id}];
        std::shared_ptr<detail::DeviceState> state = known.lock();
        if (state == nullptr) {
            state = std::make_shared<detail::DeviceState>(toolkit, id);
            known = state;
        }
        return state;
    }

    std::shared_ptr<detail::DeviceState> state_;
};

/// Makes a device current for the calling thread and puts the thread's own context back at the end of the scope.
class ContextGuard {
  public:
    explicit ContextGuard(const Device& device) : acl_(device.acl()), previous_(detail::current_context(device.acl())) {
        if (previous_ == device.context()) {
            previous_ = nullptr;
            return;
        }
        check(acl_, acl_.aclrtSetCurrentContext(device.context()), "aclrtSetCurrentContext",
              [&] { return device.describe(); });
    }
    ~ContextGuard() {
        if (previous_ != nullptr) {
            acl_.aclrtSetCurrentContext(previous_);
        }
    }
    ContextGuard(const ContextGuard&) = delete;
    ContextGuard& operator=(const ContextGuard&) = delete;

  private:
    const cann::FunctionTable& acl_;
    aclrtContext previous_ = nullptr; // to put back; null when there is nothing to do
};

inline std::uint32_t Device::vector_core_limit() const {
    std::uint32_t cores = 0;
    const auto get = toolkit().require(acl().aclrtGetDeviceResLimit, "aclrtGetDeviceResLimit");
    const ContextGuard guard(*this);
    check(acl(), get(id(), ACL_RT_DEV_RES_VECTOR_CORE, &cores), "aclrtGetDeviceResLimit", [&] { return describe(); });
    return cores;
}

inline void Device::set_vector_core_limit(std::uint32_t cores) const {
    const std::uint32_t present = vector_cores();
    if (cores == 0 || cores > present) {
        throw InvalidValueError(describe() + ": a limit of " + kernel_binary::counted(cores, "vector core") +
                                "; it has " + std::to_string(present) + ", give 1 to " + std::to_string(present));
    }
    const auto set = toolkit().require(acl().aclrtSetDeviceResLimit, "aclrtSetDeviceResLimit");
    const ContextGuard guard(*this);
    check(acl(), set(id(), ACL_RT_DEV_RES_VECTOR_CORE, cores), "aclrtSetDeviceResLimit", [&] { return describe(); });
}

inline void Device::reset_vector_core_limit() const {
    const auto reset = toolkit().require(acl().aclrtResetDeviceResLimit, "aclrtResetDeviceResLimit");
    const ContextGuard guard(*this);
    check(acl(), reset(id()), "aclrtResetDeviceResLimit", [&] { return describe(); });
}

inline std::pair<std::size_t, std::size_t> Device::memory() const {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    const auto get = toolkit().require(acl().aclrtGetMemInfo, "aclrtGetMemInfo");
    const ContextGuard guard(*this);
    check(acl(), get(ACL_HBM_MEM, &free_bytes, &total_bytes), "aclrtGetMemInfo", [&] { return describe(); });
    return {free_bytes, total_bytes};
}

inline void Device::synchronize(const Timeout& timeout) const {
    const std::int32_t ms = detail::wait_timeout_ms(timeout);
    const aclError code = detail::wait_observed(acl(), ms, [&](std::int32_t slice) {
        const ContextGuard guard(*this);
        return acl().aclrtSynchronizeDeviceWithTimeout(slice);
    });
    check(acl(), code, "aclrtSynchronizeDeviceWithTimeout", [&] { return describe(); });
    state_->sweep();
}

inline void Device::retire(aclrtStream stream, bool owned, bool launched,
                           std::vector<std::shared_ptr<detail::Retainable>> needed) const {
    const ContextGuard guard(*this);
    state_->sweep();
    state_->retire({stream, owned, launched, std::move(needed), state_});
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_DEVICE_H
