#include "plan.h"

#include "types.h"

#include <aivops/error.h>

#include <algorithm>
#include <array>

namespace aivops {
namespace {

// Machines, by what their names begin with.
constexpr std::string_view kNpu = "ascend";
constexpr std::string_view kEmulated = "emulated";

using Types = uint32_t; // one bit per DataType
constexpr Types kAllTypes = ~Types{0};
constexpr Types kInt64 = 1u << static_cast<unsigned>(DataType::kInt64);

constexpr uint32_t kAnyRanks = kMaxRanks;

struct Row {
    Operator operation;
    Types types;
    std::string_view machine; // kNpu, kEmulated, or empty for every one
    uint32_t most_ranks;
    uint64_t most_bytes;
    std::string_view algorithm;
};

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// The first row that fits a call decides; one whose algorithm has an unmet constraint does not fit.
//
// One shot against two: it moves ranks / 2 times as many bytes in one step instead of two. Direct against staged: it
// copies less, and takes a step more; a stage that is written again is in the caches of those that read it. The limits
// for NPUs between shots are those that CANN's own library documents for full meshes; the others are measured on the
// emulator, where a step takes long when ranks share cores.
constexpr std::array kTable{
    Row{Operator::kAllGather, kAllTypes, kNpu, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kAllGather, kAllTypes, kEmulated, 2, 4 * kKiB, "mesh"},
    Row{Operator::kAllGather, kAllTypes, kEmulated, 2, kAnyBytes, "direct"},
    Row{Operator::kAllGather, kAllTypes, kEmulated, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kAllGather, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kAllGather, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},

    Row{Operator::kAllReduce, kInt64, "", kAnyRanks, 4 * kKiB, "one_shot"}, // it may have to be folded one by one
    Row{Operator::kAllReduce, ~kInt64, kNpu, 8, 128 * kKiB, "one_shot"},
    Row{Operator::kAllReduce, ~kInt64, kNpu, kAnyRanks, 512 * kKiB, "one_shot"},
    Row{Operator::kAllReduce, ~kInt64, kEmulated, 2, 8 * kKiB, "one_shot"},
    Row{Operator::kAllReduce, kAllTypes, kEmulated, 2, kAnyBytes, "two_shots_direct"},
    Row{Operator::kAllReduce, ~kInt64, kEmulated, kAnyRanks, 4 * kKiB, "one_shot"},
    Row{Operator::kAllReduce, kAllTypes, kEmulated, kAnyRanks, 16 * kKiB, "two_shots"},
    Row{Operator::kAllReduce, kAllTypes, "", kAnyRanks, kAnyBytes, "two_shots_direct"},
    Row{Operator::kAllReduce, kAllTypes, "", kAnyRanks, kAnyBytes, "two_shots"},

    Row{Operator::kReduceScatter, kAllTypes, kNpu, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kReduceScatter, kAllTypes, kEmulated, 2, 4 * kKiB, "mesh"},
    Row{Operator::kReduceScatter, kAllTypes, kEmulated, 2, kAnyBytes, "direct"},
    Row{Operator::kReduceScatter, kAllTypes, kEmulated, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kReduceScatter, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kReduceScatter, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},

    Row{Operator::kAllToAll, kAllTypes, kNpu, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kAllToAll, kAllTypes, kEmulated, 2, 4 * kKiB, "mesh"},
    Row{Operator::kAllToAll, kAllTypes, kEmulated, 2, kAnyBytes, "direct"},
    Row{Operator::kAllToAll, kAllTypes, kEmulated, kAnyRanks, 16 * kKiB, "mesh"},
    Row{Operator::kAllToAll, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kAllToAll, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},

    Row{Operator::kBroadcast, kAllTypes, "", kAnyRanks, 32 * kKiB, "direct"},
    Row{Operator::kBroadcast, kAllTypes, kEmulated, kAnyRanks, kAnyBytes, "direct"}, // there root has no links to spare
    Row{Operator::kBroadcast, kAllTypes, "", kAnyRanks, kAnyBytes, "scatter_gather"},

    Row{Operator::kScatter, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kGather, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kReduce, kAllTypes, "", kAnyRanks, kAnyBytes, "direct"},
    Row{Operator::kBarrier, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},
    Row{Operator::kAllGatherV, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},
    Row{Operator::kReduceScatterV, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},
    Row{Operator::kAllToAllV, kAllTypes, "", kAnyRanks, kAnyBytes, "mesh"},
    Row{Operator::kSendRecv, kAllTypes, "", kAnyRanks, kAnyBytes, "channel"},
};

// Below this another block costs more than it brings. Those of an emulated device take turns on one thread.
uint64_t bytes_per_block(const Situation& situation) {
    return situation.machine == kNpu ? 64 * kKiB : 32 * kMiB;
}

bool is_on(const Situation& situation, std::string_view machine) {
    return situation.machine.substr(0, machine.size()) == machine;
}

bool fits(const Row& row, const Situation& situation) {
    return row.operation == situation.operation && (row.types >> static_cast<unsigned>(situation.type) & 1) != 0 &&
           is_on(situation, row.machine) && situation.ranks <= row.most_ranks && situation.bytes <= row.most_bytes;
}

const Algorithm* find(const std::vector<const Algorithm*>& algorithms, std::string_view name) {
    const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                    [name](const Algorithm* algorithm) { return algorithm->name == name; });
    return found == algorithms.end() ? nullptr : *found;
}

std::string names_of(const std::vector<const Algorithm*>& algorithms) {
    std::string names;
    for (const Algorithm* algorithm : algorithms) {
        names.append(names.empty() ? "" : ", ").append(algorithm->name);
    }
    return names;
}

const Algorithm& choose_named(const Situation& situation, const std::string& name) {
    const std::vector<const Algorithm*> known = algorithms_of(situation.operation);
    const std::string call = std::string(name_of(situation.operation)) + "(): algorithm ";
    const Algorithm* named = find(known, name);
    if (named == nullptr) {
        throw InvalidValueError(call + "is '" + name + "', expected one of " + names_of(known));
    }
    if (const std::string why = obstacle(*named, situation); !why.empty()) {
        throw InvalidValueError(call + "'" + name + "' " + why);
    }
    return *named;
}

const Algorithm& choose_by_table(const Situation& situation) {
    const std::vector<const Algorithm*> known = algorithms_of(situation.operation);
    for (const Algorithm* algorithm : known) {
        if (algorithm->preferred && obstacle(*algorithm, situation).empty()) {
            return *algorithm;
        }
    }
    for (const Row& row : kTable) {
        if (fits(row, situation)) {
            const Algorithm* algorithm = find(known, row.algorithm);
            if (obstacle(*algorithm, situation).empty()) {
                return *algorithm;
            }
        }
    }
    throw InvalidValueError(std::string(name_of(situation.operation)) + "(): no algorithm takes this call");
}

} // namespace

Plan choose_plan(const Situation& situation, const Wish& wish, uint32_t cores) {
    if (wish.blocks > cores) {
        throw InvalidValueError(std::string(name_of(situation.operation)) + "(): blocks is " +
                                std::to_string(wish.blocks) + ", expected 1 to " + std::to_string(cores) +
                                ", the vector cores for them to run at the same time");
    }
    const Algorithm& algorithm =
        wish.algorithm.empty() ? choose_by_table(situation) : choose_named(situation, wish.algorithm);
    if (wish.blocks != 0) {
        return Plan{&algorithm, wish.blocks};
    }
    const uint64_t share = bytes_per_block(situation);
    const uint64_t wanted = (situation.bytes + share - 1) / share;
    return Plan{&algorithm, static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, cores))};
}

} // namespace aivops
