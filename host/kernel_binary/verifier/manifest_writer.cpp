#include "verifier/manifest_writer.h"

#include "verifier/json_writer.h"

namespace aivops::kernel_binary {
namespace {

void write_parameters(JsonWriter& json, const std::optional<std::vector<Parameter>>& parameters) {
    if (!parameters) {
        json.null();
        return;
    }
    json.begin_array();
    for (const Parameter& parameter : *parameters) {
        json.begin_object().key("name").value(parameter.name).key("offset").value(parameter.offset);
        json.key("size").value(parameter.size).key("kind").value(parameter.kind).end_object();
    }
    json.end_array();
}

void write_binary(JsonWriter& json, const ManifestBinary& binary) {
    json.begin_object();
    if (!binary.path.empty()) {
        json.key("path").value(binary.path);
    }
    json.key("target").value(binary.target).key("sha256").value(binary.sha256).key("size").value(binary.size);
    json.key("machine").value(binary.machine).key("architecture").value(binary.architecture);
    json.key("toolkit").begin_object().key("name").value(binary.toolkit_name);
    json.key("version").value(binary.toolkit_version).end_object();
    json.key("kernels").begin_array();
    for (const ManifestKernel& kernel : binary.kernels) {
        json.begin_object().key("name").value(kernel.name).key("type").value(kernel.type);
        json.key("args_size").value(kernel.args_size).key("parameters");
        write_parameters(json, kernel.parameters);
        json.end_object();
    }
    json.end_array().end_object();
}

} // namespace

ManifestBinary describe_binary(const Image& image, const Provenance& provenance,
                               const std::map<std::string, KernelLayout>* layouts) {
    ManifestBinary binary;
    binary.target = provenance.target;
    binary.sha256 = sha256_hex(image.bytes());
    binary.size = image.bytes().size();
    binary.machine = machine_name(image.machine);
    binary.architecture = image.architecture.name;
    binary.toolkit_name = provenance.toolkit_name;
    binary.toolkit_version = provenance.toolkit_version;
    const ImageSummary own = summarize_image(image.bytes());
    const auto& known = image.emulated() ? own.layouts : layouts == nullptr ? own.layouts : *layouts;
    for (const Kernel& kernel : image.kernels) {
        ManifestKernel& entry = binary.kernels.emplace_back();
        entry.name = kernel.name;
        entry.type = kernel_type_name(kernel.meta == nullptr ? 0 : kernel.meta->records.type.value_or(0));
        entry.args_size = image.args_size(kernel);
        if (const auto layout = known.find(entry.name); layout != known.end()) {
            entry.args_size = layout->second.args_size;
            entry.parameters = layout->second.parameters;
        }
    }
    return binary;
}

std::string entry_json(const ManifestBinary& binary) {
    JsonWriter json;
    write_binary(json, binary);
    return json.text() + "\n";
}

std::string manifest_json(const Manifest& manifest) {
    JsonWriter json;
    json.begin_object().key("schema").value(kManifestSchema);
    json.key("generator").begin_object().key("name").value(manifest.generator_name);
    json.key("version").value(manifest.generator_version).end_object();
    json.key("binaries").begin_array();
    for (const ManifestBinary& binary : manifest.binaries) {
        write_binary(json, binary);
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

} // namespace aivops::kernel_binary
