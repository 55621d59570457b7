#include "line_table.h"

#include "dwarf.h"
#include "inlined_calls.h"

#include <optional>
#include <string_view>
#include <vector>

namespace aivops::machine {
namespace {

using namespace dwarf;

// The headers of the emulated toolkit, wherever it is installed.
constexpr std::string_view kToolkitHeaders = "/asc/include/";

// DWARF's numbers, as far as line tables alone use them.
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
    Unit(Cursor cursor, uint64_t offset, const Sections& sections)
        : cursor_(cursor), offset_(offset), sections_(sections) {}

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
        const Row& own = rows[at.value_or(0)];
        if (std::string place = place_of(own.file, own.line); !place.empty()) {
            return place;
        }
        for (const CallPlace& call : inlined_calls(sections_, address)) {
            std::string place = call.line_table == offset_ ? place_of(call.file, static_cast<int64_t>(call.line)) : "";
            if (!place.empty()) {
                return place;
            }
        }
        // A binary with lines and without calls: what the author wrote before it is near.
        for (size_t index = at.value_or(0); index-- != 0;) {
            if (std::string place = place_of(rows[index].file, rows[index].line); !place.empty()) {
                return place;
            }
        }
        return {};
    }

    // "file.asc:34"; empty for the toolkit's own headers and for code without a line.
    std::string place_of(uint64_t file, int64_t line) const {
        const std::string path = path_of(file);
        const bool own = path.empty() || line <= 0 || path.find(kToolkitHeaders) != std::string::npos;
        return own ? std::string() : path + ":" + std::to_string(line);
    }

    Cursor cursor_;
    uint64_t offset_; // in .debug_line, by which inlined calls name it
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
    const Sections sections(elf);
    Cursor units(sections.lines);
    while (!units.done()) {
        const uint64_t offset = sections.lines.size() - units.left();
        Unit unit(units.sub(units.take<uint32_t>()), offset, sections);
        if (std::string found = unit.find(address); !found.empty()) {
            return found;
        }
    }
    return {};
}

} // namespace aivops::machine
