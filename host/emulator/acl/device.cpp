// Devices: use counts, attributes, peers, numbering.
#include "errors.h"
#include "objects.h"

#include "machine/memory.h"
#include "machine/settings.h"
#include "machine/soc.h"

#include <optional>
#include <unistd.h>

namespace aivops::acl {
namespace {

aclError check_device(const char* function, int64_t device) {
    if (runtime().has_device(device)) {
        return ACL_SUCCESS;
    }
    return fail(function, ACL_ERROR_RT_INVALID_DEVICEID,
                "there is no device " + std::to_string(device) + "; the emulator has " +
                    std::to_string(machine::machine().device_count()) + " (AIVOPS_EMU_DEVICES)");
}

// Drops what the device has not done yet.
void abort_streams(uint32_t device) {
    for (const std::shared_ptr<StreamObject>& stream : runtime().streams.all()) {
        if (stream->queue->device() == device) {
            stream->device().abort(*stream->queue);
        }
    }
}

// Whoever waits for what the device has not done yet will be told why it was not.
void tell_waiting(uint32_t device, const machine::Failure& failure) {
    for (const std::shared_ptr<StreamObject>& stream : runtime().streams.all()) {
        if (stream->queue->device() == device && !stream->queue->idle()) {
            stream->queue->end(failure);
        }
    }
}

// Ends a device: work that is still pending completes, then everything that belonged to it goes.
void release(uint32_t device, DeviceState& state) {
    runtime().drop_context(state.primary);
    state.primary.reset();
    state.uses = 0;
    runtime().reset_device(device);
}

aclError synchronize_device(const char* function, int32_t timeout_ms) {
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(function);
    }
    if (timeout_ms < -1) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "the timeout is milliseconds, or -1 for none");
    }
    aclError result = ACL_SUCCESS;
    for (const std::shared_ptr<StreamObject>& stream : runtime().streams.all()) {
        if (stream->queue->device() == context->device) {
            aclError one = synchronize(function, *stream, timeout_ms);
            result = result != ACL_SUCCESS ? result : one;
        }
    }
    return result;
}

std::optional<int64_t> attribute(uint32_t device, aclrtDevAttr attr) {
    const machine::Soc& soc = machine::soc();
    switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        return 6;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        return soc.cube_cores;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        return soc.vector_cores;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
        return soc.ub_bytes;
    case ACL_DEV_ATTR_MAX_BLOCK_PER_GRID:
        return UINT16_MAX;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        return static_cast<int64_t>(machine::memory_space().arena(device).capacity());
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        return static_cast<int64_t>(soc.l2_bytes);
    case ACL_DEV_ATTR_PHY_CHIP_ID:
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
        return device;
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
        return 0;
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
        return ACL_HOST_DEVICE_CONNECT_TYPE_HCCS;
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
        return ACL_DEVICE_FORM_FACTOR_A_K;
    case ACL_DEV_ATTR_NPU_ARCH:
        return soc.npu_arch;
    default:
        return std::nullopt;
    }
}

// All three numberings are the same here.
aclError same_number(const char* function, int32_t from, int32_t* to) {
    if (to == nullptr) {
        return null_argument(function, "the result");
    }
    if (aclError error = check_device(function, from); error != ACL_SUCCESS) {
        return error;
    }
    *to = from;
    return ACL_SUCCESS;
}

aclError check_peers(const char* function, int32_t device, int32_t peer) {
    if (device == peer) {
        return fail(function, ACL_ERROR_INVALID_PARAM, "device and peer are both " + std::to_string(device));
    }
    if (aclError error = check_device(function, device); error != ACL_SUCCESS) {
        return error;
    }
    return check_device(function, peer);
}

// Whether a variable of the emulator has a value that cannot be used; the message names it.
bool settings_fail(const char* function, const machine::Settings& settings) {
    const std::string& error = settings.error;
    if (!error.empty()) {
        fail(function, ACL_ERROR_RT_DEV_SETUP_ERROR, "the emulator's settings: " + error);
    }
    return !error.empty();
}

} // namespace
} // namespace aivops::acl

using namespace aivops::acl;
namespace machine = aivops::machine;

const char* aclrtGetSocName() {
    const machine::Settings settings = machine::settings_so_far();
    if (settings_fail(__func__, settings)) {
        return nullptr;
    }
    return machine::find_soc(settings.soc)->name.data();
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    if (count == nullptr) {
        return null_argument(__func__, "count");
    }
    *count = machine::settings_so_far().devices;
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t deviceId) {
    if (settings_fail(__func__, machine::settings())) {
        return ACL_ERROR_RT_DEV_SETUP_ERROR;
    }
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    DeviceState& state = runtime().device(static_cast<uint32_t>(deviceId));
    std::lock_guard lock(state.mutex);
    if (state.uses++ == 0) {
        state.primary = runtime().make_context(static_cast<uint32_t>(deviceId), true);
    }
    set_current_context(state.primary);
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    DeviceState& state = runtime().device(static_cast<uint32_t>(deviceId));
    std::lock_guard lock(state.mutex);
    if (state.uses == 0) {
        return fail(__func__, ACL_ERROR_RT_DEV_SETUP_ERROR,
                    "device " + std::to_string(deviceId) +
                        " is not set; each aclrtResetDevice needs an aclrtSetDevice");
    }
    if (--state.uses == 0) {
        release(static_cast<uint32_t>(deviceId), state);
    }
    return ACL_SUCCESS;
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    DeviceState& state = runtime().device(static_cast<uint32_t>(deviceId));
    std::lock_guard lock(state.mutex);
    if (state.uses == 0) {
        return fail(__func__, ACL_ERROR_RT_DEV_SETUP_ERROR, "device " + std::to_string(deviceId) + " is not set");
    }
    const auto device = static_cast<uint32_t>(deviceId);
    tell_waiting(device, {ACL_ERROR_RT_DEVICE_TASK_ABORT,
                          "device " + std::to_string(deviceId) +
                              " was reset by aclrtResetDeviceForce before its work was done; synchronize its streams "
                              "first, or call aclrtResetDevice, which waits"});
    abort_streams(device);
    release(device, state);
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t* deviceId) {
    if (deviceId == nullptr) {
        return null_argument(__func__, "deviceId");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    *deviceId = static_cast<int32_t>(context->device);
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice() {
    return synchronize_device(__func__, -1);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    return synchronize_device(__func__, timeout);
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    std::optional<int64_t> found = attribute(deviceId, attr);
    if (!found) {
        return fail(__func__, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "the emulated device has no attribute " + std::to_string(attr));
    }
    *value = *found;
    return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = machine::soc().cube_cores;
        return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = machine::soc().vector_cores;
        return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
        *value = static_cast<int64_t>(machine::soc().l2_bytes);
        return ACL_SUCCESS;
    default:
        return fail(__func__, ACL_ERROR_INVALID_PARAM, "no such device information");
    }
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType, int32_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;
    return ACL_SUCCESS;
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
    if (deviceStatus == nullptr) {
        return null_argument(__func__, "deviceStatus");
    }
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return ACL_SUCCESS;
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
    if (socVersion == nullptr || canCompatible == nullptr) {
        return null_argument(__func__, "socVersion or canCompatible");
    }
    const machine::Soc* other = machine::find_soc(socVersion);
    *canCompatible = other != nullptr && other->npu_arch == machine::soc().npu_arch ? 1 : 0;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
    if (pid == nullptr) {
        return null_argument(__func__, "pid");
    }
    *pid = static_cast<int32_t>(getpid());
    return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    if (canAccessPeer == nullptr) {
        return null_argument(__func__, "canAccessPeer");
    }
    if (aclError error = check_peers(__func__, deviceId, peerDeviceId); error != ACL_SUCCESS) {
        return error;
    }
    *canAccessPeer = 1;
    return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    if (flags != 0) {
        return fail(__func__, ACL_ERROR_FEATURE_UNSUPPORTED, "flags must be 0");
    }
    if (aclError error = check_peers(__func__, static_cast<int32_t>(context->device), peerDeviceId);
        error != ACL_SUCCESS) {
        return error;
    }
    machine::machine().device(context->device).allow_peer(static_cast<uint32_t>(peerDeviceId));
    return ACL_SUCCESS;
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    if (aclError error = check_peers(__func__, static_cast<int32_t>(context->device), peerDeviceId);
        error != ACL_SUCCESS) {
        return error;
    }
    machine::machine().device(context->device).forbid_peer(static_cast<uint32_t>(peerDeviceId));
    machine::memory_space().invalidate();
    return ACL_SUCCESS;
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
    if (status == nullptr) {
        return null_argument(__func__, "status");
    }
    if (aclError error = check_peers(__func__, deviceId, peerDeviceId); error != ACL_SUCCESS) {
        return error;
    }
    *status =
        machine::machine().device(static_cast<uint32_t>(deviceId)).can_access(static_cast<uint32_t>(peerDeviceId));
    return ACL_SUCCESS;
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    if (aclError error = check_peers(__func__, static_cast<int32_t>(deviceId), static_cast<int32_t>(otherDeviceId));
        error != ACL_SUCCESS) {
        return error;
    }
    *value = ACL_RT_DEVS_TOPOLOGY_HCCS;
    return ACL_SUCCESS;
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
    return same_number(__func__, logicDevId, userDevid);
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
    return same_number(__func__, userDevid, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
    return same_number(__func__, logicDevId, phyDevId);
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
    return same_number(__func__, phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
    return same_number(__func__, userDevId, phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
    return same_number(__func__, phyDevId, userDevId);
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t) {
    if (aclError error = check_device(__func__, deviceId); error != ACL_SUCCESS) {
        return error;
    }
    abort_streams(static_cast<uint32_t>(deviceId));
    return ACL_SUCCESS;
}
