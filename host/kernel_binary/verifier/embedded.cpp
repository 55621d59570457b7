#include "verifier/embedded.h"

#include "aivops/kernel_binary/counted.h"
#include "aivops/kernel_binary/printable.h"

#include <algorithm>

namespace aivops::kernel_binary {
namespace {

constexpr std::string_view kStubPrefix = ".ascend.kernel.";
constexpr std::string_view kSingleSource = ".aicore_binary";

struct Collector {
    EmbeddedBinaries& result;
    FindingList& findings;
    const Section& section;
    std::size_t count = 0;

    void add(std::uint64_t offset, std::uint64_t size) {
        result.binaries.push_back(
            {printable(section.name) + "[" + std::to_string(count++) + "]", section.offset + offset, size});
    }
    void damaged(std::uint64_t offset, std::string message, std::string expected, std::string found) {
        findings.add(RuleId::META111, {.section = section.name,
                                       .offset = section.offset + offset,
                                       .message = "section " + printable(section.name) + " " + std::move(message),
                                       .expected = std::move(expected),
                                       .found = std::move(found)});
    }
};

// u32 version 1, u32 count, then per binary: u32 type, u32 length, u32 file length, bytes.
void read_stub(ByteView content, Collector& collect) {
    const auto version = content.little<std::uint32_t>(0);
    const auto count = content.little<std::uint32_t>(4);
    if (content.size() < 8 || version != 1) {
        collect.damaged(0, "is of an unknown version", "version 1", std::to_string(version));
        return;
    }
    constexpr std::uint64_t kHead = 12;
    std::uint64_t offset = 8;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto length = content.little<std::uint32_t>(offset + 4);
        const auto file_length = content.little<std::uint32_t>(offset + 8);
        if (!content.contains(offset, kHead) || !content.contains(offset + kHead, length) || file_length > length) {
            collect.damaged(offset, "is cut", std::to_string(count) + " binaries", std::to_string(i) + " whole ones");
            return;
        }
        collect.add(offset + kHead, file_length);
        offset += kHead + length;
    }
}

// Bytes of the ELF at the start of the view: up to the end of its last section, or of its header table.
std::uint64_t extent(const ElfFile& file) {
    const ElfHeader& header = file.header();
    std::uint64_t end = header.section_header_offset + std::uint64_t{header.section_count} * elf::kSectionHeaderBytes;
    for (const Section& section : file.sections()) {
        if (section.occupies_file() && file.bytes().contains(section.offset, section.size)) {
            end = std::max(end, section.offset + section.size);
        }
    }
    return end;
}

void read_single_source(ByteView content, Collector& collect) {
    std::uint64_t offset = 0;
    while (offset < content.size()) {
        if (content.little<std::uint8_t>(offset) == 0) {
            ++offset; // padding between binaries
            continue;
        }
        const ElfFile file(content.slice(offset, content.size() - offset));
        if (file.sections().empty()) {
            collect.damaged(offset, "holds bytes that are no ELF", "binaries back to back",
                            counted(content.size() - offset, "byte") + " left");
            return;
        }
        const std::uint64_t size = extent(file);
        collect.add(offset, size);
        offset += size;
    }
}

} // namespace

EmbeddedBinaries find_embedded(const ElfFile& file) {
    EmbeddedBinaries result;
    FindingList findings(Profile::kAny);
    ByteBudget budget(file.bytes().size());
    for (const Section& section : file.sections()) {
        const bool stub = section.name.starts_with(kStubPrefix);
        if (!stub && section.name != kSingleSource) {
            continue;
        }
        Collector collect{result, findings, section};
        const ByteView content = file.content(section);
        if (content.size() != section.size || !budget.spend(content.size())) {
            collect.damaged(0, "leaves the file or overlaps another one", "a range of its own inside the file",
                            counted(section.size, "byte"));
        } else if (stub) {
            read_stub(content, collect);
        } else {
            read_single_source(content, collect);
        }
    }
    result.findings = findings.take();
    return result;
}

} // namespace aivops::kernel_binary
