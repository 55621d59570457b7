#include "communicator.h"

#include "types.h"

namespace aivops {
namespace {

// Scratch memory only grows, so that repeated calls allocate nothing.
Buffer reserve(std::optional<Buffer>& scratch, const Device& device, uint64_t bytes) {
    if (!scratch || scratch->bytes() < bytes) {
        scratch.reset();
        scratch.emplace(device, bytes);
    }
    return scratch->slice(0, bytes);
}

void require_bytes(const Collective& call, const char* what, const Buffer& buffer, uint64_t bytes,
                   const Device& device) {
    if (buffer.bytes() != bytes || buffer.device() != device) {
        throw InvalidValueError(std::string(name_of(call.operation)) + "(): " + what + " is a " + buffer.describe() +
                                ", expected " + std::to_string(bytes) + " bytes on device " +
                                std::to_string(device.id()));
    }
}

std::string kernel_name(const Algorithm& algorithm, const Collective& call, bool sends) {
    if (call.operation == Operator::kBarrier) {
        return std::string(algorithm.kernel);
    }
    std::string name(algorithm.kernel);
    if (call.operation == Operator::kSendRecv) {
        name = sends ? "aiv_send" : "aiv_recv";
    }
    return name.append("_").append(kernel_suffix(call.type));
}

} // namespace

Communicator::Communicator(const Device& device, uint32_t rank, uint64_t window_bytes, GroupState& group)
    : device_(device), stream_(device), rank_(rank), group_(group),
      window_(device, window_bytes, group.lanes, group.size) {
}

void Communicator::run(const Collective& call, const void* input, void* output) {
    check_call(call, group_.size);
    const std::lock_guard<std::mutex> lock(scratch_mutex_);
    const uint64_t width = width_of(call.type);
    const Extent extent = extent_of(call, rank_, group_.size);
    const Buffer device_input = reserve(input_, device_, extent.input * width);
    const Buffer device_output = reserve(output_, device_, extent.output * width);
    device_input.copy_from_host(input, device_input.bytes());
    launch(call, device_input, device_output, stream_);
    wait(stream_, call.timeout);
    device_output.copy_to_host(output, device_output.bytes());
}

void Communicator::launch(const Collective& call, const Buffer& input, const Buffer& output, const Stream& stream) {
    check_call(call, group_.size);
    if (group_.failed) {
        throw_peer_failed();
    }
    const uint64_t width = width_of(call.type);
    const Extent extent = extent_of(call, rank_, group_.size);
    require_bytes(call, "input", input, extent.input * width, device_);
    require_bytes(call, "output", output, extent.output * width, device_);
    Plan plan = choose_plan(call.operation, staged_elements(call, group_.size) * width, group_.lanes, call.algorithm);
    if (group_.blocks != 0) {
        plan.blocks = group_.blocks;
    }
    enqueue(call, plan, input.pointer(), output.pointer(), stream);
    input.retain_on(stream);
    output.retain_on(stream);
}

void Communicator::enqueue(const Collective& call, const Plan& plan, void* input, void* output, const Stream& stream) {
    const LaunchConfig config{plan.blocks, Schedule::kBatch, call.timeout ? call.timeout : group_.timeout};
    const uint64_t stamp = fingerprint(stamp_of(call, plan));
    const uint32_t reduction = static_cast<uint32_t>(call.reduction);
    void* const window = reinterpret_cast<void*>(window_.address());
    const bool sends = rank_ == call.root;
    const Kernel& entry = kernel(kernel_name(*plan.algorithm, call, sends));
    switch (call.operation) {
    case Operator::kAllGather:
    case Operator::kAllToAll:
        return entry.launch(stream, config, window, input, output, call.count, stamp);
    case Operator::kAllReduce:
    case Operator::kReduceScatter:
        return entry.launch(stream, config, window, input, output, call.count, reduction, stamp);
    case Operator::kBroadcast:
    case Operator::kScatter:
    case Operator::kGather:
        return entry.launch(stream, config, window, input, output, call.count, call.root, stamp);
    case Operator::kReduce:
        return entry.launch(stream, config, window, input, output, call.count, reduction, call.root, stamp);
    case Operator::kBarrier:
        return entry.launch(stream, config, window, stamp);
    case Operator::kAllGatherV:
        return entry.launch(stream, config, window, input, output, rank_counts(call), stamp);
    case Operator::kReduceScatterV:
        return entry.launch(stream, config, window, input, output, rank_counts(call), reduction, stamp);
    case Operator::kAllToAllV:
        return entry.launch(stream, config, window, input, output, exchange_counts(call, rank_, group_.size), stamp);
    case Operator::kSendRecv:
        return entry.launch(stream, config, window, sends ? input : output, call.count, call.peer, stamp);
    }
}

void Communicator::wait(const Stream& stream, const Timeout& timeout) {
    try {
        stream.synchronize();
    } catch (const AclTimeoutError&) {
        const std::optional<Stop> waiting = find_waiting(window_.read_control(), rank_, group_.size);
        if (!waiting) {
            throw;
        }
        throw_peer_timeout(*waiting, static_cast<int>(rank_),
                           device_.effective_timeout(timeout ? timeout : group_.timeout));
    }
    if (!window_.is_aborted()) {
        return;
    }
    if (const std::optional<Stop> stop = find_stop(window_.read_control(), group_.size)) {
        if (stop->kind == Stop::Kind::kMismatch) {
            throw_mismatch(*stop, static_cast<int>(rank_));
        }
        throw_peer_failed();
    }
}

const Kernel& Communicator::kernel(const std::string& name) {
    const std::lock_guard<std::mutex> lock(kernels_mutex_);
    auto known = kernels_.find(name);
    if (known == kernels_.end()) {
        known = kernels_.emplace(name, group_.kernels->get_kernel(name)).first;
    }
    return known->second;
}

void Communicator::throw_peer_failed() const {
    std::string reason;
    {
        const std::lock_guard<std::mutex> lock(group_.mutex);
        reason = group_.reason;
    }
    throw PeerFailedError("Communicator: rank " + std::to_string(rank_) + " stopped because " +
                          (reason.empty() ? "another rank gave up" : reason));
}

} // namespace aivops
