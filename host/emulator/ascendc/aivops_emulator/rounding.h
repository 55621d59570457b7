// Rounding of real numbers to narrow formats and integers, in every mode Cast offers, in integer arithmetic.
#ifndef AIVOPS_EMULATOR_ROUNDING_H
#define AIVOPS_EMULATOR_ROUNDING_H
#pragma GCC system_header

#include <stdint.h>

namespace aivops_emulator {

// Numbered as AscendC::RoundMode.
enum class Rounding : int { none = 0, rint = 1, floor = 2, ceil = 3, round = 4, trunc = 5, odd = 6, hybrid = 7 };

// `significand` / 2^shift as an integer; `negative` tells the sign of the whole number.
constexpr uint64_t round_shift(uint64_t significand, int shift, bool negative, Rounding mode) {
    if (shift <= 0)
        return significand << -shift;
    if (shift > 63) { // less than half of the last place, but perhaps not nothing
        const bool lost = significand != 0;
        const bool away =
            mode == Rounding::odd || (mode == Rounding::floor && negative) || (mode == Rounding::ceil && !negative);
        return lost && away ? 1 : 0;
    }
    const uint64_t kept = significand >> shift;
    const uint64_t rest = significand & ((uint64_t(1) << shift) - 1);
    const uint64_t half = uint64_t(1) << (shift - 1);
    bool up = false;
    switch (mode) {
    case Rounding::floor:
        up = negative && rest != 0;
        break;
    case Rounding::ceil:
        up = !negative && rest != 0;
        break;
    case Rounding::round:
        up = rest >= half;
        break;
    case Rounding::trunc:
        break;
    case Rounding::odd:
        return kept | (rest != 0 ? 1 : 0);
    default: // nearest, ties to even
        up = rest > half || (rest == half && (kept & 1) != 0);
    }
    return kept + (up ? 1 : 0);
}

} // namespace aivops_emulator

#endif
