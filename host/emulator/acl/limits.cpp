// Limits: cores per thread, stream and device; timeouts.
#include "limits.h"

#include "aivops/kernel_binary/counted.h"
#include "errors.h"
#include "objects.h"

#include "machine/settings.h"
#include "machine/soc.h"

#include <cmath>

namespace aivops::acl {
namespace {

constexpr double kMostUnits = 254;
constexpr uint64_t kFastIntervalUs = 100000; // below it, "no limit" means never instead of the maximum

std::atomic<uint64_t> execute_timeout_us{0};
std::atomic<bool> execute_timeout_set{false};
std::atomic<uint32_t> wait_timeout_s{0};

std::shared_ptr<StreamObject>& selected_stream() {
    thread_local std::shared_ptr<StreamObject> stream;
    return stream;
}

aclError check_type(const char* function, aclrtDevResLimitType type) {
    return static_cast<uint32_t>(type) < kResourceTypes // a program in C may pass any
               ? ACL_SUCCESS
               : fail(function, ACL_ERROR_RT_PARAM_INVALID, "no resource type " + std::to_string(type));
}

uint32_t hardware_cores(aclrtDevResLimitType type) {
    return type == ACL_RT_DEV_RES_CUBE_CORE ? machine::soc().cube_cores : machine::soc().vector_cores;
}

aclError check_value(const char* function, aclrtDevResLimitType type, uint32_t value) {
    return value <= hardware_cores(type) ? ACL_SUCCESS
                                         : fail(function, ACL_ERROR_RT_PARAM_INVALID,
                                                aivops::kernel_binary::counted(value, "core") + " are more than the " +
                                                    std::to_string(hardware_cores(type)) + " that the device has");
}

// The state of a device that the process has set; nullptr, and the code, when it has not.
DeviceState* set_device(const char* function, int32_t device, aclError& error) {
    if (!runtime().has_device(device)) {
        error = fail(function, ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(device));
        return nullptr;
    }
    DeviceState& state = runtime().device(static_cast<uint32_t>(device));
    std::lock_guard lock(state.mutex);
    if (state.uses == 0) {
        error = fail(function, ACL_ERROR_RT_DEV_SETUP_ERROR,
                     "device " + std::to_string(device) + " is not set; call aclrtSetDevice first");
        return nullptr;
    }
    error = ACL_SUCCESS;
    return &state;
}

aclError set_execute_timeout(uint64_t microseconds) {
    execute_timeout_us.store(microseconds);
    execute_timeout_set.store(true);
    return ACL_SUCCESS;
}

} // namespace

int64_t kernel_timeout_ns(uint64_t microseconds) {
    const double interval = machine::settings().timeout_interval_us;
    const double units = std::min(std::ceil(static_cast<double>(microseconds) / interval), kMostUnits);
    return static_cast<int64_t>(units * interval * 1000.0);
}

int64_t default_kernel_timeout_ns() {
    const uint64_t request = execute_timeout_us.load();
    if (!execute_timeout_set.load()) {
        return kernel_timeout_ns(UINT64_MAX);
    }
    if (request == UINT64_MAX || (request == 0 && machine::settings().timeout_interval_us < kFastIntervalUs)) {
        return 0;
    }
    return kernel_timeout_ns(request == 0 ? UINT64_MAX : request);
}

int64_t wait_timeout_ns() {
    return int64_t{wait_timeout_s.load()} * 1000000000;
}

} // namespace aivops::acl

using namespace aivops::acl;
namespace machine = aivops::machine;

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    if (aclError error = check_type(__func__, type); error != ACL_SUCCESS) {
        return error;
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    if (const std::shared_ptr<StreamObject>& stream = selected_stream()) {
        if (int64_t limit = stream->limits[type].load(); limit >= 0) {
            *value = static_cast<uint32_t>(limit);
            return ACL_SUCCESS;
        }
    }
    *value = runtime().device(context->device).limits[type].load();
    return ACL_SUCCESS;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    aclError error = check_type(__func__, type);
    error = error == ACL_SUCCESS ? check_value(__func__, type, value) : error;
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (DeviceState* state = set_device(__func__, deviceId, error)) {
        state->limits[type].store(value);
    }
    return error;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    aclError error = check_type(__func__, type);
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (DeviceState* state = set_device(__func__, deviceId, error)) {
        *value = state->limits[type].load();
    }
    return error;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    aclError error = ACL_SUCCESS;
    if (DeviceState* state = set_device(__func__, deviceId, error)) {
        state->limits[ACL_RT_DEV_RES_CUBE_CORE] = hardware_cores(ACL_RT_DEV_RES_CUBE_CORE);
        state->limits[ACL_RT_DEV_RES_VECTOR_CORE] = hardware_cores(ACL_RT_DEV_RES_VECTOR_CORE);
    }
    return error;
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
    aclError error = check_type(__func__, type);
    error = error == ACL_SUCCESS ? check_value(__func__, type, value) : error;
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error)) {
        found->limits[type].store(value);
    }
    return error;
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    aclError error = check_type(__func__, type);
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error)) {
        const int64_t limit = found->limits[type].load();
        *value =
            limit >= 0 ? static_cast<uint32_t>(limit) : runtime().device(found->queue->device()).limits[type].load();
    }
    return error;
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error)) {
        for (std::atomic<int64_t>& limit : found->limits) {
            limit.store(-1);
        }
    }
    return error;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error)) {
        selected_stream() = found;
    }
    return error;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    if (find_stream(__func__, stream, false, error)) {
        selected_stream().reset();
    }
    return error;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
    return set_execute_timeout(uint64_t{timeout} * 1000000);
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
    return set_execute_timeout(uint64_t{timeout} * 1000);
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
    if (actualTimeout == nullptr) {
        return null_argument(__func__, "actualTimeout");
    }
    set_execute_timeout(timeout);
    const int64_t actual = default_kernel_timeout_ns();
    *actualTimeout = actual == 0 ? UINT64_MAX : static_cast<uint64_t>(actual / 1000);
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
    if (timeoutMs == nullptr) {
        return null_argument(__func__, "timeoutMs");
    }
    const int64_t actual = default_kernel_timeout_ns();
    *timeoutMs = actual == 0 ? UINT32_MAX : static_cast<uint32_t>(actual / 1000000);
    return ACL_SUCCESS;
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
    if (interval == nullptr) {
        return null_argument(__func__, "interval");
    }
    if (!current_context()) {
        return no_context(__func__);
    }
    *interval = static_cast<uint64_t>(machine::settings().timeout_interval_us);
    return ACL_SUCCESS;
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
    wait_timeout_s.store(timeout);
    return ACL_SUCCESS;
}
