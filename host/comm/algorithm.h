// Which algorithm a call runs, and on how many blocks: a table with one row per choice.
#pragma once

#include <aivops/fingerprint.h>

#include <cstdint>
#include <string_view>

namespace aivops {

struct Algorithm {
    Operator operation;
    uint8_t number;          // within the operator, as fingerprints carry it
    std::string_view name;   // for people, e.g. "two_shots"
    std::string_view kernel; // what its kernels' names begin with; an underscore and the type follow
};

struct Plan {
    const Algorithm* algorithm;
    uint32_t blocks;
};

/// What a call that stages `bytes` per rank runs: `name`, or where that is empty what the table says. Never more blocks
/// than `cores`. Throws InvalidValueError when the operator has no algorithm of that name.
Plan choose_plan(Operator operation, uint64_t bytes, uint32_t cores, std::string_view name);

} // namespace aivops
