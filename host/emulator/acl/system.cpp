// aclInit, aclFinalize, their hooks, and versions.
#include "errors.h"
#include "objects.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace aivops::acl {
namespace {

template <typename Function>
struct Hook {
    aclRegisterCallbackType type;
    Function function;
    void* user_data;
};

struct Lifetime {
    std::recursive_mutex mutex;
    uint64_t count = 0;
    bool configured = false;
    std::string config; // of the first aclInit: later ones must agree
    std::vector<Hook<aclInitCallbackFunc>> on_init;
    std::vector<Hook<aclFinalizeCallbackFunc>> on_finalize;
};

Lifetime& lifetime() {
    static Lifetime& instance = *new Lifetime;
    return instance;
}

aclError finalize(Lifetime& life) {
    life.count = 0;
    for (const Hook<aclFinalizeCallbackFunc>& hook : life.on_finalize) {
        if (aclError result = hook.function(hook.user_data); result != ACL_SUCCESS) {
            return result;
        }
    }
    return ACL_SUCCESS;
}

template <typename Function>
aclError add_hook(const char* name, std::vector<Hook<Function>>& hooks, aclRegisterCallbackType type, Function function,
                  void* user_data) {
    if (function == nullptr) {
        return null_argument(name, "cbFunc");
    }
    std::lock_guard lock(lifetime().mutex);
    hooks.push_back({type, function, user_data});
    return ACL_SUCCESS;
}

template <typename Function>
aclError remove_hook(const char* name, std::vector<Hook<Function>>& hooks, aclRegisterCallbackType type,
                     Function function) {
    std::lock_guard lock(lifetime().mutex);
    auto found = std::find_if(hooks.begin(), hooks.end(), [=](const Hook<Function>& hook) {
        return hook.type == type && hook.function == function;
    });
    if (found == hooks.end()) {
        return fail(name, ACL_ERROR_INVALID_PARAM, "this callback is not registered for this type");
    }
    hooks.erase(found);
    return ACL_SUCCESS;
}

} // namespace
} // namespace aivops::acl

using namespace aivops::acl;

aclError aclInit(const char* configPath) {
    Lifetime& life = lifetime();
    std::lock_guard lock(life.mutex);
    if (life.count++ != 0) {
        return fail(__func__, ACL_ERROR_REPEAT_INITIALIZE,
                    "ACL is initialised already; this call counts all the same, and the code may be ignored");
    }
    std::string config;
    if (configPath != nullptr && *configPath != '\0') {
        std::ifstream file(configPath);
        if (std::error_code ignored; !file || std::filesystem::is_directory(configPath, ignored)) {
            life.count = 0;
            return fail(__func__, ACL_ERROR_INVALID_FILE, std::string(configPath) + ": cannot be read");
        }
        std::ostringstream text;
        text << file.rdbuf();
        config = text.str();
    }
    if (life.configured && life.config != config) {
        life.count = 0;
        return fail(__func__, ACL_ERROR_INVALID_PARAM,
                    "the configuration differs from the one of this process's first aclInit");
    }
    life.configured = true;
    life.config = config;
    for (const Hook<aclInitCallbackFunc>& hook : life.on_init) {
        if (aclError result = hook.function(config.c_str(), config.size(), hook.user_data); result != ACL_SUCCESS) {
            return result;
        }
    }
    return ACL_SUCCESS;
}

aclError aclFinalize() {
    Lifetime& life = lifetime();
    std::lock_guard lock(life.mutex);
    if (life.count == 0) {
        return fail(__func__, ACL_ERROR_REPEAT_FINALIZE, "ACL is not initialised, or finalised already");
    }
    return finalize(life);
}

aclError aclFinalizeReference(uint64_t* refCount) {
    Lifetime& life = lifetime();
    std::lock_guard lock(life.mutex);
    if (life.count == 0) {
        return fail(__func__, ACL_ERROR_REPEAT_FINALIZE, "ACL is not initialised, or finalised already");
    }
    const uint64_t left = life.count - 1;
    if (refCount != nullptr) {
        *refCount = left;
    }
    if (left == 0) {
        return finalize(life);
    }
    life.count = left;
    return ACL_SUCCESS;
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData) {
    return add_hook(__func__, lifetime().on_init, type, cbFunc, userData);
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
    return remove_hook(__func__, lifetime().on_init, type, cbFunc);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void* userData) {
    return add_hook(__func__, lifetime().on_finalize, type, cbFunc, userData);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
    return remove_hook(__func__, lifetime().on_finalize, type, cbFunc);
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
        return null_argument(__func__, "majorVersion, minorVersion or patchVersion");
    }
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    if (runMode == nullptr) {
        return null_argument(__func__, "runMode");
    }
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

const char* aclGetRecentErrMsg() {
    return take_messages();
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    return level == ACL_RT_THREAD_LEVEL ? last_error(false)
                                        : fail(__func__, ACL_ERROR_INVALID_PARAM, "only the thread level exists");
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
    return level == ACL_RT_THREAD_LEVEL ? last_error(true)
                                        : fail(__func__, ACL_ERROR_INVALID_PARAM, "only the thread level exists");
}
