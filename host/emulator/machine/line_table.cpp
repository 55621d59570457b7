#include "line_table.h"

#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace aivops::machine {
namespace {

using Bytes = std::span<const std::byte>;

// The headers of the emulated toolkit, wherever it is installed.
constexpr std::string_view kToolkitHeaders = "/asc/include/";

// DWARF's numbers, as far as line tables use them.
enum Form : uint64_t {
    kData2 = 0x05,
    kData4 = 0x06,
    kData8 = 0x07,
    kString = 0x08,
    kBlock = 0x09,
    kData1 = 0x0b,
    kStrp = 0x0e,
    kUdata = 0x0f,
    kData16 = 0x1e,
    kLineStrp = 0x1f
};
enum Content : uint64_t { kPath = 1, kDirectory = 2 };
enum Opcode : uint8_t {
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kConstAddPc = 8,
    kFixedAdvancePc = 9
};
enum ExtendedOpcode : uint8_t { kEndSequence = 1, kSetAddress = 2 };

// Reads forward; past the end it yields zeros and says so.
class Cursor {
  public:
    explicit Cursor(Bytes bytes) : bytes_(bytes) {}

    template <typename T>
    T take() {
        T value{};
        if (bytes_.size() < sizeof(T)) {
            failed_ = true;
            bytes_ = {};
            return value;
        }
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }
    uint64_t unsigned_leb() {
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            auto byte = take<uint8_t>();
            value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
            if ((byte & 0x80) == 0 || failed_) {
                return value;
            }
        }
    }
    int64_t signed_leb() {
        uint64_t value = 0;
        unsigned shift = 0;
        uint8_t byte = 0;
        do {
            byte = take<uint8_t>();
            value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
            shift += 7;
        } while ((byte & 0x80) != 0 && !failed_);
        if (shift < 64 && (byte & 0x40) != 0) {
            value |= ~uint64_t{0} << shift;
        }
        return static_cast<int64_t>(value);
    }
    std::string_view string() {
        std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
        size_t length = text.find('\0');
        if (length == std::string_view::npos) {
            failed_ = true;
            return {};
        }
        bytes_ = bytes_.subspan(length + 1);
        return text.substr(0, length);
    }
    Cursor sub(uint64_t bytes) {
        if (bytes > bytes_.size()) {
            failed_ = true;
            bytes = bytes_.size();
        }
        Cursor part(bytes_.first(bytes));
        bytes_ = bytes_.subspan(bytes);
        return part;
    }
    void skip(uint64_t bytes) { sub(bytes); }
    bool done() const { return bytes_.empty() || failed_; }
    bool failed() const { return failed_; }

  private:
    Bytes bytes_;
    bool failed_ = false;
};

struct Sections {
    Bytes lines;
    Bytes strings;
    Bytes line_strings;
};

Sections find_sections(Bytes elf) {
    Sections found;
    Elf64_Ehdr header;
    if (elf.size() < sizeof header) {
        return found;
    }
    std::memcpy(&header, elf.data(), sizeof header);
    auto section = [&](size_t index) {
        Elf64_Shdr read{};
        uint64_t offset = header.e_shoff + index * sizeof read;
        if (index < header.e_shnum && offset + sizeof read <= elf.size()) {
            std::memcpy(&read, elf.data() + offset, sizeof read);
        }
        return read;
    };
    auto content = [&](const Elf64_Shdr& read) {
        bool inside = read.sh_type == SHT_PROGBITS || read.sh_type == SHT_STRTAB;
        inside = inside && read.sh_offset <= elf.size() && read.sh_size <= elf.size() - read.sh_offset;
        return inside && (read.sh_flags & SHF_COMPRESSED) == 0 ? elf.subspan(read.sh_offset, read.sh_size) : Bytes{};
    };
    Bytes names = content(section(header.e_shstrndx));
    for (size_t index = 0; index < header.e_shnum; ++index) {
        Elf64_Shdr read = section(index);
        if (read.sh_name >= names.size()) {
            continue;
        }
        std::string_view name = Cursor(names.subspan(read.sh_name)).string();
        if (name == ".debug_line") {
            found.lines = content(read);
        } else if (name == ".debug_str") {
            found.strings = content(read);
        } else if (name == ".debug_line_str") {
            found.line_strings = content(read);
        }
    }
    return found;
}

struct Entry {
    std::string_view path;
    uint64_t directory = 0;
};

std::string_view text_at(Bytes strings, uint64_t offset) {
    return offset < strings.size() ? Cursor(strings.subspan(offset)).string() : std::string_view{};
}

// The version 5 tables of directories and files: a description of the columns, then the rows.
std::vector<Entry> read_entries(Cursor& cursor, const Sections& sections) {
    struct Column {
        uint64_t content;
        uint64_t form;
    };
    std::vector<Column> columns(cursor.take<uint8_t>());
    for (Column& column : columns) {
        column = {cursor.unsigned_leb(), cursor.unsigned_leb()};
    }
    std::vector<Entry> entries;
    uint64_t count = cursor.unsigned_leb();
    for (uint64_t row = 0; row < count && !cursor.failed(); ++row) {
        Entry entry;
        for (const Column& column : columns) {
            std::string_view text;
            uint64_t number = 0;
            switch (column.form) {
            case kString:
                text = cursor.string();
                break;
            case kLineStrp:
                text = text_at(sections.line_strings, cursor.take<uint32_t>());
                break;
            case kStrp:
                text = text_at(sections.strings, cursor.take<uint32_t>());
                break;
            case kUdata:
                number = cursor.unsigned_leb();
                break;
            case kData1:
                number = cursor.take<uint8_t>();
                break;
            case kData2:
                number = cursor.take<uint16_t>();
                break;
            case kData4:
                number = cursor.take<uint32_t>();
                break;
            case kData8:
                number = cursor.take<uint64_t>();
                break;
            case kData16:
                cursor.skip(16);
                break;
            case kBlock:
                cursor.skip(cursor.unsigned_leb());
                break;
            default:
                return {};
            }
            if (column.content == kPath) {
                entry.path = text;
            } else if (column.content == kDirectory) {
                entry.directory = number;
            }
        }
        entries.push_back(entry);
    }
    return entries;
}

// Older versions: strings up to an empty one; number 0 is what the compiler's folder or file was.
std::vector<Entry> read_old_directories(Cursor& cursor) {
    std::vector<Entry> entries(1);
    for (std::string_view path = cursor.string(); !path.empty(); path = cursor.string()) {
        entries.push_back({path, 0});
    }
    return entries;
}

std::vector<Entry> read_old_files(Cursor& cursor) {
    std::vector<Entry> entries(1);
    for (std::string_view path = cursor.string(); !path.empty(); path = cursor.string()) {
        entries.push_back({path, cursor.unsigned_leb()});
        cursor.unsigned_leb();
        cursor.unsigned_leb();
    }
    return entries;
}

struct Row {
    uint64_t address = 0;
    uint64_t file = 1;
    int64_t line = 1;
};

// One compilation unit's table.
class Unit {
  public:
    Unit(Cursor cursor, const Sections& sections) : cursor_(cursor), sections_(sections) {}

    std::string find(uint64_t address) {
        if (!read_header()) {
            return {};
        }
        std::vector<Row> rows;
        Row row;
        auto emit = [&] { rows.push_back(row); };
        while (!cursor_.done()) {
            auto opcode = cursor_.take<uint8_t>();
            if (opcode >= opcode_base_) {
                uint8_t adjusted = opcode - opcode_base_;
                row.address += uint64_t{adjusted} / line_range_ * instruction_bytes_;
                row.line += line_base_ + adjusted % line_range_;
                emit();
                continue;
            }
            switch (opcode) {
            case 0: {
                Cursor extended = cursor_.sub(cursor_.unsigned_leb());
                auto kind = extended.take<uint8_t>();
                if (kind == kSetAddress) {
                    row.address = extended.take<uint64_t>();
                } else if (kind == kEndSequence) {
                    emit();
                    if (std::string found = look(rows, address); !found.empty()) {
                        return found;
                    }
                    rows.clear();
                    row = {};
                }
                break;
            }
            case kCopy:
                emit();
                break;
            case kAdvancePc:
                row.address += cursor_.unsigned_leb() * instruction_bytes_;
                break;
            case kAdvanceLine:
                row.line += cursor_.signed_leb();
                break;
            case kSetFile:
                row.file = cursor_.unsigned_leb();
                break;
            case kConstAddPc:
                row.address += uint64_t{255u - opcode_base_} / line_range_ * instruction_bytes_;
                break;
            case kFixedAdvancePc:
                row.address += cursor_.take<uint16_t>();
                break;
            default:
                for (uint8_t count = operand_counts_[opcode]; count != 0; --count) {
                    cursor_.unsigned_leb();
                }
            }
        }
        return {};
    }

  private:
    bool read_header() {
        auto version = cursor_.take<uint16_t>();
        if (version < 3 || version > 5) {
            return false;
        }
        if (version == 5) {
            cursor_.skip(2); // sizes of addresses and segment selectors
        }
        Cursor header = cursor_.sub(cursor_.take<uint32_t>());
        instruction_bytes_ = header.take<uint8_t>();
        if (version >= 4) {
            header.skip(1); // operations per instruction: 1 on these machines
        }
        header.skip(1); // whether rows begin as statements
        line_base_ = header.take<int8_t>();
        line_range_ = header.take<uint8_t>();
        opcode_base_ = header.take<uint8_t>();
        operand_counts_.assign(1, 0);
        for (uint8_t opcode = 1; opcode < opcode_base_; ++opcode) {
            operand_counts_.push_back(header.take<uint8_t>());
        }
        if (version == 5) {
            directories_ = read_entries(header, sections_);
            files_ = read_entries(header, sections_);
        } else {
            directories_ = read_old_directories(header);
            files_ = read_old_files(header);
        }
        return !header.failed() && line_range_ != 0 && opcode_base_ != 0;
    }

    std::string path_of(uint64_t file) const {
        if (file >= files_.size()) {
            return {};
        }
        const Entry& entry = files_[file];
        std::string path(entry.path);
        if (!path.starts_with('/') && entry.directory < directories_.size() &&
            !directories_[entry.directory].path.empty()) {
            path = std::string(directories_[entry.directory].path) + "/" + path;
        }
        return path;
    }

    // Rows of one sequence are in the order of their addresses, and the last one is behind its end.
    std::string look(const std::vector<Row>& rows, uint64_t address) const {
        if (rows.size() < 2 || address <= rows.front().address || address > rows.back().address) {
            return {};
        }
        std::optional<size_t> at;
        for (size_t index = 0; index + 1 < rows.size() && rows[index].address < address; ++index) {
            at = index;
        }
        for (size_t index = at.value_or(0) + 1; index-- != 0;) {
            std::string path = path_of(rows[index].file);
            if (!path.empty() && rows[index].line > 0 && path.find(kToolkitHeaders) == std::string::npos) {
                return path + ":" + std::to_string(rows[index].line);
            }
        }
        return {};
    }

    Cursor cursor_;
    const Sections& sections_;
    uint8_t instruction_bytes_ = 1;
    int8_t line_base_ = 0;
    uint8_t line_range_ = 1;
    uint8_t opcode_base_ = 0;
    std::vector<uint8_t> operand_counts_;
    std::vector<Entry> directories_;
    std::vector<Entry> files_;
};

} // namespace

std::string source_line(std::span<const std::byte> elf, uint64_t address) {
    const Sections sections = find_sections(elf);
    Cursor units(sections.lines);
    while (!units.done()) {
        Unit unit(units.sub(units.take<uint32_t>()), sections);
        if (std::string found = unit.find(address); !found.empty()) {
            return found;
        }
    }
    return {};
}

} // namespace aivops::machine
