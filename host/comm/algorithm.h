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

/// What a call with `bytes` of input per rank runs when nothing else is asked for. Never more blocks than `cores`.
Plan choose_plan(Operator operation, uint64_t bytes, uint32_t ranks, uint32_t cores);

} // namespace aivops
