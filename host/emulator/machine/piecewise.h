// What is remembered of a range of addresses, kept once per piece that has the same past: a large access that covers
// what others covered before it costs no more than a small one.
#ifndef AIVOPS_MACHINE_PIECEWISE_H
#define AIVOPS_MACHINE_PIECEWISE_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace aivops::machine {

/// Pieces with equal values are one where they meet; between pieces nothing is remembered.
template <typename Value>
class Piecewise {
  public:
    bool holds(uint64_t at) const {
        const auto piece = pieces_.upper_bound(at);
        return piece != pieces_.begin() && std::prev(piece)->second.end > at;
    }

    /// Calls `visit(at, value)` for what is remembered of [begin, end), in its order.
    template <typename Visit>
    void visit(uint64_t begin, uint64_t end, Visit visit) const {
        auto piece = pieces_.upper_bound(begin);
        if (piece != pieces_.begin() && std::prev(piece)->second.end > begin) {
            --piece;
        }
        for (; piece != pieces_.end() && piece->first < end; ++piece) {
            visit(std::max(begin, piece->first), piece->second.value);
        }
    }

    /// Calls `change(at, value)` in the order of the pieces of [begin, end), each from `at` on. What was a gap begins
    /// as Value{}.
    template <typename Change>
    void change(uint64_t begin, uint64_t end, Change change) {
        auto piece = cut(begin);
        while (begin < end) {
            if (piece == pieces_.end() || piece->first > begin) {
                const uint64_t gap_end = piece == pieces_.end() ? end : std::min(end, piece->first);
                piece = pieces_.emplace_hint(piece, begin, Piece{gap_end, Value{}});
            } else if (piece->second.end > end) {
                cut(piece, end);
            }
            change(begin, piece->second.value);
            begin = piece->second.end;
            piece = std::next(join_to_previous(piece));
        }
        if (piece != pieces_.end()) {
            join_to_previous(piece);
        }
    }

    void forget(uint64_t begin, uint64_t end) {
        const auto first = cut(begin);
        pieces_.erase(first, cut(end));
    }
    void clear() { pieces_.clear(); }

  private:
    struct Piece {
        uint64_t end;
        Value value;
    };
    using Pieces = std::map<uint64_t, Piece>; // by their begin
    using Iterator = typename Pieces::iterator;

    // The first piece that lies behind `at` or begins there, once none reaches across it.
    Iterator cut(uint64_t at) {
        const auto behind = pieces_.lower_bound(at);
        if (behind == pieces_.begin() || std::prev(behind)->second.end <= at) {
            return behind;
        }
        return cut(std::prev(behind), at);
    }
    Iterator cut(Iterator piece, uint64_t at) {
        const auto behind = pieces_.emplace_hint(std::next(piece), at, piece->second);
        piece->second.end = at;
        return behind;
    }

    Iterator join_to_previous(Iterator piece) {
        if (piece == pieces_.begin()) {
            return piece;
        }
        const auto previous = std::prev(piece);
        if (previous->second.end != piece->first || !(previous->second.value == piece->second.value)) {
            return piece;
        }
        previous->second.end = piece->second.end;
        pieces_.erase(piece);
        return previous;
    }

    Pieces pieces_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_PIECEWISE_H
