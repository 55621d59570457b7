// Symbols: which of them the runtime takes for kernels, and whether each is one.
#include "verifier/checks.h"

#include <deque>

namespace aivops::kernel_binary {
namespace {

void check_table(const Checking& checking) {
    const Image& image = checking.image;
    const Section* first = image.symbol_section;
    if (first == nullptr) {
        checking.add(RuleId::META013, {.message = "the file has no symbol table", .expected = "a SYMTAB section"});
        return;
    }
    if (!image.file.symbols_of(*first)) {
        checking.add(RuleId::META014,
                     {.section = first->name,
                      .offset = first->offset,
                      .message = "the symbol table cannot be read",
                      .expected = "whole entries of 24 bytes and a STRTAB",
                      .found = counted(first->size, "byte") + " in entries of " + std::to_string(first->entry_bytes) +
                               ", linked to section " + std::to_string(first->link)});
    }
    std::size_t tables = 0;
    for (const Section& section : image.file.sections()) {
        tables += section.type == elf::kSymtab ? 1 : 0;
    }
    if (tables > 1) {
        checking.add(RuleId::META015, {.section = first->name,
                                       .offset = first->offset,
                                       .message = "the file has several symbol tables",
                                       .expected = "1",
                                       .found = std::to_string(tables)});
    }
}

void report_undefined(const Checking& checking, const Symbol& symbol, std::uint64_t offset) {
    checking.add(RuleId::META021, {.offset = offset,
                                   .message = "symbol " + printable(symbol.name) + " is not defined",
                                   .expected = "a definition in this binary"});
}

// What the host's C and C++ libraries provide has a version; a name that nothing provides has none.
void check_imports(const Checking& checking) {
    const ElfFile& file = checking.image.file;
    const Section* dynamic = nullptr;
    ByteView versions;
    for (const Section& section : file.sections()) {
        if (section.type == elf::kDynsym && dynamic == nullptr) {
            dynamic = &section;
        } else if (section.type == elf::kVersionIndices) {
            versions = file.content(section);
        }
    }
    const auto symbols = dynamic == nullptr ? std::nullopt : file.symbols_of(*dynamic);
    // A C library without symbol versions (musl) leaves nothing to tell the two apart.
    if (!symbols || versions.empty()) {
        return;
    }
    constexpr std::uint16_t kFirstVersion = 2;
    for (std::uint64_t i = 1; i < symbols->count(); ++i) {
        const Symbol symbol = symbols->at(i);
        const auto version = static_cast<std::uint16_t>(versions.little<std::uint16_t>(i * 2) & 0x7fff);
        if (symbol.section == elf::kUndefinedSection && symbol.binding == elf::kGlobal && version < kFirstVersion) {
            report_undefined(checking, symbol, dynamic->offset + i * elf::kSymbolBytes);
        }
    }
}

void check_entries(const Checking& checking) {
    const Image& image = checking.image;
    for (std::uint64_t i = 1; i < image.symbols->count(); ++i) {
        const Symbol symbol = image.symbols->at(i);
        const std::uint64_t offset = image.symbol_section->offset + i * elf::kSymbolBytes;
        if (symbol.name_offset != 0 && !image.symbols->names().holds(symbol.name_offset)) {
            checking.add(RuleId::META014, {.offset = offset,
                                           .message = "symbol " + std::to_string(i) + " has no readable name",
                                           .expected = "a name that begins and ends inside the string table",
                                           .found = "st_name " + hex(symbol.name_offset)});
        }
        if (!image.emulated() && symbol.section == elf::kUndefinedSection && symbol.name_offset != 0) {
            report_undefined(checking, symbol, offset);
        }
        if (symbol.type == elf::kObject && symbol.section >= image.file.sections().size()) {
            checking.add(RuleId::META084,
                         {.offset = offset,
                          .message = "symbol " + printable(symbol.name) + " is in no section",
                          .expected = "a section index below " + std::to_string(image.file.sections().size()),
                          .found = hex(symbol.section)});
        }
    }
    if (image.emulated()) {
        check_imports(checking);
    }
}

void check_kernel_place(const Checking& checking, const Kernel& kernel) {
    const Image& image = checking.image;
    const Symbol symbol = image.symbols->at(kernel.symbol);
    const std::uint64_t offset = image.symbol_section->offset + kernel.symbol * elf::kSymbolBytes;
    const bool in_section = symbol.section != elf::kUndefinedSection && symbol.section < image.file.sections().size();
    const Section* section = in_section ? &image.file.sections()[symbol.section] : nullptr;
    if (section == nullptr || !section->executable()) {
        checking.add(RuleId::META034,
                     {.kernel = kernel.name,
                      .section = section == nullptr ? std::string_view() : section->name,
                      .offset = offset,
                      .message = kernel_entity(kernel.name) + " is not in an executable section",
                      .expected = "a section with EXECINSTR, usually .text",
                      .found = section == nullptr ? "section index " + hex(symbol.section) : printable(section->name)});
    } else if (symbol.value < section->address || symbol.value - section->address > section->size ||
               symbol.size > section->size - (symbol.value - section->address)) {
        checking.add(RuleId::META033, Severity::kError,
                     {.kernel = kernel.name,
                      .section = section->name,
                      .offset = offset,
                      .message = kernel_entity(kernel.name) + " leaves its section",
                      .expected = "inside " + hex(section->address) + " to " + hex(section->address + section->size),
                      .found = counted(symbol.size, "byte") + " at " + hex(symbol.value)});
    }
    if (symbol.size == 0) {
        checking.add(RuleId::META033, Severity::kWarning,
                     {.kernel = kernel.name,
                      .offset = offset,
                      .message = kernel_entity(kernel.name) + " has size 0",
                      .expected = "the size of its code"});
    }
    if (symbol.value % 4 != 0) {
        checking.add(RuleId::META035, {.kernel = kernel.name,
                                       .offset = offset,
                                       .message = kernel_entity(kernel.name) + " is misaligned",
                                       .expected = "a multiple of 4",
                                       .found = hex(symbol.value)});
    }
}

void check_kernel_name(const Checking& checking, std::string_view name) {
    if (name.size() >= elf::kNameLimit) {
        checking.add(RuleId::META037, Severity::kError,
                     {.kernel = name,
                      .message = kernel_entity(name) + " has a name that the runtime skips",
                      .expected = "fewer than 4096 bytes"});
    } else if (has_mix_suffix(name)) {
        const std::string registered = registered_name(name);
        if (!name.starts_with(registered)) {
            checking.add(RuleId::META037, Severity::kWarning,
                         {.kernel = name,
                          .message = kernel_entity(name) + " has its mix suffix in the middle of the name",
                          .expected = "the suffix at the end",
                          .found = "registered as " + printable(registered)});
        }
    }
}

// How often a registered name occurs, by the suffix it was cut from.
struct Occurrences {
    std::string_view first;
    std::uint64_t cube = 0;
    std::uint64_t vector = 0;
    std::uint64_t plain = 0;

    bool one_pair_or_single() const {
        return (plain == 0 && cube <= 1 && vector <= 1) || (plain == 1 && cube + vector == 0);
    }
};

void check_registered_names(const Checking& checking) {
    const std::vector<Kernel>& kernels = checking.image.kernels;
    if (kernels.size() < 2) {
        return;
    }
    std::deque<std::string> stripped; // owns the names that had to be changed
    std::unordered_map<std::string_view, Occurrences> names;
    std::unordered_map<std::uint64_t, std::string_view> keys;
    for (const Kernel& kernel : kernels) {
        std::string_view registered = kernel.name;
        const bool mixed = has_mix_suffix(kernel.name);
        if (mixed) {
            registered = stripped.emplace_back(registered_name(kernel.name));
        }
        Occurrences& occurrences = names[registered];
        const bool collided = !occurrences.one_pair_or_single() && occurrences.first.data() != nullptr;
        const bool cube = mixed && kernel.name.find("_mix_aic") != std::string_view::npos;
        occurrences.cube += cube ? 1 : 0;
        occurrences.vector += mixed && !cube ? 1 : 0;
        occurrences.plain += mixed ? 0 : 1;
        if (occurrences.first.data() == nullptr) {
            occurrences.first = kernel.name;
            const std::uint64_t key = tiling_key(registered).value_or(0);
            const auto [place, fresh] = keys.emplace(key, registered);
            if (!fresh && !checking.findings.has(RuleId::META039)) {
                checking.add(RuleId::META039, {.kernel = kernel.name,
                                               .message = kernel_entity(registered) + " and kernel " +
                                                          printable(place->second) + " have one tiling key",
                                               .found = std::to_string(key)});
            }
        } else if (!occurrences.one_pair_or_single() && !collided) {
            checking.add(RuleId::META038, {.kernel = kernel.name,
                                           .message = kernel_entity(kernel.name) + " collides with kernel " +
                                                      printable(occurrences.first),
                                           .expected = "one name, or one pair of _mix_aic and _mix_aiv",
                                           .found = "both are registered as " + printable(registered)});
        }
    }
}

} // namespace

void check_symbols(const Checking& checking) {
    check_table(checking);
    if (!checking.image.symbols) {
        return;
    }
    check_entries(checking);
    for (const Kernel& kernel : checking.image.kernels) {
        check_kernel_place(checking, kernel);
        check_kernel_name(checking, kernel.name);
    }
    check_registered_names(checking);
}

} // namespace aivops::kernel_binary
