#include "dwarf.h"

#include <algorithm>
#include <elf.h>
#include <utility>

namespace aivops::machine::dwarf {

uint64_t Cursor::unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        auto byte = take<uint8_t>();
        value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
        if ((byte & 0x80) == 0 || failed_) {
            return value;
        }
    }
}

int64_t Cursor::signed_leb() {
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

std::string_view Cursor::string() {
    std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    size_t length = text.find('\0');
    if (length == std::string_view::npos) {
        fail();
        return {};
    }
    bytes_ = bytes_.subspan(length + 1);
    return text.substr(0, length);
}

Cursor Cursor::sub(uint64_t bytes) {
    if (bytes > bytes_.size()) {
        failed_ = true;
        bytes = bytes_.size();
    }
    Cursor part(bytes_.first(bytes));
    bytes_ = bytes_.subspan(bytes);
    return part;
}

Sections::Sections(Bytes elf) {
    Elf64_Ehdr header;
    if (elf.size() < sizeof header) {
        return;
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
    const std::pair<std::string_view, Bytes*> wanted[] = {
        {".debug_line", &lines},     {".debug_str", &strings},          {".debug_line_str", &line_strings},
        {".debug_info", &info},      {".debug_abbrev", &abbreviations}, {".debug_ranges", &ranges},
        {".debug_addr", &addresses}, {".debug_rnglists", &range_lists},
    };
    Bytes names = content(section(header.e_shstrndx));
    for (size_t index = 0; index < header.e_shnum; ++index) {
        Elf64_Shdr read = section(index);
        if (read.sh_name >= names.size()) {
            continue;
        }
        std::string_view name = Cursor(names.subspan(read.sh_name)).string();
        auto found = std::ranges::find(wanted, name, [](const auto& pair) { return pair.first; });
        if (found != std::end(wanted)) {
            *found->second = content(read);
        }
    }
}

} // namespace aivops::machine::dwarf
