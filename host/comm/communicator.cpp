#include "communicator.h"

#include "types.h"

namespace aivops {
namespace {

// How many times `count` elements an operator takes and gives.
struct Extent {
    uint64_t input;
    uint64_t output;
};

Extent extent_of(Operator operation, uint32_t size) {
    switch (operation) {
    case Operator::kAllGather:
        return {1, size};
    default:
        throw InvalidValueError(std::string(name_of(operation)) + "(): no kernel for it");
    }
}

// Scratch memory only grows, so that repeated calls allocate nothing.
Buffer reserve(std::optional<Buffer>& scratch, const Device& device, uint64_t bytes) {
    if (!scratch || scratch->bytes() < bytes) {
        scratch.reset();
        scratch.emplace(device, bytes);
    }
    return scratch->slice(0, bytes);
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
    const Extent extent = extent_of(call.operation, group_.size);
    const uint64_t bytes = call.count * width_of(call.type);
    if (call.count > kMaxCount) {
        throw InvalidValueError(std::string(name_of(call.operation)) + "(): " + std::to_string(call.count) +
                                " elements, expected at most " + std::to_string(kMaxCount));
    }
    Plan plan = choose_plan(call.operation, bytes, group_.size, group_.lanes);
    if (group_.blocks != 0) {
        plan.blocks = group_.blocks;
    }
    const Call stamp{call.operation,
                     call.type,
                     call.reduction,
                     plan.algorithm->number,
                     static_cast<uint8_t>(call.root),
                     static_cast<uint8_t>(plan.blocks),
                     call.count};
    const Buffer input = reserve(input_, device_, extent.input * bytes);
    const Buffer output = reserve(output_, device_, extent.output * bytes);
    input.copy_from_host(call.input, input.bytes());
    launch(call, stamp, *plan.algorithm, input.pointer(), output.pointer());
    finish(call.timeout ? call.timeout : group_.timeout);
    output.copy_to_host(call.output, output.bytes());
}

void Communicator::launch(const HostCall& call, const Call& stamp, const Algorithm& algorithm, void* input,
                          void* output) {
    const LaunchConfig config{stamp.blocks, Schedule::kBatch, call.timeout ? call.timeout : group_.timeout};
    void* window = reinterpret_cast<void*>(window_.address());
    kernel(algorithm, call.type).launch(stream_, config, window, input, output, call.count, fingerprint(stamp));
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

const Kernel& Communicator::kernel(const Algorithm& algorithm, DataType type) {
    std::string name = std::string(algorithm.kernel) + "_" + std::string(kernel_suffix(type));
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) {
        return known->second;
    }
    Kernel found = group_.kernels->get_kernel(name);
    return kernels_.emplace(std::move(name), std::move(found)).first->second;
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
