#include "verifier/sidecar.h"

#include "aivops/kernel_binary/json.h"
#include "aivops/kernel_binary/sha256.h"

#include <algorithm>
#include <unordered_set>

namespace aivops::kernel_binary {
namespace {

void check_hash(const Image& image, const Json& document, FindingList& findings) {
    const Json* hash = document.find("sha256");
    if (hash == nullptr) {
        return;
    }
    const std::string found = sha256_hex(image.bytes());
    if (hash->text != found) {
        findings.add(RuleId::META104, {.message = "the JSON file beside the binary is for other bytes",
                                       .expected = "sha256 " + printable(hash->text),
                                       .found = "sha256 " + found});
    }
}

void check_debug(const Json& document, FindingList& findings) {
    const Json* options = document.find("debugOptions");
    if (options != nullptr && options->text.find("printf") != std::string::npos) {
        findings.add(RuleId::META104,
                     {.message = "the JSON file beside the binary asks for printf: the load is refused",
                      .expected = "debugOptions without printf",
                      .found = printable(options->text),
                      .fix = "build without printing on the device"});
    }
}

// The list has registered names (without the mix suffix) or symbol names.
void check_kernels(const Image& image, const Json& document, FindingList& findings) {
    const Json* list = document.find("kernelList");
    if (list == nullptr || !list->is(Json::Kind::kArray)) {
        return;
    }
    std::unordered_set<std::string> names;
    for (const Kernel& kernel : image.kernels) {
        names.emplace(kernel.name);
        names.insert(registered_name(kernel.name));
    }
    for (const Json& item : list->items) {
        const Json* name = item.is(Json::Kind::kObject) ? item.find("kernelName") : &item;
        if (name != nullptr && name->is(Json::Kind::kString) && !names.contains(name->text)) {
            findings.add(RuleId::META104, Severity::kWarning,
                         {.kernel = name->text,
                          .message = "the JSON file beside the binary names kernel " + printable(name->text) +
                                     ", which is not there",
                          .expected = "kernels of the binary"});
        }
    }
}

void check_synchronisation(const Image& image, const Json& document, FindingList& findings) {
    const Json* sync = document.find("intercoreSync");
    if (sync == nullptr || !sync->is(Json::Kind::kInteger) || image.kernels.empty()) {
        return;
    }
    const bool needed = std::ranges::any_of(image.kernels, [](const Kernel& kernel) {
        const auto type = kernel.meta == nullptr ? std::nullopt : kernel.meta->records.type;
        const bool mixed = type == kernel_type::kMixCubeMain || type == kernel_type::kMixVectorMain;
        return mixed || (kernel.meta != nullptr && kernel.meta->records.cross_core == 1u);
    });
    const bool typed = std::ranges::all_of(image.kernels, [](const Kernel& kernel) {
        return kernel.meta != nullptr && kernel.meta->records.type.has_value();
    });
    // A binary without types says nothing that the JSON file could contradict.
    if (typed && (sync->integer == 1) != needed) {
        findings.add(RuleId::META104, Severity::kWarning,
                     {.message = "the JSON file beside the binary disagrees about synchronisation across cores",
                      .expected = std::string("intercoreSync ") + (needed ? "1" : "0"),
                      .found = std::to_string(sync->integer)});
    }
}

} // namespace

std::vector<Finding> check_sidecar(const Image& image, std::string_view text) {
    FindingList findings(Profile::kAny);
    try {
        const Json document = read_json(text);
        if (!document.is(Json::Kind::kObject)) {
            throw JsonError("expected an object");
        }
        check_hash(image, document, findings);
        check_debug(document, findings);
        check_kernels(image, document, findings);
        check_synchronisation(image, document, findings);
    } catch (const JsonError& error) {
        findings.add(RuleId::META104,
                     {.message = std::string("the JSON file beside the binary cannot be read: ") + error.what(),
                      .expected = "a JSON object"});
    }
    return findings.take();
}

} // namespace aivops::kernel_binary
