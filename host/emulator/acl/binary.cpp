// Kernel binaries and their functions: loading, registering per device, asking.
#include "aivops/kernel_binary/counted.h"
#include "errors.h"
#include "objects.h"

#include "machine/settings.h"
#include "machine/soc.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

// What aclrtCreateBinary keeps: the caller's own bytes.
struct Source {
    const void* data;
    size_t length;
};

Registry<Source>& sources() {
    static Registry<Source>& instance = *new Registry<Source>;
    return instance;
}

struct LoadOptions {
    bool lazy = false;
    machine::CoreType default_core = machine::CoreType::kCube; // split-core chips take a silent kernel for a cube one
};

aclError read_options(const char* function, const aclrtBinaryLoadOptions* options, bool from_file, LoadOptions& read) {
    if (options == nullptr) {
        return ACL_SUCCESS;
    }
    if (options->options == nullptr) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "options->options is NULL; pass NULL options instead");
    }
    for (size_t index = 0; index < options->numOpt; ++index) {
        const aclrtBinaryLoadOption& option = options->options[index];
        switch (option.type) {
        case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
            if (option.value.isLazyLoad > 1) {
                return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                            "isLazyLoad is " + std::to_string(option.value.isLazyLoad) + "; 0 or 1 exist");
            }
            read.lazy = option.value.isLazyLoad == 1;
            break;
        case ACL_RT_BINARY_LOAD_OPT_MAGIC:
            if (from_file) {
                return fail(function, ACL_ERROR_RT_PARAM_INVALID, "MAGIC is for aclrtBinaryLoadFromData only");
            }
            if (option.value.magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE) {
                read.default_core = machine::CoreType::kVector;
            } else if (option.value.magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE) {
                read.default_core = machine::CoreType::kCube;
            } else if (option.value.magic == ACL_RT_BINARY_MAGIC_ELF_AICORE) {
                read.default_core = machine::CoreType::kAiCore;
            } else {
                return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                            "magic " + std::to_string(option.value.magic) + " is none of ACL_RT_BINARY_MAGIC_ELF_*");
            }
            break;
        case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
            return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                        "CPU_KERNEL_MODE is for AI CPU kernels, which the emulated toolkit does not run");
        default:
            return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                        "no load option " + std::to_string(static_cast<int>(option.type)));
        }
    }
    return ACL_SUCCESS;
}

aclError load(const char* function, std::vector<std::byte> bytes, std::string label, const LoadOptions& options,
              std::optional<uint32_t> only_device, aclrtBinHandle* handle) {
    std::string error;
    auto file = machine::KernelFile::parse(std::move(bytes), label, options.default_core, error);
    if (!file) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, label + ": " + error);
    }
    if (file->npu_arch != machine::soc().npu_arch) {
        std::string mismatch = label + ": was built for " + machine::architecture_name(file->npu_arch) + ", and " +
                               std::string(machine::soc().name) + " is " + std::string(machine::soc().architecture);
        if (machine::settings().check == machine::Check::kStrict) {
            return fail(function, ACL_ERROR_RT_PARAM_INVALID, mismatch);
        }
        note(function, mismatch + "; the runtime loads it all the same, its kernels fail when they are launched");
    }
    auto binary = std::make_shared<BinaryObject>();
    binary->file = std::move(file);
    binary->lazy = options.lazy;
    binary->only_device = only_device;
    binary->devices.resize(machine::machine().device_count());
    *handle = runtime().binaries.add(binary);
    return ACL_SUCCESS;
}

std::shared_ptr<FunctionObject> function_of(BinaryObject& binary, const machine::KernelInfo& kernel) {
    std::shared_ptr<FunctionObject>& function = binary.functions[&kernel];
    if (!function) {
        function = std::make_shared<FunctionObject>(FunctionObject{&binary, &kernel});
        runtime().functions.add(function);
    }
    return function;
}

// Registers the binary on the current device and, unless it is lazy, loads the device's copy.
aclError register_here(const char* function, BinaryObject& binary, uint32_t device) {
    binary.devices[device].registered = true;
    std::string error;
    if (!binary.lazy && !binary.image(device, error)) {
        return fail(function, ACL_ERROR_RT_MEMORY_ALLOCATION, binary.file->label + ": " + error);
    }
    return ACL_SUCCESS;
}

std::string names_of(const machine::KernelFile& file) {
    constexpr size_t kNamed = 8;
    std::string names;
    for (size_t index = 0; index < file.kernels.size() && index < kNamed; ++index) {
        names += (index == 0 ? "" : ", ") + file.kernels[index].name;
    }
    return names + (file.kernels.size() > kNamed ? ", …" : "");
}

} // namespace

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
    if (binPath == nullptr || binHandle == nullptr) {
        return null_argument(__func__, binPath == nullptr ? "binPath" : "binHandle");
    }
    LoadOptions read;
    if (aclError error = read_options(__func__, options, true, read); error != ACL_SUCCESS) {
        return error;
    }
    std::error_code ignored;
    if (std::filesystem::exists(binPath, ignored) && !std::filesystem::is_regular_file(binPath, ignored)) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, std::string(binPath) + ": not a regular file");
    }
    std::ifstream file(binPath, std::ios::binary | std::ios::ate);
    const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
    if (size < 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    std::string(binPath) + ": cannot be read: " + std::strerror(errno));
    }
    if (size == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, std::string(binPath) + ": the file is empty");
    }
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, std::string(binPath) + ": cannot be read to its end");
    }
    return load(__func__, std::move(bytes), binPath, read, std::nullopt, binHandle);
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle) {
    if (data == nullptr || binHandle == nullptr) {
        return null_argument(__func__, data == nullptr ? "data" : "binHandle");
    }
    if (length == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "length is 0");
    }
    LoadOptions read;
    if (aclError error = read_options(__func__, options, false, read); error != ACL_SUCCESS) {
        return error;
    }
    const auto* bytes = static_cast<const std::byte*>(data);
    return load(__func__, std::vector<std::byte>(bytes, bytes + length), "(data)", read, std::nullopt, binHandle);
}

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
    if (data == nullptr || dataLen == 0) {
        fail(__func__, ACL_ERROR_INVALID_PARAM, "data is NULL or has no bytes");
        return nullptr;
    }
    return sources().add(std::make_shared<Source>(Source{data, dataLen}));
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
    if (binary == nullptr) {
        return null_argument(__func__, "binary");
    }
    return sources().remove(binary) ? ACL_SUCCESS : bad_handle(__func__, "binary");
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
    if (binary == nullptr || binHandle == nullptr) {
        return null_argument(__func__, binary == nullptr ? "binary" : "binHandle");
    }
    std::shared_ptr<Source> source = sources().find(binary);
    if (!source) {
        return bad_handle(__func__, "binary");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    const auto* bytes = static_cast<const std::byte*>(source->data);
    return load(__func__, std::vector<std::byte>(bytes, bytes + source->length), "(data)", {}, context->device,
                binHandle);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
    if (binHandle == nullptr) {
        return null_argument(__func__, "binHandle");
    }
    std::shared_ptr<BinaryObject> binary = runtime().binaries.find(binHandle);
    if (!binary) {
        return bad_handle(__func__, "binary");
    }
    if (binary->only_device) {
        std::shared_ptr<Context> context = current_context();
        if (!context || context->device != *binary->only_device) {
            return fail(__func__, ACL_ERROR_RT_CONTEXT_NULL,
                        "the binary was loaded on device " + std::to_string(*binary->only_device) +
                            ", which must be current");
        }
    }
    runtime().binaries.remove(binHandle);
    std::lock_guard lock(binary->mutex);
    for (const auto& [kernel, function] : binary->functions) {
        runtime().functions.remove(function.get());
    }
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle) {
    if (binHandle == nullptr || kernelName == nullptr || funcHandle == nullptr) {
        return null_argument(__func__, "binHandle, kernelName or funcHandle");
    }
    *funcHandle = nullptr;
    std::shared_ptr<BinaryObject> binary = runtime().binaries.find(binHandle);
    if (!binary) {
        return bad_handle(__func__, "binary");
    }
    // Whatever goes wrong from here on, this call says 107000.
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "this thread has no context; call aclrtSetDevice first");
    }
    std::lock_guard lock(binary->mutex);
    if (register_here(__func__, *binary, context->device) != ACL_SUCCESS) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const machine::KernelInfo* kernel = binary->file->find(kernelName);
    if (kernel == nullptr) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    binary->file->label + ": no kernel '" + kernelName + "'; it has: " + names_of(*binary->file));
    }
    *funcHandle = function_of(*binary, *kernel).get();
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle* funcHandle) {
    if (binHandle == nullptr || funcHandle == nullptr) {
        return null_argument(__func__, "binHandle or funcHandle");
    }
    std::shared_ptr<BinaryObject> binary = runtime().binaries.find(binHandle);
    if (!binary) {
        return bad_handle(__func__, "binary");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    std::lock_guard lock(binary->mutex);
    if (aclError error = register_here(__func__, *binary, context->device); error != ACL_SUCCESS) {
        return error;
    }
    const machine::KernelInfo* kernel = binary->file->find_entry(funcEntry);
    if (kernel == nullptr) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    binary->file->label + ": no kernel with entry " + std::to_string(funcEntry));
    }
    *funcHandle = function_of(*binary, *kernel).get();
    return ACL_SUCCESS;
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr, size_t* size) {
    if (binHandle == nullptr || name == nullptr) {
        return null_argument(__func__, "binHandle or name");
    }
    if (dptr == nullptr && size == nullptr) {
        return null_argument(__func__, "dptr and size");
    }
    std::shared_ptr<BinaryObject> binary = runtime().binaries.find(binHandle);
    if (!binary) {
        return bad_handle(__func__, "binary");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    std::lock_guard lock(binary->mutex);
    std::string error;
    std::shared_ptr<machine::KernelImage> image = binary->image(context->device, error);
    if (!image) {
        return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, binary->file->label + ": " + error);
    }
    binary->devices[context->device].registered = true;
    void* address = image->address_of(name, size);
    if (address == nullptr) {
        return fail(__func__, ACL_ERROR_RT_SYMBOL_NOT_FOUND,
                    binary->file->label + ": no global variable '" + name + "'");
    }
    if (dptr != nullptr) {
        *dptr = address;
    }
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
    if (funcHandle == nullptr || name == nullptr) {
        return null_argument(__func__, "funcHandle or name");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    const std::string& text = function->kernel->name;
    if (maxLen <= text.size()) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "the name and its terminator need " + aivops::kernel_binary::counted(text.size() + 1, "byte"));
    }
    std::memcpy(name, text.c_str(), text.size() + 1);
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
    if (funcHandle == nullptr || aicAddr == nullptr || aivAddr == nullptr) {
        return null_argument(__func__, "funcHandle, aicAddr or aivAddr");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    std::lock_guard lock(function->binary->mutex);
    std::string error;
    std::shared_ptr<machine::KernelImage> image = function->binary->image(context->device, error);
    if (!image) {
        return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, function->binary->file->label + ": " + error);
    }
    void* address = image->address_of(function->kernel->symbol.c_str(), nullptr);
    const bool vector = function->kernel->core == machine::CoreType::kVector;
    *aicAddr = vector ? nullptr : address;
    *aivAddr = vector ? address : nullptr;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize) {
    if (funcHandle == nullptr || aicSize == nullptr || aivSize == nullptr) {
        return null_argument(__func__, "funcHandle, aicSize or aivSize");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    const bool vector = function->kernel->core == machine::CoreType::kVector;
    *aicSize = vector ? 0 : function->kernel->size;
    *aivSize = vector ? function->kernel->size : 0;
    return ACL_SUCCESS;
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t* attrValue) {
    if (funcHandle == nullptr || attrValue == nullptr) {
        return null_argument(__func__, "funcHandle or attrValue");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    switch (attrType) {
    case ACL_FUNC_ATTR_KERNEL_TYPE:
        *attrValue = static_cast<int64_t>(function->kernel->core);
        return ACL_SUCCESS;
    case ACL_FUNC_ATTR_KERNEL_RATIO:
        return fail(__func__, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a kernel for vector cores only has no ratio");
    case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
        *attrValue = function->kernel->batch ? 1 : 0;
        return ACL_SUCCESS;
    default:
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "no function attribute " + std::to_string(attrType));
    }
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
    if (funcHandle == nullptr || binHandle == nullptr) {
        return null_argument(__func__, "funcHandle or binHandle");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(funcHandle);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    *binHandle = function->binary;
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount) {
    if (func == nullptr || paramCount == nullptr) {
        return null_argument(__func__, "func or paramCount");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(func);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    *paramCount = function->kernel->parameters.size();
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    if (func == nullptr || paramOffset == nullptr || paramSize == nullptr) {
        return null_argument(__func__, "func, paramOffset or paramSize");
    }
    std::shared_ptr<FunctionObject> function = runtime().functions.find(func);
    if (!function) {
        return bad_handle(__func__, "function");
    }
    const auto& parameters = function->kernel->parameters;
    if (paramIndex >= parameters.size()) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "kernel " + function->kernel->name + " has " +
                        aivops::kernel_binary::counted(parameters.size(), "parameter"));
    }
    *paramOffset = parameters[paramIndex].offset;
    *paramSize = parameters[paramIndex].size;
    return ACL_SUCCESS;
}
