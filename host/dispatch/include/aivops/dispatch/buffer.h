// Device memory, or a part of it. Copies and slices share one allocation, which is freed with the last of them, and not
// before launches that use it are done.
#ifndef AIVOPS_DISPATCH_BUFFER_H
#define AIVOPS_DISPATCH_BUFFER_H

#include "aivops/dispatch/stream.h"
#include "aivops/kernel_binary/counted.h"

#include <atomic>

namespace aivops {

namespace detail {

struct BufferState : Retainable {
    BufferState(const Device& device, std::size_t bytes) : device(device), bytes(bytes), owned(true) {
        if (bytes == 0) {
            return; // aclrtMalloc refuses it
        }
        const ContextGuard guard(device);
        check(device.acl(), device.acl().aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc", [&] {
            return "Buffer of " + kernel_binary::counted(bytes, "byte") + " on device " + std::to_string(device.id());
        });
    }
    BufferState(const Device& device, void* pointer, std::size_t bytes, std::shared_ptr<void> owner,
                const std::atomic<const char*>* withdrawn)
        : device(device), pointer(pointer), bytes(bytes), owned(false), owner(std::move(owner)), withdrawn(withdrawn) {}

    ~BufferState() {
        if (owned && pointer != nullptr && !is_forked_child()) {
            const ContextSaver saver(device.acl());
            device.acl().aclrtSetCurrentContext(device.context());
            device.acl().aclrtFree(pointer);
        }
    }
    BufferState(const BufferState&) = delete;
    BufferState& operator=(const BufferState&) = delete;

    Device device;
    void* pointer = nullptr;
    const std::size_t bytes;
    const bool owned;
    std::shared_ptr<void> owner;
    const std::atomic<const char*>* withdrawn = nullptr;
};

} // namespace detail

class Buffer {
  public:
    /// The content is not initialised.
    Buffer(const Device& device, std::size_t bytes)
        : state_(std::make_shared<detail::BufferState>(device, bytes)), bytes_(bytes) {}
    /// Memory of someone else, who is kept alive through `owner`. If that one can take the memory back all the same,
    /// `withdrawn` is a part of it that is null until then, and afterwards says why.
    static Buffer borrow(const Device& device, void* pointer, std::size_t bytes, std::shared_ptr<void> owner = nullptr,
                         const std::atomic<const char*>* withdrawn = nullptr) {
        return Buffer(std::make_shared<detail::BufferState>(device, pointer, bytes, std::move(owner), withdrawn), 0,
                      bytes);
    }

    const Device& device() const { return state_->device; }
    std::size_t bytes() const { return bytes_; }
    /// Throws InvalidValueError when the memory's owner has taken it back.
    void* pointer() const {
        if (state_->withdrawn != nullptr) {
            if (const char* reason = state_->withdrawn->load(std::memory_order_acquire)) {
                throw InvalidValueError(describe() + ": it can be used no more, because " + reason);
            }
        }
        return static_cast<unsigned char*>(state_->pointer) + offset_;
    }
    std::string describe() const {
        return "Buffer of " + kernel_binary::counted(bytes_, "byte") + " on device " + std::to_string(device().id());
    }

    /// Whether both are parts of one allocation.
    bool shares_memory_with(const Buffer& other) const { return state_ == other.state_; }

    /// The allocation that this is a part of.
    Buffer whole() const { return Buffer(state_, 0, state_->bytes); }
    /// How many buffers and streams hold the allocation.
    long references() const { return state_.use_count(); }

    Buffer slice(std::size_t offset, std::size_t bytes) const {
        if (offset > bytes_ || bytes > bytes_ - offset) {
            throw InvalidValueError(describe() + ": a slice of " + kernel_binary::counted(bytes, "byte") +
                                    " from byte " + std::to_string(offset) + " leaves it");
        }
        return Buffer(state_, offset_ + offset, bytes);
    }

    /// Host to device; blocks until it is done.
    void copy_from_host(const void* source, std::size_t bytes) const {
        require_same_bytes(bytes, "host memory");
        copy(pointer(), source, ACL_MEMCPY_HOST_TO_DEVICE);
    }
    /// Device to host; blocks until it is done.
    void copy_to_host(void* destination, std::size_t bytes) const {
        require_same_bytes(bytes, "host memory");
        copy(destination, pointer(), ACL_MEMCPY_DEVICE_TO_HOST);
    }
    /// Device to device; blocks until it is done. Between devices, peer access must be enabled.
    void copy_from(const Buffer& source) const {
        require_same_bytes(source.bytes(), "the source");
        copy(pointer(), source.pointer(), ACL_MEMCPY_DEVICE_TO_DEVICE);
    }
    /// Device to device, queued on `stream`.
    void copy_from(const Buffer& source, const Stream& stream) const {
        require_same_bytes(source.bytes(), "the source");
        if (bytes_ == 0) {
            return;
        }
        const ContextGuard guard(stream.device());
        check(acl(),
              acl().aclrtMemcpyAsync(pointer(), bytes_, source.pointer(), bytes_, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                     stream.handle()),
              "aclrtMemcpyAsync", [&] { return describe(); });
        retain_on(stream);
        source.retain_on(stream);
    }
    /// Sets every byte; blocks until it is done.
    void fill(std::uint8_t value) const {
        if (bytes_ == 0) {
            return;
        }
        const ContextGuard guard(device());
        check(acl(), acl().aclrtMemset(pointer(), bytes_, value, bytes_), "aclrtMemset", [&] { return describe(); });
    }

    /// Keeps the memory until the work queued so far on `stream` is done.
    void retain_on(const Stream& stream) const { stream.retain(state_); }

  private:
    Buffer(std::shared_ptr<detail::BufferState> state, std::size_t offset, std::size_t bytes)
        : state_(std::move(state)), offset_(offset), bytes_(bytes) {}

    const cann::FunctionTable& acl() const { return device().acl(); }

    void require_same_bytes(std::size_t bytes, const char* other) const {
        if (bytes != bytes_) {
            throw InvalidValueError(describe() + ": " + other + " has " + kernel_binary::counted(bytes, "byte") +
                                    "; a copy takes equal sizes, use slice()");
        }
    }

    void copy(void* destination, const void* source, aclrtMemcpyKind kind) const {
        if (bytes_ == 0) {
            return;
        }
        const ContextGuard guard(device());
        check(acl(), acl().aclrtMemcpy(destination, bytes_, source, bytes_, kind), "aclrtMemcpy",
              [&] { return describe(); });
    }

    std::shared_ptr<detail::BufferState> state_;
    std::size_t offset_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace aivops

#endif // AIVOPS_DISPATCH_BUFFER_H
