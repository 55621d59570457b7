// What a check found, and the list that keeps findings: bounded, so that a hostile file cannot make a report without
// end.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_FINDING_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_FINDING_H

#include "verifier/rules.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace aivops::kernel_binary {

struct Finding {
    RuleId rule{};
    Severity severity{};
    std::string kernel; // printable; empty when it is about no single kernel
    std::string section;
    std::optional<std::uint64_t> offset; // in the file
    std::string expected;
    std::string found;
    std::string message; // a sentence that begins with the entity
    std::string fix;
};

// What a check says; names are raw bytes of the file.
struct Detail {
    std::string_view kernel{};
    std::string_view section{};
    std::optional<std::uint64_t> offset{};
    std::string message{};
    std::string expected{};
    std::string found{};
    std::string fix{}; // empty: the rule's own
};

class FindingList {
  public:
    explicit FindingList(Profile profile) : profile_(profile) { findings_.reserve(16); }

    // With the usual severity of the rule in this profile; nothing when the rule does not exist there.
    void add(RuleId rule, Detail detail);
    void add(RuleId rule, Severity severity, Detail detail);

    bool has(RuleId rule) const { return counts_[static_cast<std::size_t>(rule)] != 0; }

    // Also says how many findings of a rule were left out.
    std::vector<Finding> take();

  private:
    static constexpr std::uint32_t kPerRule = 64;

    Profile profile_;
    std::array<std::uint32_t, 128> counts_{};
    std::vector<Finding> findings_;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_FINDING_H
