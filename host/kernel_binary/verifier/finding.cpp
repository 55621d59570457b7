#include "verifier/finding.h"

#include "aivops/kernel_binary/printable.h"

namespace aivops::kernel_binary {

void FindingList::add(RuleId rule, Detail detail) {
    const Rule& row = find_rule(rule);
    if (row.severities(profile_) != 0) {
        add(rule, row.severity(profile_), std::move(detail));
    }
}

void FindingList::add(RuleId rule, Severity severity, Detail detail) {
    if (++counts_[static_cast<std::size_t>(rule)] > kPerRule) {
        return;
    }
    Finding finding{rule,
                    severity,
                    printable(detail.kernel),
                    printable(detail.section),
                    detail.offset,
                    std::move(detail.expected),
                    std::move(detail.found),
                    std::move(detail.message),
                    std::move(detail.fix)};
    if (finding.fix.empty()) {
        finding.fix = find_rule(rule).fix;
    }
    findings_.push_back(std::move(finding));
}

std::vector<Finding> FindingList::take() {
    for (const Rule& rule : all_rules()) {
        const std::uint32_t count = counts_[static_cast<std::size_t>(rule.id)];
        if (count > kPerRule) {
            Finding rest;
            rest.rule = rule.id;
            rest.severity = rule.severity(profile_);
            rest.message =
                "the file has " + std::to_string(count - kPerRule) + " more findings of " + rule_name(rule.id);
            rest.fix = rule.fix;
            findings_.push_back(std::move(rest));
        }
    }
    return std::move(findings_);
}

} // namespace aivops::kernel_binary
