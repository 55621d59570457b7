// The names that somebody probably meant: for messages about one that does not exist.
#ifndef AIVOPS_KERNEL_BINARY_NEAREST_NAME_H
#define AIVOPS_KERNEL_BINARY_NEAREST_NAME_H

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace aivops::kernel_binary {

/// Levenshtein distance.
inline std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

/// The nearest of `candidates`; empty when none is near. The bounds keep it cheap for files that no person wrote.
inline std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates) {
    constexpr std::size_t kMostCandidates = 256;
    constexpr std::size_t kLongestName = 128;
    std::string_view nearest;
    std::size_t best = std::max<std::size_t>(name.size() / 3, 2) + 1;
    if (candidates.size() > kMostCandidates || name.size() > kLongestName) {
        return nearest;
    }
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kLongestName) {
            continue;
        }
        if (const std::size_t found = edit_distance(name, candidate); found < best) {
            best = found;
            nearest = candidate;
        }
    }
    return nearest;
}

/// All of `candidates`: those that `name` is a part of, then the others, each by their distance from it.
inline std::vector<std::string_view> nearest_first(std::string_view name, std::vector<std::string_view> candidates) {
    using Rank = std::pair<bool, std::size_t>;
    std::vector<std::pair<Rank, std::string_view>> ranked;
    ranked.reserve(candidates.size());
    for (const std::string_view candidate : candidates) {
        const Rank rank(candidate.find(name) == std::string_view::npos, edit_distance(name, candidate));
        ranked.emplace_back(rank, candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    std::transform(ranked.begin(), ranked.end(), candidates.begin(), [](const auto& entry) { return entry.second; });
    return candidates;
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_NEAREST_NAME_H
