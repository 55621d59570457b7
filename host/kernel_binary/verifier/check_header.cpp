#include "verifier/checks.h"

namespace aivops::kernel_binary {
namespace {

constexpr std::uint64_t kMostBytes = 4ull << 30; // twice the largest image, for what is not loaded

bool check_machine(const Checking& checking) {
    const Image& image = checking.image;
    const ElfHeader& header = image.file.header();
    const std::string found = hex(header.machine) + " (" + std::to_string(header.machine) + ")";
    if (image.machine == Machine::kUnknown) {
        const bool host = header.machine == kMachineX86 || header.machine == kMachineArm;
        checking.add(RuleId::META004, {.offset = 18,
                                       .message = host ? "the file is an object of the host without a " +
                                                             std::string(kContractSection) + " record: no kernel binary"
                                                       : "the file is for an ELF machine that is not a device's",
                                       .expected = "0x1029 (ascend), or an emulated binary",
                                       .found = found});
        return false;
    }
    if (!image.contract_error.empty()) {
        checking.add(RuleId::META004,
                     {.section = kContractSection,
                      .message = "the contract record cannot be used: " + image.contract_error,
                      .expected = "equal records of " + std::to_string(kContractRecordBytes) + " bytes"});
        return false;
    }
    if (image.emulated() && image.contract_version != kContractVersion) {
        checking.add(RuleId::META004, {.section = kContractSection,
                                       .message = "the binary was built for another version of the emulator's contract",
                                       .expected = std::to_string(kContractVersion),
                                       .found = std::to_string(image.contract_version) + " (toolkit " +
                                                printable(image.toolkit_version) + ")",
                                       .fix = "rebuild the kernels with the toolkit of this aivops"});
        return false;
    }
    const Machine wanted = checking.options.machine;
    if (wanted != Machine::kUnknown && wanted != image.machine) {
        checking.add(RuleId::META004, {.offset = 18,
                                       .message = "the binary is for another machine than the one asked for",
                                       .expected = std::string(machine_name(wanted)),
                                       .found = std::string(machine_name(image.machine))});
    }
    return true;
}

void check_architecture(const Checking& checking) {
    const Image& image = checking.image;
    const std::string_view section = image.emulated() ? kContractSection : std::string_view();
    const std::optional<std::uint64_t> offset = image.emulated() ? std::nullopt : std::optional<std::uint64_t>(48);
    if (image.architecture.generation == Generation::kUnknown) {
        checking.add(RuleId::META007, Severity::kWarning,
                     {.section = section,
                      .offset = offset,
                      .message = "the binary is for an architecture that is not known",
                      .expected = checking.options.architecture,
                      .found = image.emulated() ? "an unknown npu_arch" : "e_flags " + hex(image.file.header().flags)});
    } else if (checking.options.generation != Generation::kUnknown &&
               checking.options.generation != image.architecture.generation) {
        checking.add(RuleId::META007, Severity::kError,
                     {.section = section,
                      .offset = offset,
                      .message = "the binary is for another architecture than the one asked for",
                      .expected = checking.options.architecture,
                      .found = std::string(image.architecture.name)});
    }
}

} // namespace

bool check_header(const Checking& checking) {
    const ElfFile& file = checking.image.file;
    const ElfHeader& header = file.header();
    const std::string size = counted(file.bytes().size(), "byte");
    if (file.bytes().empty()) {
        checking.add(RuleId::META105,
                     {.message = "the file is empty",
                      .found = size,
                      .fix = "rebuild or copy it again: a full disk or a broken download leaves such a file"});
        return false;
    }
    if (file.bytes().size() > kMostBytes) {
        checking.add(RuleId::META105, {.message = "the file is far larger than any image",
                                       .expected = "at most " + std::to_string(kMostBytes) + " bytes",
                                       .found = size});
        return false; // what it says would take long to read
    }
    if (!file.has_magic()) {
        const bool is_short = file.bytes().size() < elf::kHeaderBytes;
        checking.add(RuleId::META001,
                     {.offset = 0,
                      .message = is_short ? "the file is too short for an ELF header" : "the file is no ELF",
                      .expected = is_short ? "64 bytes or more" : "7f 45 4c 46",
                      .found = is_short ? size : hex(file.bytes().big<std::uint32_t>(0))});
        return false;
    }
    if (header.file_class != 2) {
        checking.add(RuleId::META002, {.offset = 4,
                                       .message = "the file is no 64-bit ELF",
                                       .expected = "EI_CLASS 2",
                                       .found = "EI_CLASS " + std::to_string(header.file_class)});
        return false;
    }
    if (header.data_encoding != 1) {
        checking.add(RuleId::META003, {.offset = 5,
                                       .message = "the file is no little-endian ELF",
                                       .expected = "EI_DATA 1",
                                       .found = "EI_DATA " + std::to_string(header.data_encoding)});
        return false;
    }
    if (!file.has_section_table()) {
        checking.add(RuleId::META008,
                     {.offset = 40,
                      .message = "the section headers cannot be read: the file is cut, or its header is wrong",
                      .expected = "headers of 64 bytes inside " + size,
                      .found = std::to_string(header.section_count) + " headers of " +
                               counted(header.section_header_bytes, "byte") + " at " +
                               hex(header.section_header_offset)});
        return false;
    }
    if (!check_machine(checking)) {
        return false;
    }
    const bool emulated = checking.image.emulated();
    const std::uint16_t type = emulated ? elf::kTypeShared : elf::kTypeExecutable;
    if (header.type != type) {
        checking.add(RuleId::META005,
                     {.offset = 16,
                      .message = header.type == elf::kTypeRelocatable ? "the file is not linked"
                                                                      : "the file is linked in another way",
                      .expected = emulated ? "ET_DYN (3)" : "ET_EXEC (2)",
                      .found = "e_type " + std::to_string(header.type)});
    }
    const std::uint32_t stack_code = header.version & 0xffffff00u;
    if (header.version != 1 && stack_code != 0x5a5a0100u && stack_code != 0x5a5a0200u) {
        checking.add(RuleId::META006, {.offset = 20,
                                       .message = "the file has an e_version that means nothing",
                                       .expected = "1",
                                       .found = hex(header.version)});
    }
    check_architecture(checking);
    return true;
}

} // namespace aivops::kernel_binary
