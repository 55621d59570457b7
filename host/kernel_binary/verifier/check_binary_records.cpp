// The records of `.ascend.meta`, which concern the whole binary.
#include "verifier/checks.h"

#include <array>

namespace aivops::kernel_binary {
namespace {

constexpr std::size_t kImplicitValues = 6; // by value; 0 is none

// The symbol that the runtime writes an address into when the flag of this value is set.
constexpr std::array<std::string_view, kImplicitValues> kImplicitSymbols = {
    "", "g_sysPrintFifoSpace", "g_sysFftsAddr", "g_opL2CacheHintCfg", "g_sysSimtPrintFifoSpace", ""};

constexpr std::uint32_t kSimdPrint = 1;
constexpr std::uint32_t kSimtPrint = 4;
constexpr std::uint32_t kAssert = 5;

struct BinaryCheck {
    const Checking& checking;
    const Section& section;

    Detail detail(std::string message, std::uint64_t record, std::string expected, std::string found) const {
        return {.section = section.name,
                .offset = section.offset + record,
                .message = std::move(message),
                .expected = std::move(expected),
                .found = std::move(found)};
    }
};

std::string title(const Record& record) {
    return "record " + std::to_string(record.type) + " (" + binary_record_name(record.type) + ") of " +
           counted(record.length, "byte");
}

void check_record(const BinaryCheck& check, const Record& record, std::array<bool, kImplicitValues>& flags) {
    const auto word = record.payload.little<std::uint32_t>(0);
    if (record.type > binary_record::kLastKnown ||
        (record.type == binary_record::kImplicitInfo && record.length != 4)) {
        check.checking.add(RuleId::META080,
                           check.detail("the records of the binary are out of step", record.offset,
                                        "types 0 to 5, RUNTIME_IMPLICIT_INFO of 4 bytes", title(record)));
    } else if (record.type == binary_record::kImplicitInfo) {
        if (word == 0 || word >= kImplicitValues) {
            check.checking.add(RuleId::META081, check.detail("an implicit flag has no meaning", record.offset, "1 to 5",
                                                             std::to_string(word)));
        } else {
            flags[word] = true;
        }
    } else if (record.type == binary_record::kDynamicParameter && record.length == 2) {
        check.checking.add(RuleId::META086,
                           check.detail("a record has an older layout", record.offset, "4 bytes", title(record)));
    } else if (record.type == binary_record::kDebug && record.payload.little<std::uint32_t>(4) != 0) {
        check.checking.add(RuleId::META083,
                           check.detail("the binary was built with debug options", record.offset, "options 0",
                                        "options " + hex(record.payload.little<std::uint32_t>(4))));
    }
}

std::array<bool, kImplicitValues> find_implicit_symbols(const Image& image) {
    std::array<bool, kImplicitValues> found{};
    for (std::uint64_t i = 0; image.symbols && i < image.symbols->count(); ++i) {
        const Symbol symbol = image.symbols->at(i);
        if (symbol.type != elf::kObject || !symbol.name.starts_with("g_")) {
            continue;
        }
        for (std::size_t value = 1; value < kImplicitValues; ++value) {
            found[value] = found[value] || (!kImplicitSymbols[value].empty() && symbol.name == kImplicitSymbols[value]);
        }
    }
    return found;
}

void check_implicit_symbols(const BinaryCheck& check, const std::array<bool, kImplicitValues>& flags) {
    const auto symbols = find_implicit_symbols(check.checking.image);
    for (std::size_t value = 1; value < kImplicitValues; ++value) {
        if (kImplicitSymbols[value].empty() || symbols[value] == flags[value]) {
            continue;
        }
        const std::string symbol(kImplicitSymbols[value]);
        check.checking.add(RuleId::META082, check.detail(flags[value] ? "an implicit flag has no symbol"
                                                                      : "a symbol has no implicit flag",
                                                         0, symbol + " together with flag " + std::to_string(value),
                                                         flags[value] ? "the flag alone" : "the symbol alone"));
    }
    for (const std::uint32_t value : {kSimdPrint, kSimtPrint, kAssert}) {
        if (flags[value] && !check.checking.findings.has(RuleId::META083)) {
            check.checking.add(RuleId::META083, check.detail("the binary prints or asserts on the device", 0,
                                                             "no such flag", "implicit flag " + std::to_string(value)));
        }
    }
}

} // namespace

void check_binary_records(const Checking& checking) {
    const Image& image = checking.image;
    const Section* section = image.file.find(kBinaryMetaSection);
    if (section == nullptr || !can_hold_records(*section)) {
        return;
    }
    const BinaryCheck check{checking, *section};
    std::array<bool, kImplicitValues> flags{};
    const WalkEnd end =
        walk_records(image.file.content(*section), [&](const Record& record) { check_record(check, record, flags); });
    if (end.overrun) {
        checking.add(RuleId::META080, check.detail("the records of the binary are out of step", end.offset,
                                                   "at most " + counted(end.left - 4, "byte"),
                                                   "record " + std::to_string(end.overrun_type) + " of " +
                                                       counted(end.overrun_length, "byte")));
    }
    check_implicit_symbols(check, flags);
}

} // namespace aivops::kernel_binary
