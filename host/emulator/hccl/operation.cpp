#include "operation.h"

#include "acl/acl.h"
#include "acl/library_interface.h"
#include "aivops/kernel_binary/counted.h"
#include "error.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace aivops::hccl {
namespace {

namespace runtime = acl::library_interface;

constexpr uint64_t kFoldBytes = 16 << 10; // at a time; at most what a queue holds
constexpr int64_t kLookNs = 50 * 1000 * 1000;

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

const char* call_name(uint32_t kind) {
    switch (kind) {
    case HCCL_CMD_BROADCAST:
        return "HcclBroadcast";
    case HCCL_CMD_ALLREDUCE:
        return "HcclAllReduce";
    case HCCL_CMD_REDUCE:
        return "HcclReduce";
    case HCCL_CMD_SEND:
    case HCCL_CMD_RECEIVE:
        return "HcclSend and HcclRecv";
    case HCCL_CMD_ALLGATHER:
        return "HcclAllGather";
    case HCCL_CMD_ALLGATHER_V:
        return "HcclAllGatherV";
    case HCCL_CMD_REDUCE_SCATTER:
        return "HcclReduceScatter";
    case HCCL_CMD_REDUCE_SCATTER_V:
        return "HcclReduceScatterV";
    case HCCL_CMD_ALLTOALL:
        return "HcclAlltoAll";
    case HCCL_CMD_ALLTOALLV:
        return "HcclAlltoAllV";
    case HCCL_CMD_ALLTOALLVC:
        return "HcclAlltoAllVC";
    case HCCL_CMD_SCATTER:
        return "HcclScatter";
    case HCCL_CMD_BARRIER:
        return "HcclBarrier";
    default:
        return "an unknown call";
    }
}

bool has_reduction(uint32_t kind) {
    return kind == HCCL_CMD_ALLREDUCE || kind == HCCL_CMD_REDUCE || kind == HCCL_CMD_REDUCE_SCATTER ||
           kind == HCCL_CMD_REDUCE_SCATTER_V;
}

bool has_root(uint32_t kind) {
    return kind == HCCL_CMD_BROADCAST || kind == HCCL_CMD_REDUCE || kind == HCCL_CMD_SCATTER;
}

std::string describe_type(uint32_t type) {
    try {
        return type_name(static_cast<HcclDataType>(type));
    } catch (const Error& error) {
        return "type " + std::to_string(type);
    }
}

// "HcclAllReduce(1024 x fp32, sum), 4096 bytes for this pair"
std::string describe(const Call& call, uint64_t bytes) {
    std::string text = call_name(call.kind);
    if (call.kind == HCCL_CMD_BARRIER) {
        return text;
    }
    text +=
        "(" + (call.count != 0 ? std::to_string(call.count) + " x " : std::string()) + describe_type(call.data_type);
    if (has_reduction(call.kind)) {
        text += ", " + reduce_name(static_cast<HcclReduceOp>(call.reduction));
    }
    if (has_root(call.kind)) {
        text += ", root " + std::to_string(call.root);
    }
    return text + "), " + aivops::kernel_binary::counted(bytes, "byte") + " between the two";
}

bool equal(const Call& left, const Call& right) {
    return left.kind == right.kind && left.data_type == right.data_type && left.reduction == right.reduction &&
           left.root == right.root && left.count == right.count;
}

bool overlap(const std::byte* left, uint64_t left_bytes, const std::byte* right, uint64_t right_bytes) {
    return left < right + right_bytes && right < left + left_bytes;
}

} // namespace

Operation::Operation(std::shared_ptr<Communicator> communicator, const Call& call)
    : communicator_(std::move(communicator)), call_(call) {
}

void Operation::send(uint32_t peer, const void* from, uint64_t bytes) {
    outgoing_.push_back(
        {peer, {communicator_->lanes(), peer, Direction::kOut}, {call_, bytes}, static_cast<const std::byte*>(from)});
}

void Operation::receive(uint32_t peer, void* to, uint64_t bytes) {
    incoming_.push_back(
        {peer, {communicator_->lanes(), peer, Direction::kIn}, {call_, bytes}, static_cast<std::byte*>(to)});
}

void Operation::copy(const void* from, void* to, uint64_t bytes) {
    copies_.push_back({static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes});
}

void Operation::fold(const void* own, void* to, uint64_t count, HcclDataType type, HcclReduceOp op) {
    const uint64_t bytes = element_bytes(type);
    folding_.emplace(Folding{.functions = find_fold(type, op),
                             .own = static_cast<const std::byte*>(own),
                             .to = static_cast<std::byte*>(to),
                             .count = count,
                             .element_bytes = bytes});
    for (uint32_t peer : communicator_->others()) {
        receive(peer, nullptr, count * bytes);
    }
}

void Operation::check_memory() const {
    auto check = [](const std::byte* memory, uint64_t bytes) {
        const auto address = reinterpret_cast<machine::Address>(memory);
        const std::optional<machine::Range> range = bytes != 0 ? runtime::find_memory(address) : std::nullopt;
        require(bytes == 0 || (range && range->contains(address, bytes)), HCCL_E_PARA,
                "a buffer is no longer device memory: it was freed before the call was carried out");
    };
    for (const Outgoing& outgoing : outgoing_) {
        check(outgoing.from, outgoing.header.bytes);
    }
    for (const Incoming& incoming : incoming_) {
        check(incoming.to, incoming.to != nullptr ? incoming.expected.bytes : 0);
    }
    for (const Copy& copy : copies_) {
        check(copy.from, copy.bytes);
        check(copy.to, copy.bytes);
    }
    if (folding_) {
        check(folding_->own, folding_->count * folding_->element_bytes);
        check(folding_->to, folding_->count * folding_->element_bytes);
    }
}

bool Operation::overwrites_what_it_sends() const {
    return std::any_of(outgoing_.begin(), outgoing_.end(), [this](const Outgoing& outgoing) {
        auto hit = [&outgoing](const std::byte* to, uint64_t bytes) {
            return overlap(outgoing.from, outgoing.header.bytes, to, bytes);
        };
        return std::any_of(incoming_.begin(), incoming_.end(),
                           [&](const Incoming& incoming) {
                               return incoming.to != nullptr && hit(incoming.to, incoming.expected.bytes);
                           }) ||
               std::any_of(copies_.begin(), copies_.end(),
                           [&](const Copy& copy) { return copy.from != copy.to && hit(copy.to, copy.bytes); }) ||
               (folding_ && hit(folding_->to, folding_->count * folding_->element_bytes));
    });
}

void Operation::keep_copies_of_inputs() {
    const std::byte* original = nullptr;
    uint64_t kept_bytes = 0;
    auto keep = [&](const std::byte*& input, uint64_t bytes) {
        // All peers may get the same.
        if (input != original || bytes > kept_bytes) {
            original = input;
            kept_bytes = bytes;
            kept_.emplace_back(input, input + bytes);
        }
        input = kept_.back().data();
    };
    for (Outgoing& outgoing : outgoing_) {
        keep(outgoing.from, outgoing.header.bytes);
    }
    if (folding_) {
        keep(folding_->own, folding_->count * folding_->element_bytes);
    }
}

void Operation::begin() {
    begun_ = true;
    stalled_since_ = now_ns();
    check_memory();
    if (overwrites_what_it_sends()) {
        keep_copies_of_inputs();
    }
    for (const Copy& copy : copies_) {
        if (copy.bytes != 0) { // the pointers may be NULL otherwise
            std::memmove(copy.to, copy.from, copy.bytes);
        }
    }
    if (folding_) {
        // No more than a queue holds, and no less than one element.
        const uint64_t capacity =
            communicator_->board().ring(Board::Queue::kData, communicator_->rank(), communicator_->rank()).capacity();
        const uint64_t elements = std::min(kFoldBytes, capacity) / folding_->element_bytes;
        folding_->elements.resize(elements * folding_->element_bytes);
        folding_->wide.resize(elements * folding_->functions.wide_bytes);
    }
}

bool Operation::advance(Outgoing& outgoing) {
    if (outgoing.done || !outgoing.place.is_first()) {
        return false;
    }
    Ring ring = communicator_->board().ring(Board::Queue::kData, communicator_->rank(), outgoing.peer);
    const auto* header = reinterpret_cast<const std::byte*>(&outgoing.header);
    uint64_t moved = ring.put(header + outgoing.header_sent, sizeof outgoing.header - outgoing.header_sent);
    outgoing.header_sent += moved;
    if (outgoing.header_sent == sizeof outgoing.header) {
        const uint64_t put = ring.put(outgoing.from + outgoing.sent, outgoing.header.bytes - outgoing.sent);
        outgoing.sent += put;
        moved += put;
        if (outgoing.sent == outgoing.header.bytes) {
            outgoing.done = true;
            outgoing.place.leave();
        }
    }
    return moved != 0;
}

// True once the peer has said what it was called for, and it is the same.
bool Operation::match(Incoming& incoming) {
    if (incoming.matched) {
        return true;
    }
    if (!incoming.place.is_first()) {
        return false;
    }
    Ring ring = communicator_->board().ring(Board::Queue::kData, incoming.peer, communicator_->rank());
    Header found;
    if (ring.readable() < sizeof found) {
        return false;
    }
    ring.get(&found, sizeof found);
    require(equal(found.call, incoming.expected.call) && found.bytes == incoming.expected.bytes, HCCL_E_PARA,
            "the ranks' calls do not match: rank " + std::to_string(incoming.peer) + " called " +
                describe(found.call, found.bytes) + "; rank " + std::to_string(communicator_->rank()) + " called " +
                describe(incoming.expected.call, incoming.expected.bytes));
    incoming.matched = true;
    return true;
}

bool Operation::advance(Incoming& incoming) {
    if (incoming.done) {
        return false;
    }
    const bool was_matched = incoming.matched;
    if (!match(incoming)) {
        return false;
    }
    uint64_t moved = was_matched ? 0 : 1;
    if (incoming.to != nullptr || incoming.expected.bytes == 0) {
        Ring ring = communicator_->board().ring(Board::Queue::kData, incoming.peer, communicator_->rank());
        const uint64_t got = ring.get(incoming.to + incoming.received, incoming.expected.bytes - incoming.received);
        incoming.received += got;
        moved += got;
    }
    if (incoming.received == incoming.expected.bytes) {
        incoming.done = true;
        incoming.place.leave();
    }
    return moved != 0;
}

bool Operation::advance_fold() {
    Folding& fold = *folding_;
    bool moved = false;
    while (fold.folded < fold.count) {
        const uint64_t count = std::min(fold.elements.size() / fold.element_bytes, fold.count - fold.folded);
        const uint64_t bytes = count * fold.element_bytes;
        for (; fold.next_rank < communicator_->size(); ++fold.next_rank) {
            const std::byte* elements = fold.own + fold.folded * fold.element_bytes;
            if (fold.next_rank != communicator_->rank()) {
                // Others are in rank order, without this rank.
                Incoming& incoming = incoming_[fold.next_rank - (fold.next_rank > communicator_->rank() ? 1 : 0)];
                Ring ring = communicator_->board().ring(Board::Queue::kData, incoming.peer, communicator_->rank());
                if (!match(incoming) || ring.readable() < bytes) {
                    return moved;
                }
                incoming.received += ring.get(fold.elements.data(), bytes);
                elements = fold.elements.data();
                moved = true;
            }
            (fold.next_rank == 0 ? fold.functions.begin : fold.functions.add)(fold.wide.data(), elements, count);
        }
        fold.functions.end(fold.to + fold.folded * fold.element_bytes, fold.wide.data(), count);
        fold.folded += count;
        fold.next_rank = 0;
        moved = true;
    }
    return moved;
}

bool Operation::advance() {
    bool moved = false;
    for (Outgoing& outgoing : outgoing_) {
        moved |= advance(outgoing);
    }
    if (folding_) {
        moved |= advance_fold();
    }
    for (Incoming& incoming : incoming_) {
        moved |= advance(incoming);
    }
    return moved;
}

bool Operation::is_done() const {
    auto done = [](const auto& transfer) { return transfer.done; };
    return std::all_of(outgoing_.begin(), outgoing_.end(), done) &&
           std::all_of(incoming_.begin(), incoming_.end(), done) && (!folding_ || folding_->folded == folding_->count);
}

void Operation::look_for_trouble() {
    const int64_t now = now_ns();
    if (now < next_look_) {
        return;
    }
    next_look_ = now + kLookNs;
    // Those that it waits for may have ended; of the others it matters that they failed, which breaks the communicator.
    std::vector<bool> is_needed(communicator_->size());
    for (const Outgoing& outgoing : outgoing_) {
        is_needed[outgoing.peer] = is_needed[outgoing.peer] || !outgoing.done;
    }
    for (const Incoming& incoming : incoming_) {
        is_needed[incoming.peer] = is_needed[incoming.peer] || !incoming.done;
    }
    const Board& board = communicator_->board();
    std::string ends;
    for (uint32_t rank : communicator_->others()) {
        if (std::optional<std::string> end = is_needed[rank] ? board.end_of(rank) : board.failure_of(rank)) {
            ends += (ends.empty() ? "" : "; ") + *end;
        }
    }
    // What they sent before they ended may have come since the last look.
    if (!ends.empty() && !advance()) {
        fail(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, ends);
        return;
    }
    const int64_t limit = int64_t{communicator_->settings().execution_seconds} * 1000000000;
    if (limit != 0 && now - stalled_since_ > limit) {
        fail(ACL_ERROR_RT_TASK_TIMEOUT, "nothing moved for " +
                                            std::to_string(communicator_->settings().execution_seconds) +
                                            " s (HCCL_EXEC_TIMEOUT): the other ranks did not make the same call");
    }
}

void Operation::fail(int code, const std::string& message) {
    communicator_->fail(message);
    failure_ = machine::Failure{code, std::string(call_name(call_.kind)) + " on rank " +
                                          std::to_string(communicator_->rank()) + " of " + communicator_->name() +
                                          ": " + message};
}

machine::Activity Operation::activity() const {
    return {"collective", call_name(call_.kind)};
}

machine::Task::Step Operation::step(machine::Device&) {
    try {
        if (!begun_) {
            if (std::optional<std::string> failure = communicator_->board().failure_of(communicator_->rank())) {
                fail(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "the communicator is broken: " + *failure);
                return Step::kDone;
            }
            begin();
        }
        const bool moved = advance();
        if (moved) {
            runtime::ring_doorbell();
            stalled_since_ = now_ns();
        }
        if (is_done()) {
            return Step::kDone;
        }
        if (moved) {
            return Step::kProgress;
        }
        look_for_trouble();
    } catch (const Error& error) {
        fail(error.code() == HCCL_E_PARA ? ACL_ERROR_RT_PARAM_INVALID : ACL_ERROR_RT_INTERNAL_ERROR, error.what());
    } catch (const std::exception& error) {
        fail(ACL_ERROR_RT_INTERNAL_ERROR, error.what());
    }
    return failure_ ? Step::kDone : Step::kIdle;
}

void Operation::abandon(machine::Device&) {
    communicator_->fail(std::string(call_name(call_.kind)) + " was abandoned: its stream or device was stopped");
}

} // namespace aivops::hccl
