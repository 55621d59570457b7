#include "objects.h"

#include "errors.h"
#include "machine/memory.h"
#include "machine/soc.h"

namespace aivops::acl {
namespace {

constexpr uint32_t kFlagsWithoutSync = ACL_STREAM_PERSISTENT | ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_CPU_SCHEDULE;

std::shared_ptr<Context>& thread_context() {
    thread_local std::shared_ptr<Context> context;
    return context;
}

} // namespace

std::shared_ptr<machine::KernelImage> BinaryObject::image(uint32_t device, std::string& error) {
    OnDevice& on_device = devices[device];
    if (!on_device.image) {
        on_device.image = machine::KernelImage::load(file, error);
    }
    return on_device.image;
}

Runtime::Runtime() {
    for (uint32_t index = 0; index < machine::machine().device_count(); ++index) {
        auto state = std::make_unique<DeviceState>();
        state->limits[ACL_RT_DEV_RES_CUBE_CORE] = machine::soc().cube_cores;
        state->limits[ACL_RT_DEV_RES_VECTOR_CORE] = machine::soc().vector_cores;
        devices_.push_back(std::move(state));
    }
}

std::shared_ptr<Context> Runtime::make_context(uint32_t device, bool primary) {
    auto context = std::make_shared<Context>();
    context->device = device;
    context->primary = primary;
    context->default_stream = make_stream(context, 0, 0);
    contexts.add(context);
    return context;
}

std::shared_ptr<StreamObject> Runtime::make_stream(const std::shared_ptr<Context>& context, uint32_t priority,
                                                   uint32_t flags) {
    auto stream = std::make_shared<StreamObject>();
    stream->queue = machine::machine().device(context->device).create_stream(context->failures);
    stream->context = context;
    stream->priority = priority;
    stream->flags = flags;
    streams.add(stream);
    return stream;
}

void Runtime::drop_stream(const std::shared_ptr<StreamObject>& stream) {
    streams.remove(stream.get());
    stream->device().remove_stream(stream->queue);
}

void Runtime::drop_context(const std::shared_ptr<Context>& context) {
    context->alive.store(false);
    contexts.remove(context.get());
    for (const std::shared_ptr<StreamObject>& stream : streams.all()) {
        if (stream->context.lock() == context) {
            machine::machine().drive(context->device, [&] { return stream->queue->idle(); });
            drop_stream(stream);
        }
    }
    context->default_stream.reset();
}

void Runtime::reset_device(uint32_t device) {
    for (const std::shared_ptr<BinaryObject>& binary : binaries.all()) {
        std::lock_guard lock(binary->mutex);
        binary->devices[device] = {};
    }
    machine::memory_space().arena(device).release_all();
}

Runtime& runtime() {
    // Never destroyed: other libraries may call ACL from their own destructors.
    static Runtime& instance = *new Runtime;
    return instance;
}

std::shared_ptr<Context> current_context() {
    std::shared_ptr<Context>& context = thread_context();
    if (context && !context->alive.load(std::memory_order_relaxed)) {
        context.reset();
    }
    return context;
}

void set_current_context(std::shared_ptr<Context> context) {
    thread_context() = std::move(context);
}

std::shared_ptr<StreamObject> find_stream(const char* function, aclrtStream handle, bool same_context,
                                          aclError& error) {
    std::shared_ptr<Context> context = current_context();
    if (handle == nullptr) {
        error = context ? ACL_SUCCESS : no_context(function);
        return context ? context->default_stream : nullptr;
    }
    std::shared_ptr<StreamObject> stream = runtime().streams.find(handle);
    if (!stream) {
        error = bad_handle(function, "stream");
        return nullptr;
    }
    if (!context) {
        error = no_context(function);
        return nullptr;
    }
    if (same_context && stream->context.lock() != context) {
        error = fail(function, ACL_ERROR_RT_STREAM_CONTEXT,
                     "the stream belongs to another context than the current one; its device is " +
                         std::to_string(stream->queue->device()) + ", the current one is " +
                         std::to_string(context->device));
        return nullptr;
    }
    error = ACL_SUCCESS;
    return stream;
}

aclError synchronize(const char* function, StreamObject& stream, int64_t timeout_ms) {
    if ((stream.flags & kFlagsWithoutSync) != 0) {
        return ACL_SUCCESS;
    }
    machine::Stream& queue = *stream.queue;
    const uint64_t target = queue.submitted();
    if (!machine::machine().drive(queue.device(), [&] { return queue.completed() >= target; }, timeout_ms)) {
        return fail(function, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                    "stream " + std::to_string(queue.id()) + " of device " + std::to_string(queue.device()) +
                        " is not done after " + std::to_string(timeout_ms) + " ms");
    }
    machine::host_ordering().learn(queue.ordering()->known());
    if (std::optional<machine::Failure> failure = queue.take_failure()) {
        machine::Device::await_deferred(); // whoever is told of it finds the exception callbacks done
        return fail(function, failure->code, failure->message);
    }
    return ACL_SUCCESS;
}

} // namespace aivops::acl
