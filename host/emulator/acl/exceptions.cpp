// Callbacks that a failing kernel sets off, and what they may ask.
#include "errors.h"
#include "launch.h"

#include <algorithm>

namespace aivops::acl {
namespace {

struct Callbacks {
    std::mutex mutex;
    aclrtExceptionInfoCallback single = nullptr; // the slot of the deprecated call
    std::vector<aclrtExceptionInfoCallback> registered;
};

Callbacks& callbacks() {
    static Callbacks& instance = *new Callbacks;
    return instance;
}

const ExceptionInfo* info_of(const aclrtExceptionInfo* info) {
    return reinterpret_cast<const ExceptionInfo*>(info);
}

} // namespace

void report_exception(ExceptionInfo& info) {
    std::vector<aclrtExceptionInfoCallback> calls;
    {
        std::lock_guard lock(callbacks().mutex);
        calls = callbacks().registered;
        if (callbacks().single != nullptr) {
            calls.push_back(callbacks().single);
        }
    }
    auto* handle = reinterpret_cast<aclrtExceptionInfo*>(&info);
    for (aclrtExceptionInfoCallback call : calls) {
        call(handle);
    }
    if (info.binary_callback != nullptr) {
        info.binary_callback(handle, info.binary_callback_data);
    }
}

} // namespace aivops::acl

using namespace aivops::acl;

namespace {
constexpr uint32_t kNone = UINT32_MAX; // what the getters say of no info
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
    std::lock_guard lock(callbacks().mutex);
    callbacks().single = callback;
    return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
    if (callback == nullptr) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "callback is NULL");
    }
    std::lock_guard lock(callbacks().mutex);
    callbacks().registered.push_back(callback);
    return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
    std::lock_guard lock(callbacks().mutex);
    auto found = std::find(callbacks().registered.begin(), callbacks().registered.end(), callback);
    if (callback == nullptr || found == callbacks().registered.end()) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "this callback is not registered");
    }
    callbacks().registered.erase(found);
    return ACL_SUCCESS;
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void* userData) {
    if (binHandle == nullptr) {
        return null_argument(__func__, "binHandle");
    }
    std::shared_ptr<BinaryObject> binary = runtime().binaries.find(binHandle);
    if (!binary) {
        return bad_handle(__func__, "binary");
    }
    std::lock_guard lock(binary->mutex);
    binary->on_exception = callback;
    binary->on_exception_data = userData;
    return ACL_SUCCESS;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return info == nullptr ? kNone : info_of(info)->task;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return info == nullptr ? kNone : info_of(info)->stream;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return info == nullptr ? kNone : info_of(info)->thread;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return info == nullptr ? kNone : info_of(info)->device;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
    return info == nullptr ? kNone : static_cast<uint32_t>(info_of(info)->code);
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info, aclrtFuncHandle* func) {
    if (info == nullptr || func == nullptr) {
        return null_argument(__func__, "info or func");
    }
    *func = info_of(info)->function;
    return ACL_SUCCESS;
}
