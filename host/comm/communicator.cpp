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

std::string kernel_name(const Algorithm& algorithm, const HostCall& call, bool sends) {
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

void Communicator::run(const HostCall& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (group_.failed) {
        throw_peer_failed();
    }
    check_call(call, group_.size);
    const uint64_t width = width_of(call.type);
    Plan plan = choose_plan(call.operation, staged_elements(call, group_.size) * width, group_.size, group_.lanes);
    if (group_.blocks != 0) {
        plan.blocks = group_.blocks;
    }
    const Extent extent = extent_of(call, rank_, group_.size);
    const Buffer input = reserve(input_, device_, extent.input * width);
    const Buffer output = reserve(output_, device_, extent.output * width);
    input.copy_from_host(call.input, input.bytes());
    launch(call, plan, input.pointer(), output.pointer());
    finish(call.timeout ? call.timeout : group_.timeout);
    output.copy_to_host(call.output, output.bytes());
}

void Communicator::launch(const HostCall& call, const Plan& plan, void* input, void* output) {
    const LaunchConfig config{plan.blocks, Schedule::kBatch, call.timeout ? call.timeout : group_.timeout};
    const uint64_t stamp = fingerprint(stamp_of(call, plan));
    const uint32_t reduction = static_cast<uint32_t>(call.reduction);
    void* const window = reinterpret_cast<void*>(window_.address());
    const bool sends = rank_ == call.root;
    const Kernel& entry = kernel(kernel_name(*plan.algorithm, call, sends));
    switch (call.operation) {
    case Operator::kAllGather:
    case Operator::kAllToAll:
        return entry.launch(stream_, config, window, input, output, call.count, stamp);
    case Operator::kAllReduce:
    case Operator::kReduceScatter:
        return entry.launch(stream_, config, window, input, output, call.count, reduction, stamp);
    case Operator::kBroadcast:
    case Operator::kScatter:
    case Operator::kGather:
        return entry.launch(stream_, config, window, input, output, call.count, call.root, stamp);
    case Operator::kReduce:
        return entry.launch(stream_, config, window, input, output, call.count, reduction, call.root, stamp);
    case Operator::kBarrier:
        return entry.launch(stream_, config, window, stamp);
    case Operator::kAllGatherV:
        return entry.launch(stream_, config, window, input, output, rank_counts(call), stamp);
    case Operator::kReduceScatterV:
        return entry.launch(stream_, config, window, input, output, rank_counts(call), reduction, stamp);
    case Operator::kAllToAllV:
        return entry.launch(stream_, config, window, input, output, exchange_counts(call, rank_, group_.size), stamp);
    case Operator::kSendRecv:
        return entry.launch(stream_, config, window, sends ? input : output, call.count, call.peer, stamp);
    }
}

void Communicator::finish(const Timeout& timeout) {
    try {
        stream_.synchronize();
    } catch (const AclTimeoutError&) {
        const std::optional<Stop> waiting = find_waiting(window_.read_control(), rank_, group_.size);
        if (!waiting) {
            throw;
        }
        throw_peer_timeout(*waiting, static_cast<int>(rank_), device_.effective_timeout(timeout));
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
