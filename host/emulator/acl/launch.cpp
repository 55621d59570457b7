// Launching kernels.
#include "launch.h"

#include "aivops/kernel_binary/counted.h"
#include "errors.h"
#include "limits.h"

#include "machine/kernel_run.h"
#include "machine/memory.h"
#include "machine/settings.h"
#include "machine/soc.h"

#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace aivops::acl {
namespace {

std::atomic<uint32_t>& last_task_of_thread() {
    thread_local std::atomic<uint32_t> task{0};
    return task;
}

uint32_t this_thread() {
    thread_local const auto thread = static_cast<uint32_t>(syscall(SYS_gettid));
    return thread;
}

// Where the runtime goes on silently with something else than was asked for.
aclError silent_danger(const char* function, const std::string& message) {
    if (machine::settings().check == machine::Check::kStrict) {
        return fail_check(function, ACL_ERROR_RT_PARAM_INVALID, machine::kLaunchCategory, message);
    }
    note(function, message);
    return ACL_SUCCESS;
}

aclError check_flag(const char* function, const char* name, uint32_t value) {
    return value <= 1 ? ACL_SUCCESS
                      : fail(function, ACL_ERROR_RT_PARAM_INVALID,
                             std::string(name) + " is " + std::to_string(value) + "; 0 or 1 exist");
}

} // namespace

aclError read_attributes(const char* function, const machine::KernelInfo& kernel, const aclrtLaunchKernelCfg* cfg,
                         LaunchAttributes& attributes) {
    attributes = {kernel.batch, default_kernel_timeout_ns()};
    if (cfg == nullptr) {
        return ACL_SUCCESS;
    }
    if (cfg->attrs == nullptr) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs is NULL; pass a NULL cfg instead");
    }
    bool in_seconds = false;
    bool in_microseconds = false;
    for (size_t index = 0; index < cfg->numAttrs; ++index) {
        const aclrtLaunchKernelAttrValue& value = cfg->attrs[index].value;
        aclError error = ACL_SUCCESS;
        switch (cfg->attrs[index].id) {
        case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
            error = check_flag(function, "schemMode", value.schemMode);
            attributes.batch = value.schemMode == 1;
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
            if (value.dynUBufSize != 0) {
                error = fail(function, ACL_ERROR_RT_PARAM_INVALID,
                             "dynUBufSize is for SIMT kernels, and kernel " + kernel.name + " is none");
            }
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
            break; // mean something on 310P only
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
            error = check_flag(function, "isBlockTaskPrefetch", value.isBlockTaskPrefetch);
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
            error = check_flag(function, "isDataDump", value.isDataDump);
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
            in_seconds = true;
            attributes.timeout_ns = kernel_timeout_ns(uint64_t{value.timeout} * 1000000);
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US:
            in_microseconds = true;
            attributes.timeout_ns =
                kernel_timeout_ns(uint64_t{value.timeoutUs.timeoutHigh} << 32 | value.timeoutUs.timeoutLow);
            break;
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
            error = check_flag(function, "enableProfiling", value.enableProfiling);
            break;
        default:
            error = fail(function, ACL_ERROR_RT_PARAM_INVALID,
                         "no launch attribute " + std::to_string(static_cast<int>(cfg->attrs[index].id)));
        }
        if (error != ACL_SUCCESS) {
            return error;
        }
    }
    return in_seconds && in_microseconds
               ? fail(function, ACL_ERROR_RT_PARAM_INVALID, "TIMEOUT and TIMEOUT_US exclude each other")
               : ACL_SUCCESS;
}

aclError launch(const char* function, const std::shared_ptr<FunctionObject>& kernel, uint32_t blocks,
                aclrtStream stream_handle, const aclrtLaunchKernelCfg* cfg, std::vector<std::byte> arguments,
                const void* device_arguments, size_t device_arguments_size) {
    LaunchAttributes attributes;
    if (aclError error = read_attributes(function, *kernel->kernel, cfg, attributes); error != ACL_SUCCESS) {
        return error;
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> stream = find_stream(function, stream_handle, true, error);
    if (!stream) {
        return error;
    }
    const uint32_t device = stream->queue->device();
    machine::Launch launch;
    {
        BinaryObject& binary = *kernel->binary;
        std::lock_guard lock(binary.mutex);
        if (!binary.devices[device].registered && !binary.only_device) {
            return fail(function, ACL_ERROR_RT_INVALID_HANDLE,
                        binary.file->label + " is not registered on device " + std::to_string(device) +
                            "; call aclrtBinaryGetFunction with this device current, again after each reset");
        }
        if (binary.only_device && *binary.only_device != device) {
            error = silent_danger(function, "the binary was loaded on device " + std::to_string(*binary.only_device) +
                                                " and is launched on device " + std::to_string(device) +
                                                "; hardware would start it at a wrong address");
            if (error != ACL_SUCCESS) {
                return error;
            }
        }
        std::string why;
        launch.image = binary.image(device, why);
        if (!launch.image) {
            return fail(function, ACL_ERROR_RT_MEMORY_ALLOCATION, binary.file->label + ": " + why);
        }
        launch.file = binary.file;
    }
    launch.kernel = kernel->kernel;
    launch.entry = launch.image->entry(*kernel->kernel);
    if (launch.entry == nullptr) {
        return fail(function, ACL_ERROR_RT_INTERNAL_ERROR,
                    launch.file->label + ": kernel " + kernel->kernel->name + " has no entry; build it again");
    }
    if (blocks > UINT16_MAX) {
        const uint32_t cut = blocks & UINT16_MAX;
        error = silent_danger(function, aivops::kernel_binary::counted(blocks, "block") +
                                            " are cut to 16 bits: " + std::to_string(cut));
        if (error != ACL_SUCCESS) {
            return error;
        }
        blocks = cut;
    }
    const size_t size = device_arguments != nullptr ? device_arguments_size : arguments.size();
    if (size < kernel->kernel->bytes_read()) {
        error =
            silent_danger(function, "kernel " + kernel->kernel->name + " takes " +
                                        aivops::kernel_binary::counted(kernel->kernel->bytes_read(), "byte") +
                                        " of arguments and gets " + std::to_string(size) + "; the rest is undefined");
        if (error != ACL_SUCCESS) {
            return error;
        }
    }
    if (attributes.batch && blocks > machine::soc().vector_cores) {
        error = silent_danger(function, aivops::kernel_binary::counted(blocks, "block") +
                                            " in batch mode can never start on " +
                                            aivops::kernel_binary::counted(machine::soc().vector_cores, "vector core") +
                                            "; the launch will time out");
        if (error != ACL_SUCCESS) {
            return error;
        }
    }
    launch.stream = stream->queue->id();
    launch.blocks = blocks;
    launch.batch = attributes.batch;
    launch.timeout_ns = attributes.timeout_ns;
    ExceptionInfo info;
    info.task = stream->last_task.fetch_add(1) + 1;
    info.stream = stream->queue->id();
    info.thread = this_thread();
    info.device = device;
    info.function = kernel.get();
    last_task_of_thread() = info.task;
    std::weak_ptr<FunctionObject> weak = kernel;
    launch.on_failure = [info, weak, context = stream->context](const machine::Failure& failure) mutable {
        info.code = failure.code;
        if (std::shared_ptr<FunctionObject> alive = weak.lock()) {
            std::lock_guard lock(alive->binary->mutex);
            info.binary_callback = alive->binary->on_exception;
            info.binary_callback_data = alive->binary->on_exception_data;
        }
        // The same for every callback, whichever thread it was that ran the kernel.
        std::shared_ptr<Context> before = current_context();
        set_current_context(context.lock());
        report_exception(info);
        set_current_context(std::move(before));
    };
    launch.ordering = stream->queue->ordering();
    launch.host = machine::host_ordering().known();
    launch.arguments = std::move(arguments);
    launch.device_arguments = device_arguments;
    launch.device_arguments_size = device_arguments_size;
    stream->device().submit(*stream->queue, std::make_unique<machine::KernelRun>(std::move(launch), device));
    return ACL_SUCCESS;
}

} // namespace aivops::acl

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

std::shared_ptr<FunctionObject> find_function(const char* function, const void* handle, aclError& error) {
    std::shared_ptr<FunctionObject> found = runtime().functions.find(handle);
    error = found ? ACL_SUCCESS : bad_handle(function, "function");
    return found;
}

aclError launch_from_device(const char* function, aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                            size_t argsSize, aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
    if (funcHandle == nullptr) {
        return null_argument(function, "funcHandle");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<FunctionObject> kernel = find_function(function, funcHandle, error);
    if (!kernel) {
        return error;
    }
    if (numBlocks == 0) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "numBlocks is 0");
    }
    if (argsSize != 0) {
        const auto address = reinterpret_cast<machine::Address>(argsData);
        std::optional<machine::Range> range = machine::memory_space().find(address);
        if (!range || !range->contains(address, argsSize)) {
            return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                        "argsData must be device memory of argsSize bytes; it is " +
                            machine::describe_address(address) + "; aclrtLaunchKernelWithHostArgs takes host memory");
        }
    }
    return launch(function, kernel, numBlocks, stream, cfg, {}, argsSize != 0 ? argsData : nullptr, argsSize);
}

} // namespace

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                           aclrtStream stream) {
    return launch_from_device(__func__, funcHandle, numBlocks, argsData, argsSize, nullptr, stream);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                             aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
    return launch_from_device(__func__, funcHandle, numBlocks, argsData, argsSize, cfg, stream);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream,
                                       aclrtLaunchKernelCfg* cfg, void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum) {
    if (funcHandle == nullptr || hostArgs == nullptr) {
        return null_argument(__func__, funcHandle == nullptr ? "funcHandle" : "hostArgs");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<FunctionObject> kernel = find_function(__func__, funcHandle, error);
    if (!kernel) {
        return error;
    }
    if (stream != nullptr && !runtime().streams.find(stream)) {
        return bad_handle(__func__, "stream");
    }
    if (argsSize == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "argsSize is 0; a kernel without parameters needs a non-empty block as well");
    }
    if (placeHolderNum != 0 && placeHolderArray == nullptr) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "placeHolderArray is NULL and placeHolderNum is not 0");
    }
    for (size_t index = 0; index < placeHolderNum; ++index) {
        const aclrtPlaceHolderInfo& holder = placeHolderArray[index];
        if (holder.addrOffset >= argsSize || holder.dataOffset >= argsSize) {
            return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                        "placeholder " + std::to_string(index) + " lies behind the " +
                            aivops::kernel_binary::counted(argsSize, "byte") + " of arguments");
        }
        if (argsSize - holder.addrOffset < sizeof(uint64_t)) {
            return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                        "placeholder " + std::to_string(index) + " has no room for an address; hardware would write " +
                            "behind the arguments");
        }
    }
    if (numBlocks == 0) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "numBlocks is 0");
    }
    if (placeHolderNum == 0) {
        const auto* bytes = static_cast<const std::byte*>(hostArgs);
        return launch(__func__, kernel, numBlocks, stream, cfg, std::vector<std::byte>(bytes, bytes + argsSize));
    }
    // Data behind placeholders is read by the kernel as GM: the whole block goes to device memory.
    std::shared_ptr<StreamObject> on = find_stream(__func__, stream, true, error);
    if (!on) {
        return error;
    }
    machine::Arena& arena = machine::memory_space().arena(on->queue->device());
    void* block = arena.allocate(argsSize);
    if (block == nullptr) {
        return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION, "no device memory for the arguments");
    }
    for (size_t index = 0; index < placeHolderNum; ++index) {
        const uint64_t address = reinterpret_cast<uint64_t>(block) + placeHolderArray[index].dataOffset;
        std::memcpy(static_cast<char*>(hostArgs) + placeHolderArray[index].addrOffset, &address, sizeof address);
    }
    std::memcpy(block, hostArgs, argsSize);
    error = launch(__func__, kernel, numBlocks, stream, cfg, {}, block, argsSize);
    if (error != ACL_SUCCESS) {
        arena.release(block);
        return error;
    }
    on->device().submit(*on->queue, std::make_unique<machine::FunctionTask>(
                                        machine::Activity{"task", "release arguments"}, [&arena, block] {
                                            arena.release(block);
                                            return std::optional<machine::Failure>();
                                        }));
    return ACL_SUCCESS;
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                        void** args) {
    if (func == nullptr) {
        return null_argument(__func__, "func");
    }
    if (numBlocks == 0) {
        return fail(__func__, ACL_ERROR_INVALID_PARAM, "numBlocks is 0");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<FunctionObject> kernel = find_function(__func__, func, error);
    if (!kernel) {
        return error;
    }
    const machine::KernelInfo& info = *kernel->kernel;
    if (!info.has_layout) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                    "kernel " + info.name + " carries no layout of its parameters; launch it with host args");
    }
    if (args == nullptr && !info.parameters.empty()) {
        return null_argument(__func__, "args");
    }
    std::vector<std::byte> arguments(std::max<size_t>(info.args_size, 1));
    for (size_t index = 0; index < info.parameters.size(); ++index) {
        if (args[index] == nullptr) {
            return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "args[" + std::to_string(index) + "] is NULL");
        }
        std::memcpy(arguments.data() + info.parameters[index].offset, args[index], info.parameters[index].size);
    }
    return launch(__func__, kernel, numBlocks, stream, cfg, std::move(arguments));
}

aclError aclrtGetThreadLastTaskId(uint32_t* taskId) {
    if (taskId == nullptr) {
        return null_argument(__func__, "taskId");
    }
    *taskId = last_task_of_thread();
    return ACL_SUCCESS;
}
