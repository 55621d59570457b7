#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

void check_names(const Checking& checking) {
    const ElfFile& file = checking.image.file;
    if (!file.has_section_names()) {
        checking.add(RuleId::META009, {.offset = 62,
                                       .message = "the section names cannot be read",
                                       .expected = "e_shstrndx of a STRTAB section that is not empty",
                                       .found = std::to_string(file.header().name_section) + " of " +
                                                counted(file.sections().size(), "section")});
        return;
    }
    std::uint64_t index = 0;
    for (const Section& section : file.sections()) {
        if (!file.section_names().holds(section.name_offset)) {
            checking.add(RuleId::META011,
                         {.offset = file.header().section_header_offset + index * elf::kSectionHeaderBytes,
                          .message = "section " + std::to_string(index) + " has no readable name",
                          .expected = "a name that begins and ends inside .shstrtab",
                          .found = "sh_name " + hex(section.name_offset)});
        }
        ++index;
    }
}

void check_ranges(const Checking& checking) {
    const ElfFile& file = checking.image.file;
    std::uint64_t index = 0;
    for (const Section& section : file.sections()) {
        const std::uint64_t header = file.header().section_header_offset + index * elf::kSectionHeaderBytes;
        if (section.occupies_file() && !file.bytes().contains(section.offset, section.size)) {
            checking.add(RuleId::META010, {.section = section.name,
                                           .offset = header,
                                           .message = section_entity(section.name) + " leaves the file",
                                           .expected = "inside " + counted(file.bytes().size(), "byte"),
                                           .found = hex(section.size) + " bytes at " + hex(section.offset)});
        }
        if (section.link >= file.sections().size()) {
            checking.add(RuleId::META012,
                         {.section = section.name,
                          .offset = header,
                          .message = section_entity(section.name) + " links to a section that is not there",
                          .expected = "sh_link below " + std::to_string(file.sections().size()),
                          .found = std::to_string(section.link)});
        }
        ++index;
    }
    if (checking.image.meta_overlaps || checking.image.layouts_overlap) {
        checking.add(RuleId::META010,
                     {.message = "the sections with records overlap: together they are larger than the file",
                      .fix = "do not post-process the sections; rebuild it"});
    }
}

bool is_relocation(const Section& section) {
    return section.type == elf::kRela || section.type == elf::kRel;
}

void check_leftovers(const Checking& checking) {
    std::uint64_t relocations = 0;
    const Section* first_relocation = nullptr;
    const Section* debug = nullptr;
    const Section* frame = nullptr;
    for (const Section& section : checking.image.file.sections()) {
        if (is_relocation(section)) {
            relocations += section.size;
            first_relocation = first_relocation == nullptr ? &section : first_relocation;
        }
        if (section.name == ".debug_frame") {
            frame = &section;
        } else if (section.name.starts_with(".debug_")) {
            debug = debug == nullptr ? &section : debug;
        }
    }
    if (first_relocation != nullptr) {
        checking.add(RuleId::META022, {.section = first_relocation->name,
                                       .offset = first_relocation->offset,
                                       .message = "relocations are kept",
                                       .found = counted(relocations, "byte")});
    }
    if (debug != nullptr) {
        checking.add(RuleId::META100, Severity::kWarning,
                     {.section = debug->name,
                      .offset = debug->offset,
                      .message = "debug sections are kept",
                      .found = counted(debug->size, "byte") + " in the first one"});
    } else if (frame != nullptr) {
        checking.add(RuleId::META100, Severity::kInfo,
                     {.section = frame->name,
                      .offset = frame->offset,
                      .message = "the call frame table is kept",
                      .found = counted(frame->size, "byte")});
    }
}

} // namespace

bool check_sections(const Checking& checking) {
    check_names(checking);
    check_ranges(checking);
    if (!checking.image.file.has_section_names()) {
        return false;
    }
    check_leftovers(checking);
    return true;
}

} // namespace aivops::kernel_binary
