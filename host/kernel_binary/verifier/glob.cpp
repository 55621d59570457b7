#include "verifier/glob.h"

namespace aivops::kernel_binary {
namespace {

// Matches one character at the start of the pattern; `rest` is the pattern behind what matched it.
bool matches_one(std::string_view pattern, char letter, std::string_view& rest) {
    const std::size_t close = pattern.front() == '[' ? pattern.find(']', 2) : std::string_view::npos;
    if (close == std::string_view::npos) {
        rest = pattern.substr(1);
        return pattern.front() == '?' || pattern.front() == letter;
    }
    std::string_view set = pattern.substr(1, close - 1);
    rest = pattern.substr(close + 1);
    const bool inverted = set.front() == '!' || set.front() == '^';
    set.remove_prefix(inverted ? 1 : 0);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (i + 2 < set.size() && set[i + 1] == '-') {
            found = found || (set[i] <= letter && letter <= set[i + 2]);
            i += 2;
        } else {
            found = found || set[i] == letter;
        }
    }
    return found != inverted;
}

} // namespace

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?[") != std::string_view::npos;
}

// Goes back only to the last `*`, so the time is at most the product of both lengths.
bool glob_matches(std::string_view pattern, std::string_view name) {
    std::string_view after_star;
    std::size_t retry = 0;
    bool has_star = false;
    std::size_t at = 0;
    while (at < name.size()) {
        if (!pattern.empty() && pattern.front() == '*') {
            pattern.remove_prefix(1);
            after_star = pattern;
            retry = at;
            has_star = true;
            continue;
        }
        std::string_view rest;
        if (!pattern.empty() && matches_one(pattern, name[at], rest)) {
            pattern = rest;
            ++at;
            continue;
        }
        if (!has_star) {
            return false;
        }
        pattern = after_star;
        at = ++retry;
    }
    return pattern.find_first_not_of('*') == std::string_view::npos;
}

} // namespace aivops::kernel_binary
