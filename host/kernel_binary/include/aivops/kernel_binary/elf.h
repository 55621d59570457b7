// Reads the parts of a 64-bit little-endian ELF that matter for kernels, from untrusted bytes, in linear time and
// without copying. It decides nothing: what is missing or out of range is left visible to the rules.
#ifndef AIVOPS_KERNEL_BINARY_ELF_H
#define AIVOPS_KERNEL_BINARY_ELF_H

#include "aivops/kernel_binary/bytes.h"

#include <cstring>
#include <optional>
#include <vector>

namespace aivops::kernel_binary {

namespace elf {
constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::uint64_t kProgramHeaderBytes = 56;
constexpr std::uint64_t kSymbolBytes = 24;

constexpr std::uint16_t kTypeRelocatable = 1;
constexpr std::uint16_t kTypeExecutable = 2;
constexpr std::uint16_t kTypeShared = 3;

constexpr std::uint32_t kNull = 0;
constexpr std::uint32_t kProgbits = 1;
constexpr std::uint32_t kSymtab = 2;
constexpr std::uint32_t kStrtab = 3;
constexpr std::uint32_t kRela = 4;
constexpr std::uint32_t kNote = 7;
constexpr std::uint32_t kNobits = 8;
constexpr std::uint32_t kRel = 9;
constexpr std::uint32_t kDynsym = 11;
constexpr std::uint32_t kVersionIndices = 0x6fffffff;

constexpr std::uint64_t kFlagWrite = 1;
constexpr std::uint64_t kFlagAlloc = 2;
constexpr std::uint64_t kFlagExecute = 4;
constexpr std::uint64_t kFlagTls = 0x400;

constexpr std::uint32_t kSegmentLoad = 1;

constexpr std::uint8_t kLocal = 0;
constexpr std::uint8_t kGlobal = 1;
constexpr std::uint8_t kWeak = 2;
constexpr std::uint8_t kObject = 1;
constexpr std::uint8_t kFunction = 2;
constexpr std::uint8_t kHidden = 2;
constexpr std::uint16_t kUndefinedSection = 0;

// The runtime skips names of this many bytes or more (NAME_MAX_LENGTH). Names are not followed much further, so that a
// string table without terminators costs no more than a usual one.
constexpr std::uint64_t kNameLimit = 4096;
constexpr std::uint64_t kNameReadLimit = kNameLimit + 64;
} // namespace elf

// Names of a STRTAB section. Finds the last terminator once, so that each look-up is bounded.
class StringTable {
  public:
    StringTable() = default;
    explicit StringTable(ByteView bytes) : bytes_(bytes), terminated_(bytes.size()) {
        while (terminated_ > 0 && bytes_.data()[terminated_ - 1] != 0) {
            --terminated_;
        }
    }

    // A name that starts here ends inside the table.
    bool holds(std::uint64_t offset) const { return offset < terminated_; }

    // Cut at kNameReadLimit bytes; empty when not held.
    std::string_view at(std::uint64_t offset) const {
        if (!holds(offset)) {
            return {};
        }
        const char* start = reinterpret_cast<const char*>(bytes_.data() + offset);
        const std::uint64_t room = terminated_ - offset;
        const std::size_t limit = static_cast<std::size_t>(room < elf::kNameReadLimit ? room : elf::kNameReadLimit);
        const void* end = std::memchr(start, 0, limit);
        return {start, end == nullptr ? limit : static_cast<std::size_t>(static_cast<const char*>(end) - start)};
    }

  private:
    ByteView bytes_;
    std::uint64_t terminated_ = 0; // one past the last NUL
};

struct ElfHeader {
    std::uint8_t file_class = 0;
    std::uint8_t data_encoding = 0;
    std::uint16_t type = 0;
    std::uint16_t machine = 0;
    std::uint32_t version = 0;
    std::uint32_t flags = 0;
    std::uint64_t program_header_offset = 0;
    std::uint64_t section_header_offset = 0;
    std::uint16_t program_header_bytes = 0;
    std::uint16_t program_header_count = 0;
    std::uint16_t section_header_bytes = 0;
    std::uint16_t section_count = 0;
    std::uint16_t name_section = 0;
};

struct Section {
    std::string_view name;
    std::uint32_t name_offset = 0;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t alignment = 0;
    std::uint64_t entry_bytes = 0;

    bool occupies_file() const { return type != elf::kNull && type != elf::kNobits; }
    bool allocated() const { return (flags & elf::kFlagAlloc) != 0; }
    bool writable() const { return (flags & elf::kFlagWrite) != 0; }
    bool executable() const { return (flags & elf::kFlagExecute) != 0; }
};

struct Symbol {
    std::string_view name;
    std::uint32_t name_offset = 0;
    std::uint8_t type = 0;
    std::uint8_t binding = 0;
    std::uint8_t visibility = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t size = 0;
};

struct Segment {
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t memory_bytes = 0;
};

// One symbol table with its names. Symbols are decoded when asked for: a table may hold millions.
class SymbolTable {
  public:
    SymbolTable() = default;
    SymbolTable(ByteView symbols, StringTable names) : symbols_(symbols), names_(names) {}

    std::uint64_t count() const { return symbols_.size() / elf::kSymbolBytes; }
    const StringTable& names() const { return names_; }

    Symbol at(std::uint64_t index) const {
        const std::uint64_t start = index * elf::kSymbolBytes;
        Symbol symbol;
        symbol.name_offset = symbols_.little<std::uint32_t>(start);
        symbol.name = names_.at(symbol.name_offset);
        const auto info = symbols_.little<std::uint8_t>(start + 4);
        symbol.type = info & 0xf;
        symbol.binding = static_cast<std::uint8_t>(info >> 4);
        symbol.visibility = symbols_.little<std::uint8_t>(start + 5) & 3;
        symbol.section = symbols_.little<std::uint16_t>(start + 6);
        symbol.value = symbols_.little<std::uint64_t>(start + 8);
        symbol.size = symbols_.little<std::uint64_t>(start + 16);
        return symbol;
    }

  private:
    ByteView symbols_;
    StringTable names_;
};

class ElfFile {
  public:
    explicit ElfFile(ByteView bytes) : bytes_(bytes) {
        if (has_magic()) {
            read_header();
        }
        if (is_readable() && has_section_table()) {
            read_sections();
        }
    }

    ByteView bytes() const { return bytes_; }
    const ElfHeader& header() const { return header_; }
    const std::vector<Section>& sections() const { return sections_; }
    const StringTable& section_names() const { return section_names_; }

    bool has_magic() const {
        return bytes_.size() >= elf::kHeaderBytes && std::memcmp(bytes_.data(),
                                                                 "\x7f"
                                                                 "ELF",
                                                                 4) == 0;
    }
    bool is_readable() const { return has_magic() && header_.file_class == 2 && header_.data_encoding == 1; }
    bool has_section_table() const {
        return header_.section_header_bytes == elf::kSectionHeaderBytes && header_.section_count != 0 &&
               bytes_.contains(header_.section_header_offset,
                               std::uint64_t{header_.section_count} * elf::kSectionHeaderBytes);
    }
    bool has_section_names() const {
        const std::size_t index = header_.name_section;
        return index != 0 && index < sections_.size() && sections_[index].type == elf::kStrtab &&
               sections_[index].size != 0;
    }

    // Empty for NOBITS and for ranges outside the file.
    ByteView content(const Section& section) const {
        return section.occupies_file() ? bytes_.slice(section.offset, section.size) : ByteView();
    }

    // First section of this name, as the runtime and dlopen'ing tools look it up.
    const Section* find(std::string_view name) const {
        for (const Section& section : sections_) {
            if (section.name == name) {
                return &section;
            }
        }
        return nullptr;
    }

    // The table that the section describes, or nothing when its size, entries, range or names cannot be used.
    std::optional<SymbolTable> symbols_of(const Section& section) const {
        if (section.entry_bytes != elf::kSymbolBytes || section.size == 0 || section.size % elf::kSymbolBytes != 0 ||
            !bytes_.contains(section.offset, section.size) || section.link >= sections_.size()) {
            return std::nullopt;
        }
        const Section& names = sections_[section.link];
        if (names.type != elf::kStrtab || names.size == 0 || !bytes_.contains(names.offset, names.size)) {
            return std::nullopt;
        }
        return SymbolTable(content(section), StringTable(content(names)));
    }

    Segment segment(std::uint64_t index) const {
        const std::uint64_t start = header_.program_header_offset + index * elf::kProgramHeaderBytes;
        Segment segment;
        segment.type = bytes_.little<std::uint32_t>(start);
        segment.offset = bytes_.little<std::uint64_t>(start + 8);
        segment.address = bytes_.little<std::uint64_t>(start + 16);
        segment.file_bytes = bytes_.little<std::uint64_t>(start + 32);
        segment.memory_bytes = bytes_.little<std::uint64_t>(start + 40);
        return segment;
    }

  private:
    void read_header() {
        header_.file_class = bytes_.little<std::uint8_t>(4);
        header_.data_encoding = bytes_.little<std::uint8_t>(5);
        header_.type = bytes_.little<std::uint16_t>(16);
        header_.machine = bytes_.little<std::uint16_t>(18);
        header_.version = bytes_.little<std::uint32_t>(20);
        header_.program_header_offset = bytes_.little<std::uint64_t>(32);
        header_.section_header_offset = bytes_.little<std::uint64_t>(40);
        header_.flags = bytes_.little<std::uint32_t>(48);
        header_.program_header_bytes = bytes_.little<std::uint16_t>(54);
        header_.program_header_count = bytes_.little<std::uint16_t>(56);
        header_.section_header_bytes = bytes_.little<std::uint16_t>(58);
        header_.section_count = bytes_.little<std::uint16_t>(60);
        header_.name_section = bytes_.little<std::uint16_t>(62);
    }

    void read_sections() {
        sections_.resize(header_.section_count);
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const ByteView raw =
                bytes_.slice(header_.section_header_offset + i * elf::kSectionHeaderBytes, elf::kSectionHeaderBytes);
            Section& section = sections_[i];
            section.name_offset = raw.little<std::uint32_t>(0);
            section.type = raw.little<std::uint32_t>(4);
            section.flags = raw.little<std::uint64_t>(8);
            section.address = raw.little<std::uint64_t>(16);
            section.offset = raw.little<std::uint64_t>(24);
            section.size = raw.little<std::uint64_t>(32);
            section.link = raw.little<std::uint32_t>(40);
            section.info = raw.little<std::uint32_t>(44);
            section.alignment = raw.little<std::uint64_t>(48);
            section.entry_bytes = raw.little<std::uint64_t>(56);
        }
        if (has_section_names()) {
            section_names_ = StringTable(content(sections_[header_.name_section]));
            for (Section& section : sections_) {
                section.name = section_names_.at(section.name_offset);
            }
        }
    }

    ByteView bytes_;
    ElfHeader header_;
    std::vector<Section> sections_;
    StringTable section_names_;
};

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_ELF_H
