#include "own_functions.h"

#include "file.h"

#include "aivops/kernel_binary/elf.h"

#include <cstdint>
#include <set>
#include <string_view>

namespace aivops::ccec {
namespace {

using kernel_binary::ByteView;
using kernel_binary::ElfFile;
using kernel_binary::Section;
using kernel_binary::Symbol;
using kernel_binary::SymbolTable;
namespace elf = kernel_binary::elf;

constexpr std::uint32_t kGroup = 17; // SHT_GROUP
constexpr std::uint64_t kFlagGroup = 0x200;

template <typename T>
void put_little(std::string& bytes, std::uint64_t offset, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes[offset + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

class Object {
  public:
    explicit Object(const std::string& path)
        : content_(read_file(path)), elf_(ByteView(content_.data(), content_.size())) {
        for (const Section& section : elf_.sections()) {
            if (section.type != elf::kSymtab)
                continue;
            if (auto symbols = elf_.symbols_of(section)) {
                table_ = &section;
                symbols_ = *symbols;
            }
        }
    }
    Object(const Object&) = delete; // elf_ looks into content_
    Object& operator=(const Object&) = delete;

    void add_undefined_names(std::set<std::string>& names) const {
        for (std::uint64_t i = 1; i < symbols_.count(); ++i) {
            if (symbols_.at(i).section == elf::kUndefinedSection)
                names.emplace(name_of(symbols_.at(i)));
        }
    }

    // The object with `suffix` behind the names of its inline functions but those in `shared`.
    std::string with_own_functions(const std::string& suffix, const std::set<std::string>& shared) const {
        std::string result = content_;
        if (!table_)
            return result;
        const Section& strings = elf_.sections()[table_->link];
        std::string names(elf_.content(strings).text());
        std::set<std::uint32_t> own_sections;
        for (std::uint64_t i = 1; i < symbols_.count(); ++i) {
            const Symbol symbol = symbols_.at(i);
            if (!is_inline_code(symbol) || shared.contains(std::string(name_of(symbol))))
                continue;
            put_little(result, table_->offset + i * elf::kSymbolBytes, static_cast<std::uint32_t>(names.size()));
            names.append(name_of(symbol)).append(suffix).push_back('\0');
            own_sections.insert(symbol.section);
        }
        keep_groups_of(own_sections, result);
        // Behind everything else, so that nothing moves.
        const std::uint64_t header = header_of(strings);
        put_little(result, header + 24, static_cast<std::uint64_t>(result.size()));
        put_little(result, header + 32, static_cast<std::uint64_t>(names.size()));
        return result + names;
    }

  private:
    // Whole, however long; SymbolTable cuts names.
    std::string_view name_of(const Symbol& symbol) const {
        const std::string_view names = elf_.content(elf_.sections()[table_->link]).text();
        if (!symbols_.names().holds(symbol.name_offset))
            return {};
        return names.substr(symbol.name_offset, names.find('\0', symbol.name_offset) - symbol.name_offset);
    }

    // A function, or a table of virtual functions, that a linker would merge with others of its name.
    bool is_inline_code(const Symbol& symbol) const {
        return symbol.binding == elf::kWeak && symbol.section < elf_.sections().size() &&
               (elf_.sections()[symbol.section].flags & kFlagGroup) != 0 &&
               (symbol.type == elf::kFunction || symbol.name.starts_with("_ZTV"));
    }

    // A group that is not marked as one of many is kept whatever other objects hold.
    void keep_groups_of(const std::set<std::uint32_t>& sections, std::string& result) const {
        for (const Section& group : elf_.sections()) {
            if (group.type != kGroup)
                continue;
            const ByteView words = elf_.content(group);
            for (std::uint64_t offset = 4; offset < words.size(); offset += 4) {
                if (sections.contains(words.little<std::uint32_t>(offset)))
                    put_little(result, group.offset, std::uint32_t{0});
            }
        }
    }

    std::uint64_t header_of(const Section& section) const {
        const auto index = static_cast<std::uint64_t>(&section - elf_.sections().data());
        return elf_.header().section_header_offset + index * elf::kSectionHeaderBytes;
    }

    std::string content_;
    ElfFile elf_;
    const Section* table_ = nullptr;
    SymbolTable symbols_;
};

} // namespace

std::vector<std::string> copy_with_own_functions(const std::vector<std::string>& objects,
                                                 const std::filesystem::path& folder) {
    std::set<std::string> shared;
    for (const std::string& path : objects)
        Object(path).add_undefined_names(shared);
    std::vector<std::string> copies;
    for (const std::string& path : objects) {
        const std::string number = std::to_string(copies.size() + 1);
        const std::filesystem::path copy = folder / number / std::filesystem::path(path).filename();
        std::filesystem::create_directory(copy.parent_path());
        write_file(copy, Object(path).with_own_functions("." + number, shared));
        copies.push_back(copy.string());
    }
    return copies;
}

} // namespace aivops::ccec
