#include "verifier/fix.h"

#include <algorithm>

namespace aivops::kernel_binary {
namespace {

constexpr char kVectorRecord[] = {1, 0, 4, 0, 3, 0, 0, 0};

// Whatever else is wrong is not made right by a record.
std::string find_obstacle(const Image& image, const VerifyOptions& options) {
    VerifyOptions strict = options;
    strict.profile = Profile::kAiv;
    const FileReport report = verify(image, strict);
    bool lacks_records = false;
    for (const Finding& finding : report.findings) {
        if (finding.rule == RuleId::META050 || finding.rule == RuleId::META059) {
            lacks_records = true;
        } else if (finding.severity == Severity::kError) {
            return rule_name(finding.rule) + ": " + finding.message + ", which a record does not mend";
        }
    }
    if (!lacks_records) {
        return "every kernel has its record already";
    }
    if (image.machine != Machine::kAscend) {
        return "it is an emulated binary: add AIVOPS_EXPORT_KERNEL to the source and rebuild it";
    }
    // Cube or mixed code under a vector type would run on the wrong cores: the very fault that the record prevents.
    const std::string_view name = image.architecture.name;
    if (name != "dav-c220-vec" && name != "dav-c310-vec") {
        return "its architecture is " + std::string(name) + ", so it may hold code for other cores than vector cores";
    }
    for (const Kernel& kernel : image.kernels) {
        if (has_mix_suffix(kernel.name)) {
            return "kernel " + printable(kernel.name) +
                   " is half of a mixed kernel by its name: K_TYPE_AIV would be wrong";
        }
    }
    return {};
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes[at + i] = static_cast<char>(value >> (8 * i));
    }
}

void align(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

void place(std::string& headers, std::size_t index, std::uint64_t offset, std::uint64_t size) {
    put(headers, index * elf::kSectionHeaderBytes + 24, offset, 8);
    put(headers, index * elf::kSectionHeaderBytes + 32, size, 8);
}

void append_header(std::string& headers, std::uint64_t name) {
    const std::size_t at = headers.size();
    headers.resize(at + elf::kSectionHeaderBytes, '\0');
    put(headers, at, name, 4);
    put(headers, at + 4, elf::kNote, 4);
    put(headers, at + 48, 4, 8);
}

bool lacks_record(const Kernel& kernel) {
    return kernel.meta == nullptr || !kernel.meta->records.type;
}

// Appends what is new behind the original's bytes: for each kernel its section, for one that has a section already this
// record and then the section's old content, then a longer name table and the section headers. The old headers go when
// they are the last thing in the file, as linkers write them.
std::string append_records(const Image& image) {
    const ElfFile& file = image.file;
    const ElfHeader& header = file.header();
    std::string bytes(file.bytes().text());
    std::string headers = bytes.substr(header.section_header_offset, header.section_count * elf::kSectionHeaderBytes);
    if (header.section_header_offset + headers.size() == bytes.size()) {
        bytes.resize(header.section_header_offset);
    }
    std::string names(file.content(file.sections()[header.name_section]).text());
    for (const Kernel& kernel : image.kernels) {
        if (!lacks_record(kernel)) {
            continue;
        }
        std::size_t index = headers.size() / elf::kSectionHeaderBytes;
        std::string content(kVectorRecord, sizeof(kVectorRecord));
        if (kernel.meta == nullptr) {
            append_header(headers, names.size());
            names += std::string(kKernelMetaPrefix) + std::string(kernel.name) + '\0';
        } else {
            index = static_cast<std::size_t>(kernel.meta->section - file.sections().data());
            content += file.content(*kernel.meta->section).text();
        }
        align(bytes, 16);
        place(headers, index, bytes.size(), content.size());
        bytes += content;
    }
    place(headers, header.name_section, bytes.size(), names.size());
    bytes += names;
    align(bytes, 8);
    put(bytes, 40, bytes.size(), 8);
    put(bytes, 60, headers.size() / elf::kSectionHeaderBytes, 2);
    return bytes + headers;
}

} // namespace

FixResult add_vector_records(const Image& image, const VerifyOptions& options) {
    FixResult result;
    result.refusal = find_obstacle(image, options);
    constexpr std::size_t kMostSections = 0xff00; // SHN_LORESERVE
    if (result.refusal.empty() && image.file.sections().size() + image.kernels.size() >= kMostSections) {
        result.refusal = "it would have more sections than an ELF header can count";
    }
    if (!result.refusal.empty()) {
        return result;
    }
    for (const Kernel& kernel : image.kernels) {
        if (lacks_record(kernel)) {
            result.added.push_back(printable(kernel.name));
        }
    }
    std::string bytes = append_records(image);
    const Image fixed(ByteView(bytes.data(), bytes.size()));
    VerifyOptions strict = options;
    strict.profile = Profile::kAiv;
    for (const Finding& finding : verify(fixed, strict).findings) {
        if (finding.severity == Severity::kError) {
            result.refusal = "with the records it would have " + rule_name(finding.rule) + ": " + finding.message;
            return result;
        }
    }
    result.bytes = std::move(bytes);
    return result;
}

} // namespace aivops::kernel_binary
