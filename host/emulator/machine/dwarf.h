// What readers of DWARF share: a cursor over bytes, and the debug sections of a kernel binary.
#ifndef AIVOPS_MACHINE_DWARF_H
#define AIVOPS_MACHINE_DWARF_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace aivops::machine::dwarf {

using Bytes = std::span<const std::byte>;

/// How an attribute's value is written; only what the readers tell apart has a name.
enum Form : uint64_t {
    kAddr = 0x01,
    kBlock2 = 0x03,
    kBlock4 = 0x04,
    kData2 = 0x05,
    kData4 = 0x06,
    kData8 = 0x07,
    kString = 0x08,
    kBlock = 0x09,
    kBlock1 = 0x0a,
    kData1 = 0x0b,
    kFlag = 0x0c,
    kSdata = 0x0d,
    kStrp = 0x0e,
    kUdata = 0x0f,
    kRefAddr = 0x10,
    kRef1 = 0x11,
    kRef2 = 0x12,
    kRef4 = 0x13,
    kRef8 = 0x14,
    kRefUdata = 0x15,
    kIndirect = 0x16,
    kSecOffset = 0x17,
    kExprloc = 0x18,
    kFlagPresent = 0x19,
    kStrx = 0x1a,
    kAddrx = 0x1b,
    kRefSup4 = 0x1c,
    kStrpSup = 0x1d,
    kData16 = 0x1e,
    kLineStrp = 0x1f,
    kRefSig8 = 0x20,
    kImplicitConst = 0x21,
    kLoclistx = 0x22,
    kRnglistx = 0x23,
    kRefSup8 = 0x24,
    kStrx1 = 0x25,
    kStrx2 = 0x26,
    kStrx3 = 0x27,
    kStrx4 = 0x28,
    kAddrx1 = 0x29,
    kAddrx2 = 0x2a,
    kAddrx3 = 0x2b,
    kAddrx4 = 0x2c
};

/// Reads forward; past the end it yields zeros and says so.
class Cursor {
  public:
    explicit Cursor(Bytes bytes) : bytes_(bytes) {}

    template <typename T>
    T take() {
        T value{};
        if (bytes_.size() < sizeof(T)) {
            fail();
            return value;
        }
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }
    uint64_t unsigned_leb();
    int64_t signed_leb();
    std::string_view string();
    Cursor sub(uint64_t bytes);
    void skip(uint64_t bytes) { sub(bytes); }
    bool done() const { return bytes_.empty() || failed_; }
    bool failed() const { return failed_; }
    size_t left() const { return bytes_.size(); }

  private:
    void fail() {
        failed_ = true;
        bytes_ = {};
    }

    Bytes bytes_;
    bool failed_ = false;
};

/// The debug sections of an ELF file; those that it lacks, or that are compressed, are empty.
struct Sections {
    explicit Sections(Bytes elf);

    Bytes lines;
    Bytes strings;
    Bytes line_strings;
    Bytes info;
    Bytes abbreviations;
    Bytes ranges;      // of versions before 5
    Bytes range_lists; // of version 5
    Bytes addresses;
};

/// `bytes` from `offset` on; nothing when they are not that long.
inline Bytes from(Bytes bytes, uint64_t offset) {
    return offset <= bytes.size() ? bytes.subspan(offset) : Bytes{};
}

} // namespace aivops::machine::dwarf

#endif // AIVOPS_MACHINE_DWARF_H
