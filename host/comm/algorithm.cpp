#include "algorithm.h"

#include "types.h"

#include <aivops/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace aivops {
namespace {

struct Row {
    Algorithm algorithm;
    uint64_t most_bytes; // taken up to here; rows of an operator go by size
};

constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();

// One shot moves ranks / 2 times as many bytes as two, in one step instead of two.
constexpr uint64_t kOneShotBytes = 32 * 1024;

constexpr std::array<Row, 14> kRows{{
    {{Operator::kAllGather, 0, "mesh", "aiv_all_gather"}, kAny},
    {{Operator::kAllReduce, 0, "one_shot", "aiv_all_reduce_one_shot"}, kOneShotBytes},
    {{Operator::kAllReduce, 1, "two_shots", "aiv_all_reduce_two_shots"}, kAny},
    {{Operator::kReduceScatter, 0, "mesh", "aiv_reduce_scatter"}, kAny},
    {{Operator::kAllToAll, 0, "mesh", "aiv_all_to_all"}, kAny},
    {{Operator::kBroadcast, 0, "scatter_gather", "aiv_broadcast"}, kAny},
    {{Operator::kScatter, 0, "direct", "aiv_scatter"}, kAny},
    {{Operator::kGather, 0, "direct", "aiv_gather"}, kAny},
    {{Operator::kReduce, 0, "direct", "aiv_reduce"}, kAny},
    {{Operator::kBarrier, 0, "mesh", "aiv_barrier"}, kAny},
    {{Operator::kAllGatherV, 0, "mesh", "aiv_all_gather_v"}, kAny},
    {{Operator::kReduceScatterV, 0, "mesh", "aiv_reduce_scatter_v"}, kAny},
    {{Operator::kAllToAllV, 0, "mesh", "aiv_all_to_all_v"}, kAny},
    {{Operator::kSendRecv, 0, "channel", "aiv_send"}, kAny},
}};

// Below this a second block costs more than it brings.
constexpr uint64_t kBytesPerBlock = 64 * 1024;

const Row& choose_row(Operator operation, uint64_t bytes, std::string_view name) {
    std::string known;
    for (const Row& row : kRows) {
        if (row.algorithm.operation != operation) {
            continue;
        }
        if (name.empty() ? bytes <= row.most_bytes : name == row.algorithm.name) {
            return row;
        }
        known.append(known.empty() ? "" : ", ").append(row.algorithm.name);
    }
    throw InvalidValueError(std::string(name_of(operation)) + "(): algorithm is '" + std::string(name) +
                            "', expected one of " + known);
}

} // namespace

Plan choose_plan(Operator operation, uint64_t bytes, uint32_t cores, std::string_view name) {
    const Row& row = choose_row(operation, bytes, name);
    const uint64_t wanted = (bytes + kBytesPerBlock - 1) / kBytesPerBlock;
    return Plan{&row.algorithm, static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, cores))};
}

} // namespace aivops
