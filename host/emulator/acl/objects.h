// What ACL handles stand for, and the tables that know which handles are alive: a handle is looked up, never trusted.
#ifndef AIVOPS_EMULATOR_ACL_OBJECTS_H
#define AIVOPS_EMULATOR_ACL_OBJECTS_H

#include "acl/acl.h"
#include "machine/kernel_image.h"
#include "machine/machine.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace aivops::acl {

/// Live objects of one kind, by handle.
template <typename T>
class Registry {
  public:
    void* add(std::shared_ptr<T> object) {
        void* handle = object.get();
        std::unique_lock lock(mutex_);
        objects_[handle] = std::move(object);
        return handle;
    }
    std::shared_ptr<T> find(const void* handle) const {
        std::shared_lock lock(mutex_);
        auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    std::shared_ptr<T> remove(const void* handle) {
        std::unique_lock lock(mutex_);
        auto found = objects_.find(handle);
        if (found == objects_.end()) {
            return nullptr;
        }
        std::shared_ptr<T> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }
    std::vector<std::shared_ptr<T>> all() const {
        std::shared_lock lock(mutex_);
        std::vector<std::shared_ptr<T>> objects;
        for (const auto& [handle, object] : objects_) {
            objects.push_back(object);
        }
        return objects;
    }

  private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

/// Cores that a stream or a device may use, by aclrtDevResLimitType.
constexpr uint32_t kResourceTypes = 2;

struct Context;

struct StreamObject {
    std::shared_ptr<machine::Stream> queue;
    std::weak_ptr<Context> context;
    uint32_t priority = 0;
    uint32_t flags = 0;
    uint64_t failure_mode = ACL_CONTINUE_ON_FAILURE;
    std::array<std::atomic<int64_t>, kResourceTypes> limits{-1, -1}; // -1: none of its own
    std::atomic<uint32_t> last_task{0};

    machine::Device& device() const { return machine::machine().device(queue->device()); }
};

struct Context {
    uint32_t device = 0;
    bool primary = false;
    std::atomic<bool> alive{true};
    std::shared_ptr<machine::FailureDomain> failures = std::make_shared<machine::FailureDomain>();
    std::shared_ptr<StreamObject> default_stream;
};

struct EventObject {
    uint32_t id = 0;
    uint32_t flags = 0;
    uint32_t device = 0;
    std::atomic<uint64_t> recorded{0};  // how often a record was asked for
    std::atomic<uint64_t> completed{0}; // the latest of them that has happened
    std::atomic<int64_t> at_ns{0};
    std::atomic<uint64_t> waiting{0};
    machine::Ordering ordering; // what had been done when it happened
};

struct BinaryObject;

struct FunctionObject {
    BinaryObject* binary = nullptr;
    const machine::KernelInfo* kernel = nullptr;
};

struct BinaryObject {
    struct OnDevice {
        bool registered = false;
        std::shared_ptr<machine::KernelImage> image;
    };

    std::shared_ptr<const machine::KernelFile> file;
    bool lazy = false;
    std::optional<uint32_t> only_device; // the older flow binds a binary to the device of its load
    aclrtOpExceptionCallback on_exception = nullptr;
    void* on_exception_data = nullptr;

    std::mutex mutex; // for what follows
    std::vector<OnDevice> devices;
    std::unordered_map<const machine::KernelInfo*, std::shared_ptr<FunctionObject>> functions;

    /// The device's copy, loaded when it is not there yet; nullptr and why when that fails.
    std::shared_ptr<machine::KernelImage> image(uint32_t device, std::string& error);
};

struct DeviceState {
    std::mutex mutex;
    uint32_t uses = 0;
    std::shared_ptr<Context> primary;
    std::array<std::atomic<uint32_t>, kResourceTypes> limits{};
};

/// Everything that ACL keeps for this process.
class Runtime {
  public:
    Runtime();

    Registry<Context> contexts;
    Registry<StreamObject> streams;
    Registry<EventObject> events;
    Registry<BinaryObject> binaries;
    Registry<FunctionObject> functions;

    DeviceState& device(uint32_t index) { return *devices_[index]; }
    bool has_device(int64_t index) const { return index >= 0 && index < static_cast<int64_t>(devices_.size()); }

    std::shared_ptr<Context> make_context(uint32_t device, bool primary);
    std::shared_ptr<StreamObject> make_stream(const std::shared_ptr<Context>& context, uint32_t priority,
                                              uint32_t flags);
    void drop_stream(const std::shared_ptr<StreamObject>& stream);
    void drop_context(const std::shared_ptr<Context>& context);
    /// Forgets what binaries and memory a device had.
    void reset_device(uint32_t device);

  private:
    std::vector<std::unique_ptr<DeviceState>> devices_;
};

Runtime& runtime();

/// The calling thread's context; nullptr when it has none.
std::shared_ptr<Context> current_context();
void set_current_context(std::shared_ptr<Context> context);

/// The stream that a handle means: NULL is the current context's default stream. `same_context`: another context's
/// stream is an error. On failure nullptr, with the code in `error`.
std::shared_ptr<StreamObject> find_stream(const char* function, aclrtStream handle, bool same_context, aclError& error);

/// Waits until everything submitted so far is done, and reports the stream's failure.
aclError synchronize(const char* function, StreamObject& stream, int64_t timeout_ms);

} // namespace aivops::acl

#endif // AIVOPS_EMULATOR_ACL_OBJECTS_H
