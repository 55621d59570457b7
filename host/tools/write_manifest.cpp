#include "steps.h"

#include "verifier/manifest_writer.h"

#include <map>
#include <set>
#include <tuple>

namespace aivops::tools {

using namespace kernel_binary;

namespace {

// Loaders find a kernel by its name, among the binaries of their machine and architecture.
void refuse_same_names(const std::string& manifest_path, const Manifest& manifest) {
    std::map<std::tuple<std::string, std::string, std::string>, std::string> path_of;
    for (const ManifestBinary& binary : manifest.binaries) {
        for (const ManifestKernel& kernel : binary.kernels) {
            const auto [known, added] =
                path_of.emplace(std::tuple(binary.machine, binary.architecture, kernel.name), binary.path);
            if (!added) {
                throw UsageError(manifest_path + ": kernel " + printable(kernel.name) + " is in two binaries, " +
                                 printable(known->second) + " and " + printable(binary.path) +
                                 "; rename one of them, or give each its own manifest (another DESTINATION)");
            }
        }
    }
}

} // namespace

int write_manifest(const Options& options) {
    Manifest manifest;
    manifest.generator_name = "aivops";
    manifest.generator_version = AIVOPS_VERSION;
    std::set<std::string> paths;
    for (const std::string& word : options.paths) {
        const std::size_t equals = word.rfind('=');
        const std::string entry = word.substr(0, equals);
        const std::string path = equals == std::string::npos ? std::string() : word.substr(equals + 1);
        if (!stays_inside(path)) {
            throw UsageError(printable(word) + ": expected ENTRY.json=PATH with a relative path that stays inside");
        }
        if (!paths.insert(path).second) {
            throw UsageError(options.write_manifest + ": two binaries have the path " + printable(path));
        }
        try {
            manifest.binaries.push_back(ManifestReader(entry).read_entry(read_whole_file(entry, kManifestBytesLimit)));
            manifest.binaries.back().path = path;
            if (!options.base.empty()) {
                read_binary(options.base + "/manifest.json", manifest.binaries.back());
            }
        } catch (const ManifestError& error) {
            throw UsageError(error.what());
        }
    }
    refuse_same_names(options.write_manifest, manifest);
    write_file(options.write_manifest, manifest_json(manifest));
    return 0;
}

} // namespace aivops::tools
