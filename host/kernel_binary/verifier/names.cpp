// Names in messages: how they are shown, and which name may have been meant.
#include "verifier/checks.h"

#include <algorithm>
#include <charconv>

namespace aivops::kernel_binary {
namespace {

// Levenshtein distance.
std::size_t distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    for (std::size_t j = 0; j <= right.size(); ++j) {
        row[j] = j;
    }
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

} // namespace

std::string hex(std::uint64_t value) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
    return "0x" + std::string(digits, end);
}

std::string counted(std::uint64_t count, std::string_view thing) {
    return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

std::string kernel_entity(std::string_view name) {
    return "kernel " + printable(name);
}

std::string section_entity(std::string_view name) {
    return "section " + (name.empty() ? "without a name" : printable(name));
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates) {
    // A hint for people; the bounds keep it cheap for files that no person wrote.
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
        if (const std::size_t found = distance(name, candidate); found < best) {
            best = found;
            nearest = candidate;
        }
    }
    return nearest;
}

bool is_mangled_form_of(std::string_view mangled, std::string_view name) {
    return mangled.starts_with("_Z") && !name.empty() && !name.starts_with("_Z") &&
           mangled.find(std::to_string(name.size()) + std::string(name)) != std::string_view::npos;
}

} // namespace aivops::kernel_binary
