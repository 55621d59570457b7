// Device memory shared between processes by key.
#include "errors.h"
#include "objects.h"

#include "machine/ipc_memory.h"
#include "machine/ipc_offers.h"

#include <cstring>
#include <span>

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

constexpr size_t kKeyBytes = machine::kIpcKeyDigits + 1;

// The key that a program handed in; it may not have an end.
std::string read_key(const char* key) {
    return {key, strnlen(key, kKeyBytes)};
}

template <typename Body>
aclError guarded(const char* function, Body body) {
    if (!current_context()) {
        return no_context(function);
    }
    try {
        return body();
    } catch (const machine::IpcError& error) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, error.what());
    }
}

aclError unknown_key(const char* function) {
    return fail(function, ACL_ERROR_RT_PARAM_INVALID, "this process has neither exported nor imported the key");
}

} // namespace

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
    if (devPtr == nullptr) {
        return null_argument(__func__, "devPtr");
    }
    if (key == nullptr) {
        return null_argument(__func__, "key");
    }
    if (len != kKeyBytes) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "len is " + std::to_string(len) + ", a key has " + std::to_string(kKeyBytes) + " bytes");
    }
    if (flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "flags is " + std::to_string(flags) + "; 0 or 1");
    }
    return guarded(__func__, [&] {
        const std::string made = machine::export_memory(reinterpret_cast<machine::Address>(devPtr), size,
                                                        flags == ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
        std::memcpy(key, made.c_str(), kKeyBytes);
        return ACL_SUCCESS;
    });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
    if (key == nullptr) {
        return null_argument(__func__, "key");
    }
    if (pid == nullptr) {
        return null_argument(__func__, "pid");
    }
    if (num == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "num is 0");
    }
    return guarded(__func__, [&] {
        return machine::ipc_allow(read_key(key), std::span(pid, num)) ? ACL_SUCCESS : unknown_key(__func__);
    });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
    if (devPtr == nullptr) {
        return null_argument(__func__, "devPtr");
    }
    if (key == nullptr) {
        return null_argument(__func__, "key");
    }
    if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "flags is " + std::to_string(flags) + "; 0 or 1");
    }
    return guarded(__func__, [&] {
        const machine::ImportedMemory imported = machine::import_memory(read_key(key));
        const uint32_t device = current_context()->device;
        if (flags == ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS && imported.owner != device) {
            machine::machine().device(device).allow_peer(imported.owner);
        }
        *devPtr = reinterpret_cast<void*>(imported.address);
        return ACL_SUCCESS;
    });
}

aclError aclrtIpcMemClose(const char* key) {
    if (key == nullptr) {
        return null_argument(__func__, "key");
    }
    return guarded(__func__,
                   [&] { return machine::close_memory(read_key(key)) ? ACL_SUCCESS : unknown_key(__func__); });
}
