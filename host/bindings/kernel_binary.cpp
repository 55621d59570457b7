// aivops._core.KernelBinary: the verifier on the bytes of one binary. Reports cross as JSON documents, the same that
// aivops-verify prints; Python makes objects of them.
#include "register.h"

#include "verifier/embedded.h"
#include "verifier/file_bytes.h"
#include "verifier/fix.h"
#include "verifier/inspect.h"
#include "verifier/report.h"
#include "verifier/sidecar.h"

#include "aivops/error.h"
#include "aivops/kernel_binary/manifest.h"

#include <memory>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <system_error>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {
namespace {

namespace kb = kernel_binary;

// The bytes, what keeps them, and what was read from them.
class KernelBinary {
  public:
    KernelBinary(std::shared_ptr<const void> owner, kb::ByteView bytes) : owner_(std::move(owner)), image_(bytes) {}

    static KernelBinary open(const std::filesystem::path& path) {
        try {
            auto file = std::make_shared<kb::FileBytes>(path.string());
            const kb::ByteView bytes = file->bytes();
            return {std::move(file), bytes};
        } catch (const std::system_error& error) {
            const nb::object name = nb::steal(PyUnicode_DecodeFSDefault(path.c_str()));
            PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.code().value(), error.code().message(), name).ptr());
            throw nb::python_error();
        }
    }

    static KernelBinary from_bytes(const nb::bytes& data) {
        auto copy = std::make_shared<std::string>(data.c_str(), data.size());
        const kb::ByteView bytes(copy->data(), copy->size());
        return {std::move(copy), bytes};
    }

    const kb::Image& image() const { return image_; }

    std::vector<std::pair<std::string, KernelBinary>> embedded() const {
        std::vector<std::pair<std::string, KernelBinary>> parts;
        for (const kb::EmbeddedBinary& part : kb::find_embedded(image_.file).binaries) {
            parts.emplace_back(part.name, KernelBinary(owner_, image_.bytes().slice(part.offset, part.size)));
        }
        return parts;
    }

  private:
    std::shared_ptr<const void> owner_;
    kb::Image image_;
};

kb::VerifyOptions read_options(const std::string& profile, const std::string& machine, const std::string& architecture,
                               std::vector<std::string> kernels, bool allow_hard_sync) {
    kb::VerifyOptions options;
    if (profile != "any" && profile != "aiv") {
        throw InvalidValueError("profile " + kb::printable(profile) + ": expected any or aiv");
    }
    options.profile = profile == "aiv" ? kb::Profile::kAiv : kb::Profile::kAny;
    options.machine = kb::find_machine(machine);
    if (!machine.empty() && options.machine == kb::Machine::kUnknown) {
        throw InvalidValueError("machine " + kb::printable(machine) +
                                ": expected ascend, emulated-x86_64 or emulated-aarch64");
    }
    options.architecture = architecture;
    options.generation = kb::find_generation(architecture);
    if (!architecture.empty() && options.generation == kb::Generation::kUnknown) {
        throw InvalidValueError("architecture " + kb::printable(architecture) +
                                ": expected dav-c220-vec, dav-c310-vec or another name of theirs");
    }
    options.kernels = std::move(kernels);
    options.allow_hard_sync = allow_hard_sync;
    return options;
}

std::string findings_json(const std::vector<kb::Finding>& findings) {
    kb::JsonWriter json;
    json.begin_array();
    kb::write_findings(json, findings);
    json.end_array();
    return json.text();
}

kb::FileReport make_report(const kb::Image& image, const std::string& path, const kb::VerifyOptions& options) {
    kb::FileReport report = kb::verify(image, options);
    report.path = path;
    return report;
}

} // namespace

void register_kernel_binary(nb::module_& m) {
    nb::class_<KernelBinary>(m, "KernelBinary", "The bytes of a kernel binary. They are read, never loaded or run.")
        .def_static("open", &KernelBinary::open, "path"_a, "A regular file; OSError when it cannot be read.")
        .def_static("from_bytes", &KernelBinary::from_bytes, "data"_a)
        .def(
            "verify",
            [](const KernelBinary& self, const std::string& path, const std::string& profile,
               const std::string& machine, const std::string& architecture, std::vector<std::string> kernels,
               bool allow_hard_sync) {
                const auto options = read_options(profile, machine, architecture, std::move(kernels), allow_hard_sync);
                nb::gil_scoped_release release;
                kb::JsonWriter json;
                kb::write_file_report(json, make_report(self.image(), path, options));
                return json.text();
            },
            "path"_a, nb::kw_only(), "profile"_a = "any", "machine"_a = "", "architecture"_a = "",
            "kernels"_a = std::vector<std::string>(), "allow_hard_sync"_a = false,
            "The file's entry of a report, as JSON. `path` is only its name there, already printable.")
        .def(
            "inspect",
            [](const KernelBinary& self, const std::string& path) {
                nb::gil_scoped_release release;
                return kb::inspect_json(self.image(), make_report(self.image(), path, {}));
            },
            "path"_a, "The file's entry of a report with everything decoded, as JSON.")
        .def("embedded", &KernelBinary::embedded, "Name and content of the kernel binaries inside a shared object.")
        .def(
            "check_embedding",
            [](const KernelBinary& self) { return findings_json(kb::find_embedded(self.image().file).findings); },
            "Findings about the sections that hold kernel binaries, as JSON.")
        .def(
            "check_sidecar",
            [](const KernelBinary& self, const nb::bytes& text) {
                return findings_json(kb::check_sidecar(self.image(), {text.c_str(), text.size()}));
            },
            "text"_a, "Findings about the JSON file beside the binary, as JSON.")
        .def(
            "add_vector_records",
            [](const KernelBinary& self) {
                kb::FixResult result = kb::add_vector_records(self.image(), {});
                return nb::make_tuple(nb::bytes(result.bytes.data(), result.bytes.size()), result.added,
                                      result.refusal);
            },
            nb::sig("def add_vector_records(self) -> tuple[bytes, list[str], str]"),
            "A copy with the AIV records that are missing, the kernels that got one, and else why there is none.")
        .def_prop_ro("size", [](const KernelBinary& self) { return self.image().bytes().size(); })
        .def_prop_ro("sha256", [](const KernelBinary& self) { return kb::sha256_hex(self.image().bytes()); });

    m.def(
        "check_manifest",
        [](const nb::bytes& text, const std::string& origin) -> std::optional<std::string> {
            try {
                kb::ManifestReader(origin).read({text.c_str(), text.size()});
                return std::nullopt;
            } catch (const kb::ManifestError& error) {
                return error.what();
            }
        },
        "text"_a, "origin"_a, "What is wrong with a manifest; None when nothing is.");
    m.def("verification_rules", &kb::rules_json, "The rules, as JSON.");
}

} // namespace aivops::bindings
