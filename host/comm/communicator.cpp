#include "communicator.h"

#include "aivops/kernel_binary/counted.h"
#include "types.h"

#include <aivops/window_layout.h>

#include <algorithm>

namespace aivops {
namespace {

constexpr double kSecondsBetweenLooks = 0.1;
constexpr double kAbortSeconds = 5;

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
                                ", expected " + kernel_binary::counted(bytes, "byte") + " on device " +
                                std::to_string(device.id()));
    }
}

uint32_t lanes_for(const Peers& peers, const Terms& terms) {
    const uint32_t lanes = std::min(peers.vector_cores(), kMaxLanes);
    if (terms.blocks > lanes) {
        throw InvalidValueError("Communicator: " + kernel_binary::counted(terms.blocks, "block") +
                                ", but a device has " + kernel_binary::counted(lanes, "vector core") +
                                " for them to run at the same time");
    }
    return lanes;
}

// Bytes that both have.
uint64_t shared_bytes(const Buffer& input, const Buffer& output) {
    const auto* const begin = static_cast<const std::byte*>(input.pointer());
    const auto* const other = static_cast<const std::byte*>(output.pointer());
    const auto* const end = std::min(begin + input.bytes(), other + output.bytes());
    return std::max(begin, other) < end ? end - std::max(begin, other) : 0;
}

// Kernels read each element before they write it, so what a rank has and what it gets may be the same.
void require_in_place(const Collective& call, const Buffer& input, const Buffer& output, uint64_t own_offset) {
    const uint64_t shared = shared_bytes(input, output);
    const bool gathers = input.bytes() <= output.bytes();
    const Buffer& whole = gathers ? output : input;
    const Buffer& part = gathers ? input : output;
    if (part.pointer() == static_cast<const std::byte*>(whole.pointer()) + own_offset) {
        return;
    }
    std::string own = "x itself as out";
    if (input.bytes() != output.bytes()) {
        own = gathers ? "this rank's own part of out as x" : "this rank's own part of x as out";
    }
    throw InvalidValueError(std::string(name_of(call.operation)) + "(): out and x share " +
                            kernel_binary::counted(shared, "byte") +
                            " at different places; pass buffers that share no memory, or " + own);
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

Communicator::Communicator(const Device& device, std::shared_ptr<Bootstrap> bootstrap, const Terms& terms,
                           const KernelSet& kernels)
    : device_(device), architecture_(device.toolkit().architecture()), bootstrap_(std::move(bootstrap)),
      kernel_set_(kernels), terms_(terms), peers_(*bootstrap_, device, terms), lanes_(lanes_for(peers_, terms)),
      stream_(device), window_(*bootstrap_, peers_, device, terms.window_bytes, lanes_), regions_(window_, size()) {
    reach_devices();
    bootstrap_->barrier();
}

void Communicator::run(const Collective& call, const void* input, void* output) {
    check_call(call, size());
    const std::lock_guard<std::mutex> lock(scratch_mutex_);
    const uint64_t width = width_of(call.type);
    const Extent extent = extent_of(call, rank(), size());
    const Buffer device_input = reserve(input_, device_, extent.input * width);
    const Buffer device_output = reserve(output_, device_, extent.output * width);
    device_input.copy_from_host(input, device_input.bytes());
    launch(call, device_input, device_output, stream_);
    wait(stream_, call.timeout);
    device_output.copy_to_host(output, device_output.bytes());
}

void Communicator::run(const Collective& call, const Buffer& input, const Buffer& output) {
    const Extent extent = extent_of(call, rank(), size());
    launch(call, extent.input == 0 ? input.slice(0, 0) : input, extent.output == 0 ? output.slice(0, 0) : output,
           stream_);
    wait(stream_, call.timeout);
}

Plan Communicator::launch(const Collective& call, const Buffer& input, const Buffer& output, const Stream& stream) {
    check_call(call, size());
    const State state = state_;
    if (state == State::kStopped) {
        throw_own_reason(); // a launch that was waited for by its stream alone may have left one
    }
    if (state != State::kOpen) {
        throw_peer_failed();
    }
    const uint64_t width = width_of(call.type);
    const Extent extent = extent_of(call, rank(), size());
    require_bytes(call, "input", input, extent.input * width, device_);
    require_bytes(call, "output", output, extent.output * width, device_);
    Situation situation = situation_of(call.operation, call.type, planned_elements(call, size()) * width);
    situation.registered_input = regions_.hold(input);
    situation.registered_output = regions_.hold(output);
    situation.apart = shared_bytes(input, output) == 0;
    if (!situation.apart) {
        require_in_place(call, input, output, own_place(call, rank()) * width);
    }
    const Choice choice = choose_kernel(call, situation);
    {
        const std::lock_guard<std::mutex> lock(busy_mutex_);
        last_plan_ = choice.plan;
        if (std::find(busy_.begin(), busy_.end(), stream.handle()) == busy_.end()) {
            busy_.push_back(stream.handle());
        }
    }
    enqueue(call, choice, input.pointer(), output.pointer(), stream);
    window_.memory().retain_on(stream);
    input.retain_on(stream);
    output.retain_on(stream);
    return choice.plan;
}

Plan Communicator::plan(Operator operation, DataType type, uint64_t bytes, bool registered, const Wish& wish) const {
    Situation situation = situation_of(operation, type, bytes);
    situation.registered_input = situation.registered_output = registered;
    return choose(situation, wish);
}

Situation Communicator::situation_of(Operator operation, DataType type, uint64_t bytes) const {
    return Situation{
        .operation = operation,
        .type = type,
        .ranks = size(),
        .bytes = bytes,
        .machine = device_.toolkit().machine(),
        .architecture = architecture_,
        .registered_input = false,
        .registered_output = false,
        .apart = true,
    };
}

Plan Communicator::choose(const Situation& situation, Wish wish) const {
    if (wish.blocks == 0) {
        wish.blocks = terms_.blocks;
    }
    return choose_plan(situation, wish, lanes_);
}

Communicator::Choice Communicator::choose_kernel(const Collective& call, const Situation& situation) {
    constexpr size_t kRemembered = 32;
    const bool sends = rank() == call.root;
    const size_t algorithms = algorithm_count();
    const std::lock_guard<std::mutex> lock(choices_mutex_);
    for (const Choice& known : choices_) {
        if (known.situation == situation && known.sends == sends && known.algorithms == algorithms &&
            known.wish == call.wish) {
            return known;
        }
    }
    const Plan plan = choose(situation, call.wish);
    const Kernel& entry = kernel(plan.algorithm->kernels, kernel_name(*plan.algorithm, call, sends));
    if (choices_.size() == kRemembered) {
        choices_.erase(choices_.begin());
    }
    return choices_.emplace_back(Choice{situation, call.wish, sends, algorithms, plan, &entry});
}

void Communicator::enqueue(const Collective& call, const Choice& choice, void* input, void* output,
                           const Stream& stream) {
    const LaunchConfig config{choice.plan.blocks, Schedule::kBatch, call.timeout ? call.timeout : terms_.timeout};
    const uint64_t stamp = fingerprint(stamp_of(call, choice.plan));
    const uint32_t reduction = static_cast<uint32_t>(call.reduction);
    void* const window = reinterpret_cast<void*>(window_.address());
    const Kernel& entry = *choice.kernel;
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
        return entry.launch(stream, config, window, input, output, exchange_counts(call, rank(), size()), stamp);
    case Operator::kSendRecv:
        return entry.launch(stream, config, window, choice.sends ? input : output, call.count, call.peer, stamp);
    }
}

bool Communicator::is_idle() const {
    const std::lock_guard<std::mutex> lock(busy_mutex_);
    return busy_.empty();
}

std::optional<Plan> Communicator::last_plan() const {
    const std::lock_guard<std::mutex> lock(busy_mutex_);
    return last_plan_;
}

std::optional<uint32_t> Communicator::find_awaited(const std::vector<uint32_t>& peers) const {
    const std::optional<Stop> waiting = find_waiting(window_.read_control(), peers);
    return waiting ? std::optional(waiting->peer) : std::nullopt;
}

void Communicator::wait(const Stream& stream, const Timeout& timeout) {
    try {
        if (const std::optional<Stop> other = synchronize(stream)) {
            throw_mismatch(*other, static_cast<int>(rank()));
        }
        const std::lock_guard<std::mutex> lock(busy_mutex_);
        busy_.erase(std::remove(busy_.begin(), busy_.end(), stream.handle()), busy_.end());
    } catch (const AclTimeoutError&) {
        std::vector<uint32_t> others;
        for (uint32_t peer = 0; peer < size(); ++peer) {
            if (peer != rank()) {
                others.push_back(peer);
            }
        }
        const std::vector<std::byte> control = window_.read_control();
        const std::optional<Stop> waiting = find_waiting(control, others);
        if (!waiting) {
            throw;
        }
        std::optional<Stop> other = find_other_call(control, *waiting, size());
        if (!other) {
            other = find_other_step();
        }
        if (other) {
            throw_mismatch(*other, static_cast<int>(rank()));
        }
        throw_peer_timeout(*waiting, static_cast<int>(rank()),
                           device_.effective_timeout(timeout ? timeout : terms_.timeout));
    } catch (const AclError& error) {
        if (error.code() == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR && !ended_peers().empty()) {
            throw_peer_failed();
        }
        throw;
    }
    if (window_.is_aborted() && throw_own_reason()) {
        throw_peer_failed();
    }
}

// True when kernels of this rank gave up only because others had.
bool Communicator::throw_own_reason() const {
    const std::optional<Stop> stop = find_stop(window_.read_control(), size());
    if (stop && stop->kind == Stop::Kind::kMismatch) {
        throw_mismatch(*stop, static_cast<int>(rank()));
    }
    if (stop && stop->kind == Stop::Kind::kUnregistered) {
        throw_unregistered(*stop, static_cast<int>(rank()));
    }
    return stop.has_value();
}

// Looks around between waits. Other calls of ranks that wait for each other are in no flag, but in their windows; one
// that is seen twice is no record just being written. And ACL tells nothing of the processes of other ranks: kernels
// that wait for one that has ended are made to give up, those that have all they need from it are not.
std::optional<Stop> Communicator::synchronize(const Stream& stream) {
    std::optional<Stop> seen;
    std::optional<Stop> mismatch;
    while (true) {
        try {
            stream.synchronize(kSecondsBetweenLooks);
            return mismatch;
        } catch (const AclTimeoutError& error) {
            if (error.code() != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
                throw;
            }
        }
        if (window_.is_aborted()) {
            continue;
        }
        const std::optional<Stop> other = find_other_step();
        if (other && other == seen) {
            mismatch = other;
            tell(rank(),
                 "rank " + std::to_string(rank()) + " made another call than rank " + std::to_string(other->peer));
        }
        seen = other;
        const std::vector<uint32_t> ended = ended_peers();
        if (ended.empty()) {
            continue;
        }
        if (const std::optional<Stop> waiting = find_waiting(window_.read_control(), ended)) {
            tell(waiting->peer, peers_.describe_end(waiting->peer));
        }
    }
}

std::optional<Stop> Communicator::find_other_step() const {
    const std::vector<std::byte> own = window_.read_records(rank());
    for (uint32_t peer = 0; peer < size(); ++peer) {
        if (peer != rank() && !peers_.has_ended(peer)) {
            if (const std::optional<Stop> other = aivops::find_other_step(own, window_.read_records(peer), peer)) {
                return other;
            }
        }
    }
    return std::nullopt;
}

Buffer Communicator::allocate(uint64_t bytes) {
    const auto provide = [&] { return Buffer(device_, std::max<uint64_t>(bytes, 1)); }; // nothing cannot be shared
    return regions_.add(*bootstrap_, peers_, provide).slice(0, bytes);
}

void Communicator::register_memory(const Buffer& buffer) {
    regions_.add(*bootstrap_, peers_, [&] { return buffer; });
}

void Communicator::unregister_memory(const Buffer& buffer) {
    regions_.remove(*bootstrap_, buffer);
}

void Communicator::stop(const std::string& reason) {
    {
        const std::lock_guard<std::mutex> lock(reason_mutex_);
        if (state_ != State::kOpen) {
            return;
        }
        reason_ = reason;
        state_ = State::kStopped;
    }
    window_.raise_abort();
}

void Communicator::abort(const std::string& reason) {
    stop(reason);
    tell(rank(), reason);
}

// Lets all ranks know that one of them failed, and why: their kernels give up, their hosts find the reason.
void Communicator::tell(uint32_t failed, const std::string& reason) {
    window_.write_reason(failed, reason);
    window_.raise_abort();
    const Stream stream(device_); // what waits on others leaves its cores to this only now
    const LaunchConfig config{1, Schedule::kBatch, kAbortSeconds};
    kernel(nullptr, "aiv_abort").launch(stream, config, reinterpret_cast<void*>(window_.address()), failed);
    window_.memory().retain_on(stream);
    stream.synchronize(kAbortSeconds);
}

void Communicator::recover() {
    window_.reset();
    const std::lock_guard<std::mutex> lock(reason_mutex_);
    reason_.clear();
    state_ = State::kOpen;
}

void Communicator::close() {
    const bool meets = state_ == State::kOpen && !window_.is_aborted();
    if (meets) {
        synchronize(stream_);
        regions_.clear(*bootstrap_);
    }
    window_.shared().withdraw("the communicator is closed");
    if (meets) {
        window_.shared().end(*bootstrap_);
    }
    const std::lock_guard<std::mutex> lock(reason_mutex_);
    reason_ = "the communicator was closed";
    state_ = State::kClosed;
}

const Kernel& Communicator::kernel(const KernelSet* kernels, const std::string& name) {
    const std::lock_guard<std::mutex> lock(kernels_mutex_);
    auto known = kernels_.find({kernels, name});
    if (known == kernels_.end()) {
        const KernelSet& set = kernels != nullptr ? *kernels : kernel_set_;
        known = kernels_.emplace(std::pair(kernels, name), set.get_kernel(name)).first;
    }
    return known->second;
}

// Kernels of this device may touch the memory of all devices that have a rank in this process. Those of other processes
// are reached with the memory that is imported from them.
void Communicator::reach_devices() const {
    const ContextGuard guard(device_);
    const auto enable =
        device_.toolkit().require(device_.acl().aclrtDeviceEnablePeerAccess, "aclrtDeviceEnablePeerAccess");
    for (uint32_t peer = 0; peer < size(); ++peer) {
        if (peer != rank() && peers_.is_here(peer)) {
            check(device_.acl(), enable(peers_[peer].device, 0), "aclrtDeviceEnablePeerAccess", [&] {
                return "Communicator: device " + std::to_string(device_.id()) + " towards device " +
                       std::to_string(peers_[peer].device);
            });
        }
    }
}

std::vector<uint32_t> Communicator::ended_peers() const {
    std::vector<uint32_t> ended;
    for (uint32_t peer = 0; peer < size(); ++peer) {
        if (peers_.has_ended(peer)) {
            ended.push_back(peer);
        }
    }
    return ended;
}

void Communicator::throw_peer_failed() const {
    const std::string stopped = "Communicator: rank " + std::to_string(rank()) + " stopped because ";
    std::string reason;
    {
        const std::lock_guard<std::mutex> lock(reason_mutex_);
        reason = reason_;
    }
    if (!reason.empty()) {
        throw PeerFailedError(stopped + reason);
    }
    const auto has_died = [&](uint32_t peer) {
        throw PeerDiedError(stopped + peers_.describe_end(peer), static_cast<int>(rank()), static_cast<int>(peer));
    };
    // In this order, because a rank may have ended, or failed, only since another one has.
    const std::vector<std::string> reasons = read_reasons(window_.read_control(), size());
    for (uint32_t peer = 0; peer < size(); ++peer) {
        if (reasons[peer] == peers_.describe_end(peer)) {
            has_died(peer);
        }
    }
    for (const std::string& told : reasons) {
        if (!told.empty()) {
            throw PeerFailedError(stopped + told);
        }
    }
    for (const uint32_t peer : ended_peers()) {
        has_died(peer);
    }
    throw PeerFailedError(stopped + "another rank gave up");
}

} // namespace aivops
