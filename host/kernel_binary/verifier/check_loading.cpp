// How the image gets to the device: the runtime copies the bytes between the first and the last loaded section and adds
// a kernel's address to where it put them; the emulator hands its shared object to the host's loader.
#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

bool is_loaded(const Section& section) {
    return section.allocated() && section.size != 0;
}

const Section* first_loaded(const Image& image) {
    for (const Section& section : image.file.sections()) {
        if (is_loaded(section)) {
            return &section;
        }
    }
    return nullptr;
}

void check_device_image(const Checking& checking, const Section& first) {
    const ElfFile& file = checking.image.file;
    const bool linked = file.header().type != elf::kTypeRelocatable;
    if (first.address != 0) {
        checking.add(RuleId::META017, {.section = first.name,
                                       .offset = first.offset,
                                       .message = section_entity(first.name) + " is loaded first and has an address",
                                       .expected = "address 0",
                                       .found = hex(first.address)});
    }
    const Section* last = &first;
    const Section* writable = nullptr;
    bool has_data = false;
    std::uint64_t end = first.offset;
    for (const Section& section : file.sections()) {
        if (!is_loaded(section)) {
            continue;
        }
        if (section.type == elf::kNobits || section.offset < last->offset) {
            checking.add(RuleId::META019,
                         {.section = section.name,
                          .offset = section.offset,
                          .message = section_entity(section.name) + (section.type == elf::kNobits
                                                                         ? " has no bytes in the file (NOBITS)"
                                                                         : " lies before the one it follows"),
                          .expected = "loaded sections with bytes, in the order of their offsets"});
        } else if (section.offset - first.offset != section.address - first.address) {
            checking.add(RuleId::META018, linked ? Severity::kError : Severity::kInfo,
                         {.section = section.name,
                          .offset = section.offset,
                          .message = section_entity(section.name) + " has another address than its place in the image",
                          .expected = hex(section.offset - first.offset),
                          .found = hex(section.address)});
        }
        if (section.writable()) {
            writable = writable == nullptr ? &section : writable;
            has_data = has_data || section.name == ".data";
        }
        end = section.offset + section.size;
        last = &section;
    }
    if (writable != nullptr && !has_data) {
        checking.add(RuleId::META020, {.section = writable->name,
                                       .offset = writable->offset,
                                       .message = section_entity(writable->name) + " is writable but not called .data",
                                       .expected = ".data"});
    }
    const std::uint64_t image_bytes = end > first.offset ? end - first.offset : 0;
    if (last->type != elf::kNobits && !file.bytes().contains(last->offset, last->size)) {
        checking.add(RuleId::META019, {.section = last->name,
                                       .offset = last->offset,
                                       .message = "the image ends behind the file",
                                       .expected = counted(file.bytes().size(), "byte"),
                                       .found = hex(end)});
    } else if (image_bytes > 0x7fffffff) {
        checking.add(RuleId::META105, {.section = last->name,
                                       .offset = last->offset,
                                       .message = "the image is too large",
                                       .expected = "at most 2147483647 bytes",
                                       .found = counted(image_bytes, "byte")});
    }
}

bool maps(const Segment& segment, const Section& section) {
    const std::uint64_t into = section.address - segment.address;
    return section.address >= segment.address && into <= segment.memory_bytes &&
           section.size <= segment.memory_bytes - into &&
           (section.type == elf::kNobits || section.offset - segment.offset == into);
}

void check_host_image(const Checking& checking) {
    const ElfFile& file = checking.image.file;
    const ElfHeader& header = file.header();
    std::vector<Segment> loads;
    const bool readable = header.program_header_bytes == elf::kProgramHeaderBytes &&
                          file.bytes().contains(header.program_header_offset,
                                                std::uint64_t{header.program_header_count} * elf::kProgramHeaderBytes);
    for (std::uint64_t i = 0; readable && i < header.program_header_count; ++i) {
        const Segment segment = file.segment(i);
        if (segment.type == elf::kSegmentLoad) {
            loads.push_back(segment);
        }
    }
    bool inside = !loads.empty();
    for (const Segment& segment : loads) {
        inside = inside && file.bytes().contains(segment.offset, segment.file_bytes);
    }
    // Linkers write a handful of segments; a file with thousands is no linker's work and would be slow to check.
    constexpr std::size_t kMostSegments = 64;
    if (!inside || loads.size() > kMostSegments) {
        checking.add(RuleId::META017, {.offset = header.program_header_offset,
                                       .message = "the host's loader cannot map the file",
                                       .expected = "1 to 64 PT_LOAD segments inside the file",
                                       .found = std::to_string(loads.size()) + " segments"});
        return;
    }
    for (const Section& section : file.sections()) {
        if (!is_loaded(section) || (section.flags & elf::kFlagTls) != 0) {
            continue;
        }
        bool mapped = false;
        for (const Segment& segment : loads) {
            mapped = mapped || maps(segment, section);
        }
        if (!mapped) {
            checking.add(RuleId::META018,
                         {.section = section.name,
                          .offset = section.offset,
                          .message = section_entity(section.name) + " does not lie where a segment maps it",
                          .found = "address " + hex(section.address)});
        }
    }
}

} // namespace

void check_loading(const Checking& checking) {
    const Section* first = first_loaded(checking.image);
    if (first == nullptr) {
        checking.add(RuleId::META016, {.message = "the image has nothing to load",
                                       .expected = "a section with ALLOC and a size, usually .text"});
    } else if (checking.image.emulated()) {
        // An unlinked file has no segments yet: META005 has said so.
        if (checking.image.file.header().type == elf::kTypeShared) {
            check_host_image(checking);
        }
    } else {
        check_device_image(checking, *first);
    }
}

} // namespace aivops::kernel_binary
