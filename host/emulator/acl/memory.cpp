// Memory of the devices and of the host: allocating, copying, filling, asking.
#include "aivops/kernel_binary/counted.h"
#include "errors.h"
#include "objects.h"

#include "contract/contract.h"
#include "machine/doorbell.h"
#include "machine/gm_words.h"
#include "machine/memory.h"
#include "machine/report.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

constexpr size_t kSizeUnit = 32;
constexpr size_t kHostAlignment = 64;
constexpr size_t kWatchedBytes = 8192; // of a copy that may hold flags

Registry<char>& host_memory() {
    static Registry<char>& instance = *new Registry<char>;
    return instance;
}

machine::Address address(const void* pointer) {
    return reinterpret_cast<machine::Address>(pointer);
}

aclError allocate(const char* function, void** devPtr, size_t size, bool padded) {
    if (devPtr == nullptr) {
        return null_argument(function, "devPtr");
    }
    if (size == 0) {
        return fail(function, ACL_ERROR_INVALID_PARAM, "size is 0");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(function);
    }
    machine::Arena& arena = machine::memory_space().arena(context->device);
    const size_t rounded = size > SIZE_MAX - 2 * kSizeUnit
                               ? size
                               : (size + kSizeUnit - 1) / kSizeUnit * kSizeUnit + (padded ? kSizeUnit : 0);
    void* memory = arena.allocate(rounded, size);
    if (memory == nullptr) {
        return fail(function, ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "device " + std::to_string(context->device) + " has no " +
                        aivops::kernel_binary::counted(size, "byte") + " left: " + std::to_string(arena.used()) +
                        " of " + std::to_string(arena.capacity()) + " are used (AIVOPS_EMU_MEMORY)");
    }
    *devPtr = memory;
    return ACL_SUCCESS;
}

aclError release(const char* function, void* devPtr) {
    if (devPtr == nullptr) {
        return null_argument(function, "devPtr");
    }
    std::optional<uint32_t> owner = machine::memory_space().owner(address(devPtr));
    if (!owner || !machine::memory_space().arena(*owner).release(devPtr)) {
        return fail_check(function, ACL_ERROR_RT_PARAM_INVALID, machine::category_name(AIVOPS_EMU_MEMCHECK),
                          machine::describe_address(address(devPtr)) + " is not what an allocation returned");
    }
    return ACL_SUCCESS;
}

enum class Side { kHost, kDevice, kEither };

// One end of a copy: on the side that the kind says, and inside one allocation when it is device memory.
aclError check_side(const char* function, const char* name, const void* pointer, size_t count, Side side) {
    std::optional<uint32_t> owner = machine::memory_space().owner(address(pointer));
    if (side != Side::kEither && owner.has_value() != (side == Side::kDevice)) {
        return fail_check(function, ACL_ERROR_RT_PARAM_INVALID, machine::category_name(AIVOPS_EMU_MEMCHECK),
                          std::string(name) + " " + machine::describe_address(address(pointer)) + " is " +
                              (owner ? "device" : "host") + " memory, and the copy's kind says " +
                              (owner ? "host" : "device"));
    }
    if (!owner) {
        return ACL_SUCCESS;
    }
    std::optional<machine::Range> range = machine::memory_space().find(address(pointer));
    if (!range || !range->contains(address(pointer), count)) {
        return fail_check(function, ACL_ERROR_RT_PARAM_INVALID, machine::category_name(AIVOPS_EMU_MEMCHECK),
                          std::string(name) + " " + machine::describe_address(address(pointer)) + " has not " +
                              aivops::kernel_binary::counted(count, "byte"));
    }
    return ACL_SUCCESS;
}

aclError check_copy(const char* function, const void* dst, size_t dst_bytes, const void* src, size_t src_bytes,
                    aclrtMemcpyKind kind) {
    if (dst == nullptr || src == nullptr) {
        return null_argument(function, dst == nullptr ? "dst" : "src");
    }
    Side to = Side::kEither;
    Side from = Side::kEither;
    switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
        to = from = Side::kHost;
        break;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
        to = Side::kDevice;
        from = Side::kHost;
        break;
    case ACL_MEMCPY_DEVICE_TO_HOST:
        to = Side::kHost;
        from = Side::kDevice;
        break;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
        to = from = Side::kDevice;
        break;
    case ACL_MEMCPY_DEFAULT:
        break;
    default:
        return fail(function, ACL_ERROR_INVALID_PARAM, "no copy of kind " + std::to_string(kind));
    }
    if (aclError error = check_side(function, "dst", dst, dst_bytes, to); error != ACL_SUCCESS) {
        return error;
    }
    return check_side(function, "src", src, src_bytes, from);
}

// Flags, and what holds many of them: kernels may poll what is written and write what is read. No flag is split that
// stands at a multiple of its size.
void copy_in_words(std::byte* to, const std::byte* from, size_t count) {
    const bool reads = machine::memory_space().owner(address(from)).has_value();
    std::array<std::byte, machine::kSmallBytes> piece;
    while (count != 0) {
        const size_t behind = (reads ? address(from) : address(to)) % machine::kSmallBytes;
        const auto step = static_cast<uint32_t>(std::min(count, machine::kSmallBytes - behind));
        machine::load_words(piece.data(), from, step);
        machine::store_words(to, piece.data(), step);
        to += step;
        from += step;
        count -= step;
    }
}

void copy_now(void* dst, const void* src, size_t count) {
    auto* to = static_cast<std::byte*>(dst);
    const auto* from = static_cast<const std::byte*>(src);
    const bool apart = to + count <= from || from + count <= to;
    if (count <= kWatchedBytes && apart) {
        copy_in_words(to, from, count);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        std::memmove(dst, src, count);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    machine::doorbell().ring();
}

void fill_now(void* memory, int32_t value, size_t count) {
    if (count <= machine::kSmallBytes) {
        std::array<std::byte, machine::kSmallBytes> piece;
        piece.fill(static_cast<std::byte>(value));
        machine::store_words(memory, piece.data(), static_cast<uint32_t>(count));
    } else {
        std::atomic_thread_fence(std::memory_order_release);
        std::memset(memory, value, count);
    }
    machine::doorbell().ring();
}

void copy_rows(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height) {
    for (size_t row = 0; row < height; ++row) {
        copy_now(static_cast<char*>(dst) + row * dpitch, static_cast<const char*>(src) + row * spitch, width);
    }
}

// Checks what a copy of rows needs; a copy of nothing is fine and `nothing` says so.
aclError check_rows(const char* function, const void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                    size_t height, aclrtMemcpyKind kind, bool& nothing) {
    nothing = width == 0 || height == 0;
    if (nothing) {
        return ACL_SUCCESS;
    }
    if (width > dpitch || width > spitch) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "rows are wider than the pitch");
    }
    return check_copy(function, dst, dpitch * (height - 1) + width, src, spitch * (height - 1) + width, kind);
}

template <typename Function>
void submit(StreamObject& stream, const char* name, uint64_t bytes, Function function) {
    stream.device().submit(*stream.queue,
                           std::make_unique<machine::FunctionTask>(machine::Activity{"copy", name, bytes}, [function] {
                               function();
                               return std::optional<machine::Failure>();
                           }));
}

aclError check_fill(const char* function, void* devPtr, size_t maxCount, size_t count) {
    if (devPtr == nullptr) {
        return null_argument(function, "devPtr");
    }
    if (count > maxCount) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "count is above maxCount");
    }
    return check_side(function, "devPtr", devPtr, count, Side::kDevice);
}

} // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return allocate(__func__, devPtr, size, true);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return allocate(__func__, devPtr, size, false);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return allocate(__func__, devPtr, size, true);
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy, aclrtMallocConfig* cfg) {
    if (cfg != nullptr && cfg->attrs == nullptr && cfg->numAttrs != 0) {
        return null_argument(__func__, "cfg->attrs");
    }
    return allocate(__func__, devPtr, size, true);
}

aclError aclrtFree(void* devPtr) {
    return release(__func__, devPtr);
}

aclError aclrtFreeWithDevSync(void* devPtr) {
    if (aclError error = aclrtSynchronizeDevice(); error != ACL_SUCCESS) {
        return error;
    }
    return release(__func__, devPtr);
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    if (hostPtr == nullptr) {
        return null_argument(__func__, "hostPtr");
    }
    if (size == 0) {
        return fail(__func__, ACL_ERROR_INVALID_PARAM, "size is 0");
    }
    if (!current_context()) {
        return no_context(__func__);
    }
    void* memory = nullptr;
    if (posix_memalign(&memory, kHostAlignment, size) != 0) {
        return fail(__func__, ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "the host has no " + aivops::kernel_binary::counted(size, "byte"));
    }
    *hostPtr = host_memory().add(std::shared_ptr<char>(static_cast<char*>(memory), std::free));
    return ACL_SUCCESS;
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig*) {
    return aclrtMallocHost(ptr, size);
}

aclError aclrtFreeHost(void* hostPtr) {
    if (hostPtr == nullptr) {
        return null_argument(__func__, "hostPtr");
    }
    return host_memory().remove(hostPtr)
               ? ACL_SUCCESS
               : fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "this is not what aclrtMallocHost returned");
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
    if (aclError error = aclrtSynchronizeDevice(); error != ACL_SUCCESS) {
        return error;
    }
    return aclrtFreeHost(hostPtr);
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (dst != nullptr && src != nullptr && kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && count > destMax) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "count is above destMax");
    }
    if (aclError error = check_copy(__func__, dst, count, src, count, kind); error != ACL_SUCCESS) {
        return error;
    }
    if (!current_context()) {
        return no_context(__func__);
    }
    copy_now(dst, src, count);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
    if (count == 0) {
        return ACL_SUCCESS;
    }
    if (dst != nullptr && src != nullptr && kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && count > destMax) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "count is above destMax");
    }
    aclError error = check_copy(__func__, dst, count, src, count, kind);
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, true, error)) {
        submit(*found, "copy", count, [=] { copy_now(dst, src, count); });
    }
    return error;
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
    bool nothing = false;
    aclError error = check_rows(__func__, dst, dpitch, src, spitch, width, height, kind, nothing);
    if (error == ACL_SUCCESS && !nothing) {
        copy_rows(dst, dpitch, src, spitch, width, height);
    }
    return error;
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
    bool nothing = false;
    aclError error = check_rows(__func__, dst, dpitch, src, spitch, width, height, kind, nothing);
    if (error != ACL_SUCCESS || nothing) {
        return error;
    }
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, true, error)) {
        submit(*found, "copy rows", width * height, [=] { copy_rows(dst, dpitch, src, spitch, width, height); });
    }
    return error;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    if (aclError error = check_fill(__func__, devPtr, maxCount, count); error != ACL_SUCCESS) {
        return error;
    }
    fill_now(devPtr, value, count);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    aclError error = check_fill(__func__, devPtr, maxCount, count);
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (std::shared_ptr<StreamObject> found = find_stream(__func__, stream, true, error)) {
        submit(*found, "fill", count, [=] { fill_now(devPtr, value, count); });
    }
    return error;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
    if (free == nullptr || total == nullptr) {
        return null_argument(__func__, "free or total");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    machine::Arena& arena = machine::memory_space().arena(context->device);
    *total = arena.capacity();
    *free = arena.capacity() - arena.used();
    return ACL_SUCCESS;
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum, size_t* outputNum) {
    if (memUsageInfo == nullptr || outputNum == nullptr || inputNum == 0) {
        return fail(__func__, ACL_ERROR_INVALID_PARAM, "memUsageInfo, outputNum and inputNum must not be 0");
    }
    if (!runtime().has_device(deviceId)) {
        return fail(__func__, ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(deviceId));
    }
    machine::Arena& arena = machine::memory_space().arena(static_cast<uint32_t>(deviceId));
    *memUsageInfo = {};
    std::strncpy(memUsageInfo->name, "ACL", sizeof memUsageInfo->name - 1);
    memUsageInfo->curMemSize = arena.used();
    memUsageInfo->memPeakSize = arena.peak();
    *outputNum = 1;
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
    if (ptr == nullptr || attributes == nullptr) {
        return null_argument(__func__, "ptr or attributes");
    }
    *attributes = {};
    attributes->pageSize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
    if (std::optional<uint32_t> owner = machine::memory_space().owner(address(ptr))) {
        attributes->location = {*owner, ACL_MEM_LOCATION_TYPE_DEVICE};
    } else {
        attributes->location = {0, host_memory().find(ptr) ? ACL_MEM_LOCATION_TYPE_HOST
                                                           : ACL_MEM_LOCATION_TYPE_UNREGISTERED};
    }
    return ACL_SUCCESS;
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
    if (ptr == nullptr || pbase == nullptr || psize == nullptr) {
        return null_argument(__func__, "ptr, pbase or psize");
    }
    std::optional<machine::Range> range = machine::memory_space().find(address(ptr));
    if (!range) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, machine::describe_address(address(ptr)));
    }
    *pbase = reinterpret_cast<void*>(range->begin);
    *psize = range->size();
    return ACL_SUCCESS;
}
