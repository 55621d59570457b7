// The verifier's rules as data: one table that the checks, the reports and docs/rules.md are made from.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_RULES_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_RULES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aivops::kernel_binary {

// The value is the number in the id: META061 is 61. Numbers are never reused.
enum class RuleId : std::uint16_t {
    META001 = 1,
    META002,
    META003,
    META004,
    META005,
    META006,
    META007,
    META008,
    META009,
    META010,
    META011,
    META012,
    META013,
    META014,
    META015,
    META016,
    META017,
    META018,
    META019,
    META020,
    META021,
    META022,
    META030 = 30,
    META033 = 33,
    META034,
    META035,
    META036,
    META037,
    META038,
    META039,
    META050 = 50,
    META051,
    META052,
    META053,
    META054,
    META055,
    META056,
    META057,
    META058,
    META059,
    META060,
    META061,
    META062,
    META063,
    META064,
    META065,
    META066,
    META067,
    META068,
    META069,
    META070,
    META071,
    META072,
    META073,
    META074,
    META076 = 76,
    META080 = 80,
    META081,
    META082,
    META083,
    META084,
    META086 = 86,
    META090 = 90,
    META091,
    META095 = 95,
    META096,
    META097,
    META098,
    META100 = 100,
    META101,
    META102,
    META104 = 104,
    META105,
    META106,
    META110 = 110,
    META111,
    META120 = 120,
    META121,
    META122,
    META123
};

enum class Severity : std::uint8_t { kInfo = 1, kWarning = 2, kError = 4 };

// `aiv` is the policy of AivOps' own builds: every kernel runs on vector cores only.
enum class Profile : std::uint8_t { kAny, kAiv };

struct Rule {
    RuleId id;
    std::uint8_t any;      // the severities it can have in profile `any`, as a set; the highest is the usual one
    std::uint8_t aiv;      // likewise in profile `aiv`
    std::uint8_t machines; // kOnAscend | kOnEmulated, or kOnNone for rules about what surrounds a binary
    const char* condition;
    const char* consequence;
    const char* fix;
    const char* source;
    const char* since;

    std::uint8_t severities(Profile profile) const { return profile == Profile::kAiv ? aiv : any; }
    Severity severity(Profile profile) const {
        const std::uint8_t set = severities(profile);
        return (set & 4) != 0 ? Severity::kError : (set & 2) != 0 ? Severity::kWarning : Severity::kInfo;
    }
};

constexpr std::uint8_t kOnNone = 0;
constexpr std::uint8_t kOnAscend = 1;
constexpr std::uint8_t kOnEmulated = 2;
constexpr std::uint8_t kOnBoth = kOnAscend | kOnEmulated;

// In the order of their ids.
std::span<const Rule> all_rules();
const Rule& find_rule(RuleId id);

std::string rule_name(RuleId id);
std::string_view severity_name(Severity severity);

// The table as JSON, for documents and other programs.
std::string rules_json();

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_RULES_H
