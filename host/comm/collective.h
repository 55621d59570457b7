// A collective: what a rank asks for, how much it takes and gives, and what all ranks must agree on.
#pragma once

#include "plan.h"

#include <aivops/counts.h>
#include <aivops/dispatch/timeout.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aivops {

struct Collective {
    Operator operation;
    DataType type;
    Reduction reduction; // where something is folded
    uint32_t root;       // of broadcast, scatter, gather and reduce; the sender of a send/recv
    uint32_t peer;       // of a send/recv: the other side
    uint64_t count;      // elements of the row that the operator counts in; those of all_reduce's whole message
    // Elements per rank for all_gather_v and reduce_scatter_v; for all_to_all_v what rank i sends to rank j, at [i *
    // size + j].
    std::vector<uint64_t> counts;
    Wish wish;
    Timeout timeout;       // nothing: the group's
    std::string type_name; // what the caller calls the elements, where that is not `type`: "bool"
};

/// Elements of the arrays on one rank.
struct Extent {
    uint64_t input;
    uint64_t output;
};

/// Throws InvalidValueError when no rank could make this call.
void check_call(const Collective& call, uint32_t size);

Extent extent_of(const Collective& call, uint32_t rank, uint32_t size);

/// Where in the longer of its arrays the rank's own elements lie, which may be the shorter one; in elements.
uint64_t own_place(const Collective& call, uint32_t rank);

/// What the plan goes by: the elements that one rank brings, at most.
uint64_t planned_elements(const Collective& call, uint32_t size);

Call stamp_of(const Collective& call, const Plan& plan);

RankCounts rank_counts(const Collective& call);
ExchangeCounts exchange_counts(const Collective& call, uint32_t rank, uint32_t size);

} // namespace aivops
