// The algorithms that operators have, with what each asks of a call: the shipped ones and those that other packages
// register.
#pragma once

#include <aivops/dispatch/kernel_set.h>
#include <aivops/fingerprint.h>
#include <aivops/window_layout.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace aivops {

constexpr uint64_t kAnyBytes = std::numeric_limits<uint64_t>::max();

struct Constraints {
    std::vector<DataType> types; // empty: all that the operator takes
    uint32_t fewest_ranks = 1;
    uint32_t most_ranks = kMaxRanks;
    uint64_t fewest_bytes = 0; // as plans count them, see Situation
    uint64_t most_bytes = kAnyBytes;
    std::vector<std::string> architectures; // empty: all
    bool registered_input = false;          // peers read the input where it lies
    bool registered_output = false;
    bool apart = false; // input and output must not share memory
};

struct Algorithm {
    Operator operation;
    std::string name;   // for people, e.g. "two_shots"
    std::string kernel; // what its kernels' names begin with; an underscore and the type follow
    Constraints constraints;
    const KernelSet* kernels = nullptr; // that has them; null: the one that the communicator was made with
    bool preferred = false;             // goes before the table wherever its constraints hold
    uint8_t number = 0;                 // within the operator, as fingerprints carry it
};

/// What a choice depends on.
struct Situation {
    Operator operation;
    DataType type;
    uint32_t ranks;
    uint64_t bytes; // of the input; for operators with counts by rank, of their longest part, times those a rank sends
    std::string_view machine;
    std::string_view architecture;
    bool registered_input;
    bool registered_output;
    bool apart;

    bool operator==(const Situation&) const = default;
};

/// The algorithms of an operator, in the order of their numbers. They stay where they are.
std::vector<const Algorithm*> algorithms_of(Operator operation);

/// Adds one; every process of a program adds the same ones in the same order. Throws InvalidValueError when the
/// operator has one of this name, or no number left for another.
const Algorithm& register_algorithm(Algorithm algorithm);

/// How many there are; a choice among them holds until there are more.
size_t algorithm_count();

/// Why the call cannot run this way, in words that follow the algorithm's name; empty when it can.
std::string obstacle(const Algorithm& algorithm, const Situation& situation);

/// "two_shots", or the number where nobody has registered it.
std::string algorithm_name(Operator operation, uint8_t number);

} // namespace aivops
