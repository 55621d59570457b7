// Arguments built up one by one, for aclrtLaunchKernelWithConfig.
#include "aivops/kernel_binary/counted.h"
#include "errors.h"
#include "launch.h"

#include "machine/memory.h"

#include <cstring>

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

constexpr size_t kMostParameters = 128;
constexpr size_t kBufferBytes = 64 * 1024;
constexpr size_t kParameterAlignment = 8;

// A parameter's place in the buffer; its address is the handle that programs hold.
struct Parameter {
    size_t offset = 0;
    size_t size = 0;
    bool placeholder = false;
    size_t data_offset = 0; // of a placeholder's data, once its buffer was asked for
};

struct Arguments {
    std::shared_ptr<FunctionObject> function;
    std::byte* buffer = nullptr;
    size_t capacity = 0;
    size_t used = 0;
    size_t parameter_count = 0;
    bool has_placeholder_data = false;
    bool finalized = false;
    Parameter parameters[kMostParameters];

    void begin(std::shared_ptr<FunctionObject> for_function, std::byte* memory, size_t bytes) {
        function = std::move(for_function);
        buffer = memory;
        capacity = bytes;
        used = 0;
        parameter_count = 0;
        has_placeholder_data = false;
        finalized = false;
    }
};

// Objects that aclrtKernelArgsInit hands out (one per thread), and those placed in the caller's memory.
Registry<Arguments>& live_arguments() {
    static Registry<Arguments>& instance = *new Registry<Arguments>;
    return instance;
}

// Registers the thread's object for as long as the thread lives.
class ThreadArguments {
  public:
    ThreadArguments() : buffer_(kBufferBytes), arguments_(std::make_shared<Arguments>()) {
        live_arguments().add(arguments_);
    }
    ~ThreadArguments() { live_arguments().remove(arguments_.get()); }
    Arguments& begin(std::shared_ptr<FunctionObject> function) {
        arguments_->begin(std::move(function), buffer_.data(), buffer_.size());
        return *arguments_;
    }

  private:
    std::vector<std::byte> buffer_;
    std::shared_ptr<Arguments> arguments_;
};

std::shared_ptr<Arguments> find(const char* function, aclrtArgsHandle handle, aclError& error) {
    if (handle == nullptr) {
        error = null_argument(function, "argsHandle");
        return nullptr;
    }
    std::shared_ptr<Arguments> arguments = live_arguments().find(handle);
    error = arguments ? ACL_SUCCESS : bad_handle(function, "arguments");
    return arguments;
}

aclError append(const char* function, Arguments& arguments, const void* bytes, size_t size, bool placeholder,
                aclrtParamHandle* handle) {
    if (arguments.finalized || arguments.has_placeholder_data) {
        return fail(function, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "no parameter can be appended after finalizing, or after a placeholder's buffer was fetched");
    }
    const size_t offset = (arguments.used + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
    if (arguments.parameter_count == kMostParameters || offset > arguments.capacity ||
        size > arguments.capacity - offset) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                    "arguments take at most " + std::to_string(kMostParameters) + " parameters and " +
                        aivops::kernel_binary::counted(arguments.capacity, "byte"));
    }
    std::memset(arguments.buffer + arguments.used, 0, offset - arguments.used);
    if (bytes != nullptr) {
        std::memcpy(arguments.buffer + offset, bytes, size);
    }
    Parameter& parameter = arguments.parameters[arguments.parameter_count++];
    parameter = {offset, size, placeholder, 0};
    arguments.used = offset + size;
    *handle = &parameter;
    return ACL_SUCCESS;
}

Parameter* parameter_of(Arguments& arguments, aclrtParamHandle handle) {
    for (size_t index = 0; index < arguments.parameter_count; ++index) {
        if (&arguments.parameters[index] == handle) {
            return &arguments.parameters[index];
        }
    }
    return nullptr;
}

} // namespace

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
    if (funcHandle == nullptr || argsHandle == nullptr) {
        return null_argument(__func__, "funcHandle or argsHandle");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    thread_local ThreadArguments arguments;
    *argsHandle = &arguments.begin(std::move(function));
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle, size_t* memSize) {
    if (memSize == nullptr) {
        return null_argument(__func__, "memSize");
    }
    *memSize = sizeof(Arguments);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle, size_t userArgsSize, size_t* actualArgsSize) {
    if (actualArgsSize == nullptr) {
        return null_argument(__func__, "actualArgsSize");
    }
    *actualArgsSize = userArgsSize;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void* userHostMem,
                                      size_t actualArgsSize) {
    if (funcHandle == nullptr || argsHandle == nullptr || userHostMem == nullptr) {
        return null_argument(__func__, "funcHandle, argsHandle or userHostMem");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    // The object lives in the caller's memory, which is the caller's to free: nothing is destroyed.
    auto arguments = live_arguments().find(argsHandle);
    if (!arguments) {
        arguments = std::shared_ptr<Arguments>(new (argsHandle) Arguments, [](Arguments*) {});
        live_arguments().add(arguments);
    }
    arguments->begin(std::move(function), static_cast<std::byte*>(userHostMem), actualArgsSize);
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
    if (param == nullptr || paramHandle == nullptr) {
        return null_argument(__func__, "param or paramHandle");
    }
    if (paramSize == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "paramSize is 0");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    return arguments ? append(__func__, *arguments, param, paramSize, false, paramHandle) : error;
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle* paramHandle) {
    if (paramHandle == nullptr) {
        return null_argument(__func__, "paramHandle");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    return arguments ? append(__func__, *arguments, nullptr, sizeof(uint64_t), true, paramHandle) : error;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
                                             void** bufferAddr) {
    if (bufferAddr == nullptr) {
        return null_argument(__func__, "bufferAddr");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    if (!arguments) {
        return error;
    }
    Parameter* parameter = parameter_of(*arguments, paramHandle);
    if (parameter == nullptr || !parameter->placeholder) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "this is no placeholder of these arguments");
    }
    const size_t offset = (arguments->used + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
    if (offset > arguments->capacity || dataSize > arguments->capacity - offset) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "no room for " + aivops::kernel_binary::counted(dataSize, "byte") + " behind the parameters");
    }
    parameter->data_offset = offset;
    arguments->used = offset + dataSize;
    arguments->has_placeholder_data = true;
    *bufferAddr = arguments->buffer + offset;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void* param,
                                   size_t paramSize) {
    if (param == nullptr) {
        return null_argument(__func__, "param");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    if (!arguments) {
        return error;
    }
    Parameter* parameter = parameter_of(*arguments, paramHandle);
    if (parameter == nullptr || parameter->placeholder || paramSize != parameter->size) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "this is no parameter of these arguments, or it has another size");
    }
    std::memcpy(arguments->buffer + parameter->offset, param, paramSize);
    arguments->finalized = false;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    if (arguments) {
        arguments->finalized = true;
    }
    return error;
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* cfg, aclrtArgsHandle argsHandle, void* reserve) {
    if (funcHandle == nullptr || argsHandle == nullptr) {
        return null_argument(__func__, "funcHandle or argsHandle");
    }
    if (numBlocks == 0 || reserve != nullptr) {
        return fail(__func__, ACL_ERROR_INVALID_PARAM, "numBlocks must not be 0, and reserve must be NULL");
    }
    if (!runtime().functions.find(funcHandle)) {
        return bad_handle(__func__, "function");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<Arguments> arguments = find(__func__, argsHandle, error);
    if (!arguments) {
        return error;
    }
    if (!arguments->finalized) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "the arguments are not finalized, or were updated since; call aclrtKernelArgsFinalize");
    }
    std::vector<aclrtPlaceHolderInfo> placeholders;
    for (size_t index = 0; index < arguments->parameter_count; ++index) {
        const Parameter& parameter = arguments->parameters[index];
        if (parameter.placeholder && parameter.data_offset != 0) {
            placeholders.push_back(
                {static_cast<uint32_t>(parameter.offset), static_cast<uint32_t>(parameter.data_offset)});
        }
    }
    std::byte empty{};
    const bool any = arguments->used != 0;
    return aclrtLaunchKernelWithHostArgs(funcHandle, numBlocks, stream, cfg, any ? arguments->buffer : &empty,
                                         any ? arguments->used : sizeof empty, placeholders.data(),
                                         placeholders.size());
}
