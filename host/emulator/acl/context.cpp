// Contexts: what a thread works with.
#include "errors.h"
#include "objects.h"

using namespace aivops::acl;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    if (context == nullptr) {
        return null_argument(__func__, "context");
    }
    if (!runtime().has_device(deviceId)) {
        return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(deviceId));
    }
    std::shared_ptr<Context> made = runtime().make_context(static_cast<uint32_t>(deviceId), false);
    set_current_context(made);
    *context = made.get();
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
    if (context == nullptr) {
        return null_argument(__func__, "context");
    }
    std::shared_ptr<Context> found = runtime().contexts.find(context);
    if (!found) {
        return bad_handle(__func__, "context");
    }
    if (found->primary) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "this is the device's own context; aclrtResetDevice releases it");
    }
    runtime().drop_context(found);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    if (context == nullptr) {
        return null_argument(__func__, "context");
    }
    std::shared_ptr<Context> found = runtime().contexts.find(context);
    if (!found) {
        return bad_handle(__func__, "context");
    }
    set_current_context(std::move(found));
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    if (context == nullptr) {
        return null_argument(__func__, "context");
    }
    std::shared_ptr<Context> current = current_context();
    if (!current) {
        return no_context(__func__);
    }
    *context = current.get();
    return ACL_SUCCESS;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
    if (stream == nullptr) {
        return null_argument(__func__, "stream");
    }
    std::shared_ptr<Context> current = current_context();
    if (!current) {
        return no_context(__func__);
    }
    *stream = current->default_stream.get();
    return ACL_SUCCESS;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
    if (active == nullptr) {
        return null_argument(__func__, "active");
    }
    if (!runtime().has_device(deviceId)) {
        return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(deviceId));
    }
    DeviceState& state = runtime().device(static_cast<uint32_t>(deviceId));
    std::lock_guard lock(state.mutex);
    *active = state.uses != 0 ? 1 : 0;
    if (flags != nullptr) {
        *flags = 0;
    }
    return ACL_SUCCESS;
}
