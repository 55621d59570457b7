#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

bool version_has_stack(std::uint32_t version) {
    return version >> 16 == 0x5a5a;
}

void check_values(const Checking& checking, const Section& section) {
    const ByteView content = checking.image.file.content(section);
    if (section.size == 0 || section.size % 8 != 0) {
        checking.add(RuleId::META095, {.section = section.name,
                                       .offset = section.offset,
                                       .message = "the stack record is no list of sizes",
                                       .expected = "a multiple of 8 bytes, not 0",
                                       .found = counted(section.size, "byte")});
        return;
    }
    const auto first = content.little<std::uint64_t>(0);
    if (first != 16384 && first != 32768) {
        checking.add(RuleId::META096, {.section = section.name,
                                       .offset = section.offset,
                                       .message = "the stack record has a size that the runtime does not take",
                                       .expected = "16384 or 32768",
                                       .found = std::to_string(first)});
    }
    for (std::uint64_t offset = 8; offset < content.size(); offset += 8) {
        if (const auto value = content.little<std::uint64_t>(offset); value != first) {
            checking.add(RuleId::META097, {.section = section.name,
                                           .offset = section.offset + offset,
                                           .message = "the stack record has sizes that differ",
                                           .expected = std::to_string(first),
                                           .found = std::to_string(value)});
            return;
        }
    }
}

} // namespace

void check_stack_record(const Checking& checking) {
    const Image& image = checking.image;
    const Section* record = nullptr;
    for (const Section& section : image.file.sections()) {
        // The runtime looks for the name anywhere in the section's; the last one counts.
        if (can_hold_records(section) && section.name.find(kStackRecordSection) != std::string_view::npos) {
            record = &section;
        }
    }
    if (record != nullptr) {
        check_values(checking, *record);
    } else if (image.architecture.generation == Generation::kC220 && !version_has_stack(image.file.header().version)) {
        checking.add(RuleId::META098,
                     {.message = "the file has no stack record", .expected = std::string(kStackRecordSection)});
    }
}

} // namespace aivops::kernel_binary
