#include "library_interface.h"

#include "errors.h"
#include "machine/doorbell.h"
#include "machine/ipc_memory.h"
#include "machine/machine.h"
#include "machine/race_check.h"
#include "objects.h"

namespace aivops::acl::library_interface {
namespace {

// A task that passes on what its stream and the other tasks of the meeting know to be done.
class MeetingTask : public machine::Task {
  public:
    MeetingTask(std::unique_ptr<machine::Task> task, std::shared_ptr<machine::Ordering> meeting,
                std::shared_ptr<machine::Ordering> stream)
        : task_(std::move(task)), meeting_(std::move(meeting)), stream_(std::move(stream)) {}

    Step step(machine::Device& device) override {
        if (!begun_) {
            begun_ = true;
            meeting_->learn(stream_->known());
        }
        const Step step = task_->step(device);
        if (step == Step::kDone) {
            stream_->learn(meeting_->known());
        }
        return step;
    }
    void abandon(machine::Device& device) override { task_->abandon(device); }
    std::optional<machine::Failure> failure() override { return task_->failure(); }
    machine::Activity activity() const override { return task_->activity(); }

  private:
    std::unique_ptr<machine::Task> task_;
    std::shared_ptr<machine::Ordering> meeting_;
    std::shared_ptr<machine::Ordering> stream_;
    bool begun_ = false;
};

} // namespace

std::shared_ptr<machine::Ordering> make_meeting() {
    return std::make_shared<machine::Ordering>();
}

void report(const std::string& message) {
    keep_message(message);
}

std::optional<uint32_t> current_device() {
    std::shared_ptr<Context> context = current_context();
    return context ? std::optional(context->device) : std::nullopt;
}

uint32_t device_count() {
    return machine::machine().device_count();
}

aclError submit(const char* function, aclrtStream handle, uint32_t device, std::unique_ptr<machine::Task> task,
                std::shared_ptr<machine::Ordering> meeting) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> stream = find_stream(function, handle, false, error);
    if (!stream) {
        return error;
    }
    if (stream->queue->device() != device) {
        return fail(function, ACL_ERROR_RT_STREAM_CONTEXT,
                    "the stream is one of device " + std::to_string(stream->queue->device()) +
                        ", the communicator is on device " + std::to_string(device));
    }
    stream->device().submit(
        *stream->queue, std::make_unique<MeetingTask>(std::move(task), std::move(meeting), stream->queue->ordering()));
    return ACL_SUCCESS;
}

void* allocate(uint32_t device, uint64_t bytes) {
    return machine::memory_space().arena(device).allocate(bytes);
}

void release(uint32_t device, void* memory) {
    machine::memory_space().arena(device).release(memory);
}

std::optional<machine::Range> find_memory(machine::Address address) {
    return machine::memory_space().find(address);
}

std::optional<uint32_t> owner_of(machine::Address address) {
    return machine::memory_space().owner(address);
}

void allow_peer(uint32_t device, uint32_t peer) {
    if (device != peer) {
        machine::machine().device(device).allow_peer(peer);
    }
}

void ring_doorbell() {
    machine::doorbell().ring();
}

std::string export_memory(machine::Address address, uint64_t bytes) {
    return machine::export_memory(address, bytes, false);
}

machine::Address import_memory(const std::string& key) {
    return machine::import_memory(key).address;
}

void close_memory(const std::string& key) {
    machine::close_memory(key);
}

std::string offer(int descriptor, const machine::IpcDescription& description) {
    return machine::ipc_offer(descriptor, description, true);
}

bool allow(const std::string& key, std::span<const pid_t> processes) {
    return machine::ipc_allow(key, processes);
}

void withdraw(const std::string& key) {
    machine::ipc_withdraw(key);
}

machine::IpcReceived fetch(const std::string& key) {
    return machine::ipc_fetch(key);
}

} // namespace aivops::acl::library_interface
