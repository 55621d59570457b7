#include "inlined_calls.h"

#include <algorithm>
#include <map>

namespace aivops::machine::dwarf {
namespace {

enum Tag : uint64_t { kInlinedSubroutine = 0x1d };
enum Attribute : uint64_t {
    kStmtList = 0x10,
    kLowPc = 0x11,
    kHighPc = 0x12,
    kRanges = 0x55,
    kCallFile = 0x58,
    kCallLine = 0x59,
    kAddrBase = 0x73,
    kRnglistsBase = 0x74
};
enum RangeEntry : uint8_t {
    kEndOfList = 0,
    kBaseAddressx = 1,
    kStartxEndx = 2,
    kStartxLength = 3,
    kOffsetPair = 4,
    kBaseAddress = 5,
    kStartEnd = 6,
    kStartLength = 7
};

struct Column {
    uint64_t attribute;
    uint64_t form;
    int64_t constant; // of kImplicitConst
};

struct Abbreviation {
    uint64_t tag;
    std::vector<Column> columns;
};

std::map<uint64_t, Abbreviation> read_abbreviations(Cursor cursor) {
    std::map<uint64_t, Abbreviation> found;
    for (uint64_t code = cursor.unsigned_leb(); code != 0 && !cursor.failed(); code = cursor.unsigned_leb()) {
        Abbreviation abbreviation{cursor.unsigned_leb(), {}};
        cursor.skip(1); // whether it has children: places are found without the tree
        while (!cursor.failed()) {
            Column column{cursor.unsigned_leb(), cursor.unsigned_leb(), 0};
            if (column.form == kImplicitConst) {
                column.constant = cursor.signed_leb();
            }
            if (column.attribute == 0 && column.form == 0) {
                break;
            }
            abbreviation.columns.push_back(column);
        }
        found[code] = std::move(abbreviation);
    }
    return found;
}

struct Value {
    uint64_t number = 0;
    uint64_t form = 0; // 0: the entry has no such attribute
};

struct Entry {
    Value stmt_list, low_pc, high_pc, ranges, call_file, call_line, addr_base, rnglists_base;

    Value* find(uint64_t attribute) {
        switch (attribute) {
        case kStmtList:
            return &stmt_list;
        case kLowPc:
            return &low_pc;
        case kHighPc:
            return &high_pc;
        case kRanges:
            return &ranges;
        case kCallFile:
            return &call_file;
        case kCallLine:
            return &call_line;
        case kAddrBase:
            return &addr_base;
        case kRnglistsBase:
            return &rnglists_base;
        default:
            return nullptr;
        }
    }
};

class Unit {
  public:
    Unit(Cursor cursor, const Sections& sections) : cursor_(cursor), sections_(sections) {}

    void find(uint64_t address, std::vector<CallPlace>& calls) {
        if (!read_header()) {
            return;
        }
        bool first = true;
        while (!cursor_.done()) {
            const uint64_t code = cursor_.unsigned_leb();
            if (code == 0) {
                continue; // the end of somebody's children
            }
            auto abbreviation = abbreviations_.find(code);
            Entry entry;
            if (abbreviation == abbreviations_.end() || !read(abbreviation->second, entry)) {
                return;
            }
            if (first) {
                unit_ = entry;
                first = false;
            } else if (abbreviation->second.tag == kInlinedSubroutine && holds(entry, address)) {
                calls.push_back({unit_.stmt_list.number, entry.call_file.number, entry.call_line.number});
            }
        }
    }

  private:
    bool read_header() {
        version_ = cursor_.take<uint16_t>();
        if (version_ < 4 || version_ > 5) {
            return false;
        }
        constexpr uint8_t kCompileUnit = 1;
        const uint8_t kind = version_ == 5 ? cursor_.take<uint8_t>() : kCompileUnit;
        uint64_t offset = 0;
        if (version_ == 5) {
            cursor_.skip(1); // size of addresses
            offset = cursor_.take<uint32_t>();
        } else {
            offset = cursor_.take<uint32_t>();
            cursor_.skip(1);
        }
        abbreviations_ = read_abbreviations(Cursor(from(sections_.abbreviations, offset)));
        return kind == kCompileUnit && !cursor_.failed();
    }

    bool read(const Abbreviation& abbreviation, Entry& entry) {
        for (const Column& column : abbreviation.columns) {
            Value value{static_cast<uint64_t>(column.constant), column.form};
            if (column.form != kImplicitConst && !read(value)) {
                return false;
            }
            if (Value* wanted = entry.find(column.attribute)) {
                *wanted = value;
            }
        }
        return !cursor_.failed();
    }

    bool read(Value& value) {
        if (value.form == kIndirect) {
            value.form = cursor_.unsigned_leb();
        }
        switch (value.form) {
        case kFlagPresent:
            break;
        case kFlag:
        case kData1:
        case kRef1:
        case kStrx1:
        case kAddrx1:
            value.number = cursor_.take<uint8_t>();
            break;
        case kData2:
        case kRef2:
        case kStrx2:
        case kAddrx2:
            value.number = cursor_.take<uint16_t>();
            break;
        case kStrx3:
        case kAddrx3:
            value.number = cursor_.take<uint16_t>();
            value.number |= uint64_t{cursor_.take<uint8_t>()} << 16;
            break;
        case kData4:
        case kRef4:
        case kStrx4:
        case kAddrx4:
        case kStrp:
        case kLineStrp:
        case kSecOffset:
        case kRefAddr:
        case kRefSup4:
        case kStrpSup:
            value.number = cursor_.take<uint32_t>();
            break;
        case kAddr:
        case kData8:
        case kRef8:
        case kRefSig8:
        case kRefSup8:
            value.number = cursor_.take<uint64_t>();
            break;
        case kData16:
            cursor_.skip(16);
            break;
        case kUdata:
        case kRefUdata:
        case kStrx:
        case kAddrx:
        case kLoclistx:
        case kRnglistx:
            value.number = cursor_.unsigned_leb();
            break;
        case kSdata:
            value.number = static_cast<uint64_t>(cursor_.signed_leb());
            break;
        case kString:
            cursor_.string();
            break;
        case kBlock:
        case kExprloc:
            cursor_.skip(cursor_.unsigned_leb());
            break;
        case kBlock1:
            cursor_.skip(cursor_.take<uint8_t>());
            break;
        case kBlock2:
            cursor_.skip(cursor_.take<uint16_t>());
            break;
        case kBlock4:
            cursor_.skip(cursor_.take<uint32_t>());
            break;
        default:
            return false;
        }
        return true;
    }

    uint64_t indexed_address(uint64_t index) const {
        return Cursor(from(sections_.addresses, unit_.addr_base.number + index * sizeof(uint64_t))).take<uint64_t>();
    }

    uint64_t address_of(const Value& value) const {
        return value.form == kAddr ? value.number : indexed_address(value.number);
    }

    // The address is behind the instruction, so a body that ends there holds it and one that begins there does not.
    static bool inside(uint64_t begin, uint64_t end, uint64_t address) { return begin < address && address <= end; }

    bool holds(const Entry& entry, uint64_t address) const {
        if (entry.ranges.form != 0) {
            return version_ == 5 ? in_range_list(entry.ranges, address) : in_ranges(entry.ranges.number, address);
        }
        if (entry.low_pc.form == 0 || entry.high_pc.form == 0) {
            return false;
        }
        const uint64_t begin = address_of(entry.low_pc);
        return inside(begin, entry.high_pc.form == kAddr ? entry.high_pc.number : begin + entry.high_pc.number,
                      address);
    }

    bool in_ranges(uint64_t offset, uint64_t address) const {
        Cursor list(from(sections_.ranges, offset));
        uint64_t base = unit_.low_pc.form != 0 ? address_of(unit_.low_pc) : 0;
        while (!list.done()) {
            auto begin = list.take<uint64_t>();
            auto end = list.take<uint64_t>();
            if (begin == 0 && end == 0) {
                break;
            }
            if (begin == ~uint64_t{0}) {
                base = end;
            } else if (inside(base + begin, base + end, address)) {
                return true;
            }
        }
        return false;
    }

    bool in_range_list(const Value& ranges, uint64_t address) const {
        uint64_t offset = ranges.number;
        if (ranges.form == kRnglistx) {
            const uint64_t entry = unit_.rnglists_base.number + ranges.number * sizeof(uint32_t);
            offset = unit_.rnglists_base.number + Cursor(from(sections_.range_lists, entry)).take<uint32_t>();
        }
        Cursor list(from(sections_.range_lists, offset));
        uint64_t base = unit_.low_pc.form != 0 ? address_of(unit_.low_pc) : 0;
        while (!list.done()) {
            uint64_t begin = 0;
            uint64_t end = 0;
            switch (list.take<uint8_t>()) {
            case kBaseAddressx:
                base = indexed_address(list.unsigned_leb());
                continue;
            case kBaseAddress:
                base = list.take<uint64_t>();
                continue;
            case kStartxEndx:
                begin = indexed_address(list.unsigned_leb());
                end = indexed_address(list.unsigned_leb());
                break;
            case kStartxLength:
                begin = indexed_address(list.unsigned_leb());
                end = begin + list.unsigned_leb();
                break;
            case kOffsetPair:
                begin = base + list.unsigned_leb();
                end = base + list.unsigned_leb();
                break;
            case kStartEnd:
                begin = list.take<uint64_t>();
                end = list.take<uint64_t>();
                break;
            case kStartLength:
                begin = list.take<uint64_t>();
                end = begin + list.unsigned_leb();
                break;
            default:
                return false;
            }
            if (inside(begin, end, address)) {
                return true;
            }
        }
        return false;
    }

    Cursor cursor_;
    const Sections& sections_;
    uint16_t version_ = 0;
    std::map<uint64_t, Abbreviation> abbreviations_;
    Entry unit_;
};

} // namespace

std::vector<CallPlace> inlined_calls(const Sections& sections, uint64_t address) {
    std::vector<CallPlace> calls;
    Cursor units(sections.info);
    while (!units.done()) {
        Unit(units.sub(units.take<uint32_t>()), sections).find(address, calls);
    }
    std::ranges::reverse(calls); // entries that hold others come before them
    return calls;
}

} // namespace aivops::machine::dwarf
