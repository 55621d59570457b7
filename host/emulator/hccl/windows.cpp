#include "windows.h"

#include "acl/library_interface.h"
#include "error.h"
#include "hccl/hccl_res.h"

#include <algorithm>
#include <cstring>

namespace aivops::hccl {
namespace {

namespace runtime = acl::library_interface;

constexpr const char* kBufferTag = "HcclBuffer";

bool is_device_memory(const void* memory, uint64_t bytes) {
    const auto address = reinterpret_cast<machine::Address>(memory);
    const std::optional<machine::Range> range = runtime::find_memory(address);
    return range && range->contains(address, bytes);
}

} // namespace

Windows::~Windows() {
    for (const auto& window : registered_) {
        runtime::close_memory(window->key);
    }
    runtime::close_memory(buffer_.key);
    if (buffer_.memory != nullptr) {
        runtime::release(device_, buffer_.memory);
    }
}

Window& Windows::buffer() {
    std::lock_guard lock(mutex_);
    if (buffer_.memory == nullptr) {
        void* memory = runtime::allocate(device_, buffer_bytes_);
        require(memory != nullptr, HCCL_E_MEMORY,
                "device " + std::to_string(device_) + " has no " + std::to_string(buffer_bytes_ >> 20) +
                    " MB left for the HCCL buffer; set HCCL_BUFFSIZE or hcclBufferSize lower");
        buffer_ = {kBufferTag, memory, buffer_bytes_, {}};
    }
    return buffer_;
}

HcclMemHandle Windows::register_memory(const char* tag, const CommMem& memory) {
    const size_t length = strnlen(tag, HCCL_RES_TAG_MAX_LEN + 1);
    require(length >= 1 && length <= HCCL_RES_TAG_MAX_LEN, HCCL_E_PARA, "memTag has 1 to 255 characters");
    require(std::strncmp(tag, kBufferTag, std::strlen(kBufferTag)) != 0, HCCL_E_PARA,
            "tags that begin with HcclBuffer are the library's own");
    require(memory.type != COMM_MEM_TYPE_HOST, HCCL_E_NOT_SUPPORT,
            "the emulated toolkit registers device memory only, not host memory");
    require(memory.type == COMM_MEM_TYPE_DEVICE, HCCL_E_PARA, "mem->type is neither device nor host");
    require_pointer(memory.addr, "mem->addr");
    require(memory.size != 0, HCCL_E_PARA, "mem->size is 0");
    require(is_device_memory(memory.addr, memory.size), HCCL_E_PARA,
            "the memory is not inside one allocation of device memory");
    std::lock_guard lock(mutex_);
    for (const auto& window : registered_) {
        if (window->tag == tag) {
            require(window->memory == memory.addr && window->bytes == memory.size, HCCL_E_PARA,
                    "the tag '" + window->tag + "' is taken by other memory");
            return window.get();
        }
    }
    registered_.push_back(std::make_unique<Window>(Window{tag, memory.addr, memory.size, {}}));
    return registered_.back().get();
}

Window& Windows::find(HcclMemHandle handle) {
    std::lock_guard lock(mutex_);
    auto found = std::find_if(registered_.begin(), registered_.end(),
                              [handle](const auto& window) { return window.get() == handle; });
    require(found != registered_.end(), HCCL_E_PARA, "a memory handle is none of this communicator's");
    return **found;
}

const std::string& Windows::key(Window& window, std::span<const pid_t> processes) {
    std::lock_guard lock(mutex_);
    if (window.key.empty()) {
        window.key = runtime::export_memory(reinterpret_cast<machine::Address>(window.memory), window.bytes);
        runtime::allow(window.key, processes);
    }
    return window.key;
}

} // namespace aivops::hccl
