#include "collective.h"

#include "aivops/kernel_binary/counted.h"
#include "types.h"

#include <algorithm>
#include <numeric>

namespace aivops {
namespace {

bool folds(Operator operation) {
    return operation == Operator::kAllReduce || operation == Operator::kReduceScatter ||
           operation == Operator::kReduce || operation == Operator::kReduceScatterV;
}

uint64_t sum(std::vector<uint64_t>::const_iterator begin, uint32_t count) {
    return std::accumulate(begin, begin + count, uint64_t{0});
}

uint64_t received(const Collective& call, uint32_t rank, uint32_t size) {
    uint64_t elements = 0;
    for (uint32_t sender = 0; sender < size; ++sender) {
        elements += call.counts[sender * size + rank];
    }
    return elements;
}

// Where counts differ by rank, all of them go into the few bits that a fingerprint has for one.
uint64_t digest(const std::vector<uint64_t>& counts) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (const uint64_t count : counts) {
        state = (state ^ count) * 0xff51afd7ed558ccd;
        state ^= state >> 32;
    }
    return state & kMaxCount;
}

std::string type_name(const Collective& call) {
    return call.type_name.empty() ? std::string(name_of(call.type)) : call.type_name;
}

void refuse(const Collective& call, const std::string& what) {
    throw InvalidValueError(std::string(name_of(call.operation)) + "(): " + what);
}

} // namespace

void check_call(const Collective& call, uint32_t size) {
    if (call.root >= size) {
        refuse(call, "root is " + std::to_string(call.root) + ", expected 0 to " + std::to_string(size - 1));
    }
    if (call.peer >= size) {
        refuse(call, "the peer is rank " + std::to_string(call.peer) + ", expected 0 to " + std::to_string(size - 1));
    }
    if (folds(call.operation) && !is_reducible(call.type)) {
        refuse(call,
               "no kernel folds " + type_name(call) + ", expected one of " + reducible_names() + "; convert first");
    }
    const uint64_t most = std::max(call.count, sum(call.counts.begin(), static_cast<uint32_t>(call.counts.size())));
    if (most > kMaxCount) {
        refuse(call, kernel_binary::counted(most, "element") + ", expected at most " + std::to_string(kMaxCount));
    }
}

Extent extent_of(const Collective& call, uint32_t rank, uint32_t size) {
    const bool is_root = rank == call.root;
    const uint64_t all = call.count * size;
    switch (call.operation) {
    case Operator::kAllGather:
        return {call.count, all};
    case Operator::kAllReduce:
        return {call.count, call.count};
    case Operator::kReduceScatter:
        return {all, call.count};
    case Operator::kAllToAll:
        return {all, all};
    case Operator::kBroadcast:
        return {is_root ? call.count : 0, call.count};
    case Operator::kScatter:
        return {is_root ? all : 0, call.count};
    case Operator::kGather:
        return {call.count, is_root ? all : 0};
    case Operator::kReduce:
        return {call.count, is_root ? call.count : 0};
    case Operator::kBarrier:
        return {0, 0};
    case Operator::kAllGatherV:
        return {call.counts[rank], sum(call.counts.begin(), size)};
    case Operator::kReduceScatterV:
        return {sum(call.counts.begin(), size), call.counts[rank]};
    case Operator::kAllToAllV:
        return {sum(call.counts.begin() + rank * size, size), received(call, rank, size)};
    case Operator::kSendRecv:
        return is_root ? Extent{call.count, 0} : Extent{0, call.count};
    }
    return {0, 0};
}

uint64_t own_place(const Collective& call, uint32_t rank) {
    switch (call.operation) {
    case Operator::kAllGather:
    case Operator::kGather:
    case Operator::kReduceScatter:
    case Operator::kScatter:
        return rank * call.count;
    case Operator::kReduceScatterV:
        return sum(call.counts.begin(), rank);
    default:
        return 0;
    }
}

uint64_t planned_elements(const Collective& call, uint32_t size) {
    switch (call.operation) {
    case Operator::kReduceScatter:
    case Operator::kAllToAll:
    case Operator::kScatter:
        return call.count * size;
    case Operator::kAllGatherV:
    case Operator::kReduceScatterV:
    case Operator::kAllToAllV:
        return *std::max_element(call.counts.begin(), call.counts.end()) *
               (call.operation == Operator::kAllGatherV ? 1 : size);
    default:
        return call.count;
    }
}

Call stamp_of(const Collective& call, const Plan& plan) {
    return Call{call.operation,
                call.type,
                call.reduction,
                plan.algorithm->number,
                static_cast<uint8_t>(call.root),
                static_cast<uint8_t>(plan.blocks),
                call.counts.empty() ? call.count : digest(call.counts)};
}

RankCounts rank_counts(const Collective& call) {
    RankCounts counts{};
    std::copy(call.counts.begin(), call.counts.end(), counts.of);
    return counts;
}

ExchangeCounts exchange_counts(const Collective& call, uint32_t rank, uint32_t size) {
    ExchangeCounts counts{};
    for (uint32_t peer = 0; peer < size; ++peer) {
        counts.sent_to[peer] = call.counts[rank * size + peer];
        counts.received_from[peer] = call.counts[peer * size + rank];
    }
    counts.longest = *std::max_element(call.counts.begin(), call.counts.end());
    return counts;
}

} // namespace aivops
