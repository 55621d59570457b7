// Which algorithm a call runs, and on how many blocks: a table with one row per choice.
#pragma once

#include "algorithm.h"

namespace aivops {

struct Plan {
    const Algorithm* algorithm;
    uint32_t blocks;
};

/// What a caller may ask for.
struct Wish {
    std::string algorithm; // empty: what the table says
    uint32_t blocks = 0;   // 0: as many as the table says

    bool operator==(const Wish&) const = default;
};

/// What a call runs: what is wished for or, where nothing is, what the table says. Throws InvalidValueError when the
/// operator has no such algorithm, the call does not meet its constraints, or there are more blocks than `cores`.
Plan choose_plan(const Situation& situation, const Wish& wish, uint32_t cores);

} // namespace aivops
