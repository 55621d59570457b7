// Uses the header-only part of host/kernel_binary as the host library does: C++17, nothing to link. Prints what it
// reads, so that the tests can compare it with what Python makes of the same bytes.
#include "aivops/kernel_binary/image_summary.h"
#include "aivops/kernel_binary/manifest.h"

#include "contract.h"

#include <iostream>
#include <iterator>

namespace kb = aivops::kernel_binary;

// The records have one description in C, for what makes them, and one here, for what reads them without trusting them.
static_assert(sizeof(AivEmuContractRecord) == kb::kContractRecordBytes, "contract record");
static_assert(offsetof(AivEmuContractRecord, contract_version) == 8, "contract_version");
static_assert(offsetof(AivEmuContractRecord, npu_arch) == 12, "npu_arch");
static_assert(offsetof(AivEmuContractRecord, toolkit_version) == 16, "toolkit_version");
static_assert(sizeof(AivEmuLayoutHeader) == kb::kLayoutHeaderBytes, "layout header");
static_assert(offsetof(AivEmuLayoutHeader, layout_version) == 8, "layout_version");
static_assert(offsetof(AivEmuLayoutHeader, parameter_count) == 12, "parameter_count");
static_assert(offsetof(AivEmuLayoutHeader, args_size) == 16, "args_size");
static_assert(sizeof(AivEmuParameter) == kb::kLayoutParameterBytes, "parameter");
static_assert(offsetof(AivEmuParameter, size) == 4, "size");
static_assert(offsetof(AivEmuParameter, kind) == 8, "kind");
static_assert(offsetof(AivEmuParameter, name) == 16, "name");
static_assert(sizeof(AivEmuParameter::name) == 48, "name");
static_assert(AIVOPS_EMU_CONTRACT_VERSION == kb::kContractVersion, "contract version");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_STRUCT] == "struct", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_POINTER] == "pointer", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_INT] == "int", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_UINT] == "uint", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_FLOAT] == "float", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_BOOL] == "bool", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_HALF] == "half", "kind");
static_assert(kb::kParameterKinds[AIVOPS_EMU_PARAMETER_BFLOAT16] == "bfloat16", "kind");
static_assert(kb::kContractSection == AIVOPS_EMU_CONTRACT_SECTION, "section");
static_assert(kb::kLayoutPrefix == AIVOPS_EMU_LAYOUT_SECTION_PREFIX, "section");

namespace {

// One line per value, in the order of the document; objects show their keys.
void print(const kb::Json& value) {
    switch (value.kind) {
    case kb::Json::Kind::kNull:
        std::cout << "null\n";
        break;
    case kb::Json::Kind::kBool:
        std::cout << (value.boolean ? "true\n" : "false\n");
        break;
    case kb::Json::Kind::kInteger:
        std::cout << "integer " << value.integer << '\n';
        break;
    case kb::Json::Kind::kNumber:
        std::cout << "number " << value.text << '\n';
        break;
    case kb::Json::Kind::kString:
        std::cout << "string " << kb::sha256_hex({value.text.data(), value.text.size()}) << '\n';
        break;
    case kb::Json::Kind::kArray:
    case kb::Json::Kind::kObject:
        std::cout << (value.is(kb::Json::Kind::kArray) ? "array " : "object ") << value.items.size() << '\n';
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            if (value.is(kb::Json::Kind::kObject)) {
                std::cout << "key " << kb::sha256_hex({value.keys[i].data(), value.keys[i].size()}) << '\n';
            }
            print(value.items[i]);
        }
    }
}

void print(const kb::ImageSummary& summary) {
    std::cout << kb::machine_name(summary.machine) << ' ' << summary.architecture.name << ' '
              << summary.contract_version << ' ' << summary.toolkit_version << '\n';
    for (const auto& [kernel, layout] : summary.layouts) {
        std::cout << kernel << ' ' << layout.args_size;
        for (const kb::Parameter& parameter : layout.parameters) {
            std::cout << ' ' << parameter.name << ':' << parameter.kind << ':' << parameter.size << '@'
                      << parameter.offset;
        }
        std::cout << '\n';
    }
}

} // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "";
    try {
        if (what == "manifest") {
            const kb::Manifest manifest = kb::read_manifest(words[2]);
            for (const kb::ManifestBinary& binary : manifest.binaries) {
                std::cout << binary.path << ' ' << kb::read_binary(words[2], binary).size() << '\n';
            }
            return 0;
        }
        const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
        if (what == "sha256") {
            // In pieces of every length, so that blocks are filled and crossed.
            kb::Sha256 hash;
            for (std::size_t at = 0, step = 1; at < text.size(); at += step, step = step * 3 % 200 + 1) {
                hash.update({text.data() + at, std::min(step, text.size() - at)});
            }
            std::cout << hash.hex_digest() << '\n';
        } else if (what == "json") {
            print(kb::read_json(text));
        } else if (what == "summary") {
            print(kb::summarize_image({text.data(), text.size()}));
        }
    } catch (const std::runtime_error& error) {
        std::cout << "error: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
