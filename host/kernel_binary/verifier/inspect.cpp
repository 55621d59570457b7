#include "verifier/inspect.h"

#include "verifier/report.h"

#include <unordered_set>

namespace aivops::kernel_binary {
namespace {

void write_header(JsonWriter& json, const Image& image) {
    const ElfHeader& header = image.file.header();
    json.key("header").begin_object();
    json.key("bytes").value(image.bytes().size());
    json.key("e_type").value(header.type).key("e_machine").value(header.machine);
    json.key("e_version").value(header.version).key("e_flags").value(header.flags);
    json.key("sections").value(header.section_count);
    json.key("program_headers").value(header.program_header_count);
    json.key("contract_version");
    image.emulated() ? json.value(image.contract_version) : json.null();
    json.key("toolkit_version");
    image.emulated() ? json.value(printable(image.toolkit_version)) : json.null();
    json.end_object();
}

void write_sections(JsonWriter& json, const Image& image) {
    json.key("sections").begin_array();
    for (const Section& section : image.file.sections()) {
        json.begin_object().key("name").value(printable(section.name)).key("type").value(section.type);
        json.key("flags").value(section.flags).key("address").value(section.address);
        json.key("offset").value(section.offset).key("size").value(section.size).end_object();
    }
    json.end_array();
}

template <typename Text>
void write_records(JsonWriter& json, ByteView section, const char* (*name)(std::uint16_t), Text&& text) {
    json.begin_array();
    walk_records(section, [&](const Record& record) {
        json.begin_object().key("type").value(record.type).key("name").value(name(record.type));
        json.key("offset").value(record.offset).key("length").value(record.length);
        json.key("value").value(text(record)).end_object();
    });
    json.end_array();
}

void write_parameters(JsonWriter& json, const Image& image, const Kernel& kernel) {
    const auto section = image.layouts.find(kernel.name);
    std::string error;
    const auto layout = section == image.layouts.end() || image.layouts_overlap
                            ? std::nullopt
                            : read_layout(image.file.content(*section->second), error);
    if (!layout) {
        json.null();
        return;
    }
    json.begin_array();
    for (const Parameter& parameter : layout->parameters) {
        json.begin_object().key("name").value(printable(parameter.name)).key("offset").value(parameter.offset);
        json.key("size").value(parameter.size).key("kind").value(parameter.kind).end_object();
    }
    json.end_array();
}

// Symbols of one name share a section, so its records are written for the first one only.
void write_kernel(JsonWriter& json, const Image& image, const Kernel& kernel, bool first) {
    json.key("stack_size");
    kernel.meta == nullptr ? json.null() : json.value(kernel.meta->records.stack_size);
    json.key("parameters");
    first ? write_parameters(json, image, kernel) : static_cast<void>(json.null());
    const bool readable = first && kernel.meta != nullptr && !image.meta_overlaps;
    json.key("records");
    write_records(json, readable ? image.file.content(*kernel.meta->section) : ByteView(), kernel_record_name,
                  kernel_record_text);
}

void write_stack_record(JsonWriter& json, const Image& image) {
    constexpr std::uint64_t kShown = 256;
    const Section* section = image.file.find(kStackRecordSection);
    const ByteView content = section == nullptr ? ByteView() : image.file.content(*section);
    json.key("stack_record");
    if (section == nullptr) {
        json.null();
        return;
    }
    json.begin_array();
    for (std::uint64_t offset = 0; offset + 8 <= content.size() && offset < 8 * kShown; offset += 8) {
        json.value(content.little<std::uint64_t>(offset));
    }
    json.end_array();
}

} // namespace

std::string inspect_json(const Image& image, const FileReport& report) {
    JsonWriter json;
    std::unordered_set<std::string_view> written;
    const auto more_of_kernel = [&](std::size_t index) {
        const Kernel& kernel = image.kernels[index];
        write_kernel(json, image, kernel, written.insert(kernel.name).second);
    };
    const auto more_of_file = [&] {
        write_header(json, image);
        write_sections(json, image);
        const Section* binary = image.file.find(kBinaryMetaSection);
        json.key("binary_records");
        write_records(json, binary == nullptr ? ByteView() : image.file.content(*binary), binary_record_name,
                      binary_record_text);
        write_stack_record(json, image);
    };
    write_file_report(json, report, more_of_kernel, more_of_file);
    return json.text();
}

} // namespace aivops::kernel_binary
