// Reads kernels/manifest.json and the binaries it names. A path must stay inside the manifest's folder, and the bytes
// that a caller gets are the very bytes that were hashed.
#ifndef AIVOPS_KERNEL_BINARY_MANIFEST_H
#define AIVOPS_KERNEL_BINARY_MANIFEST_H

#include "aivops/kernel_binary/contract_records.h"
#include "aivops/kernel_binary/counted.h"
#include "aivops/kernel_binary/json.h"
#include "aivops/kernel_binary/sha256.h"

#include <filesystem>
#include <fstream>

namespace aivops::kernel_binary {

// The message begins with the manifest's path.
class ManifestError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct ManifestKernel {
    std::string name;
    std::string type;                                 // "K_TYPE_AIV"
    std::optional<std::uint64_t> args_size;           // bytes; nothing when the layout is not known
    std::optional<std::vector<Parameter>> parameters; // likewise
};

struct ManifestBinary {
    std::string path; // relative to the manifest, with '/'
    std::string target;
    std::string sha256;
    std::uint64_t size = 0;
    std::string machine;
    std::string architecture;
    std::string toolkit_name;
    std::string toolkit_version;
    std::vector<ManifestKernel> kernels;
};

struct Manifest {
    std::string generator_name;
    std::string generator_version;
    std::vector<ManifestBinary> binaries;
};

inline constexpr std::uint64_t kManifestSchema = 1;
inline constexpr std::uint64_t kManifestBytesLimit = std::uint64_t{64} << 20;

// A relative path with '/' between its parts, none of them empty, "." or "..".
inline bool stays_inside(std::string_view path) {
    if (path.empty() || path.find('\\') != std::string_view::npos || path.find('\0') != std::string_view::npos) {
        return false;
    }
    std::size_t start = 0;
    while (start <= path.size()) {
        const std::size_t end = path.find('/', start) == std::string_view::npos ? path.size() : path.find('/', start);
        const std::string_view part = path.substr(start, end - start);
        if (part.empty() || part == "." || part == "..") {
            return false;
        }
        start = end + 1;
    }
    return true;
}

class ManifestReader {
  public:
    // `origin` is the manifest's path, for messages.
    explicit ManifestReader(std::string origin) : origin_(std::move(origin)) {}

    // Throws ManifestError.
    Manifest read(std::string_view text) const {
        Json document;
        try {
            document = read_json(text);
        } catch (const JsonError& error) {
            fail(std::string("is not JSON: ") + error.what());
        }
        if (const std::uint64_t schema = integer(document, "schema", ""); schema != kManifestSchema) {
            fail("has schema " + std::to_string(schema) + ", this version of AivOps reads " +
                 std::to_string(kManifestSchema) + "; rebuild the kernels or update aivops");
        }
        Manifest manifest;
        const Json& generator = object(document, "generator", "");
        manifest.generator_name = string(generator, "name", "generator.");
        manifest.generator_version = string(generator, "version", "generator.");
        std::unordered_set<std::string> paths;
        for (const Json& item : array(document, "binaries", "").items) {
            const std::string where = "binaries[" + std::to_string(manifest.binaries.size()) + "].";
            manifest.binaries.push_back(read_binary(item, where));
            if (!paths.insert(manifest.binaries.back().path).second) {
                fail(where + "path \"" + printable(manifest.binaries.back().path) + "\" is there twice");
            }
        }
        return manifest;
    }

    // One entry; a build's record has no path yet.
    ManifestBinary read_entry(std::string_view text) const {
        try {
            return read_binary_without_path(read_json(text), "");
        } catch (const JsonError& error) {
            fail(std::string("is not JSON: ") + error.what());
        }
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { throw ManifestError(origin_ + ": the manifest " + what); }

    const Json& member(const Json& value, std::string_view key, const std::string& where, Json::Kind kind,
                       const char* what) const {
        const Json* found = value.is(Json::Kind::kObject) ? value.find(key) : nullptr;
        if (found == nullptr || !found->is(kind)) {
            fail("needs " + where + std::string(key) + " to be " + what);
        }
        return *found;
    }
    const Json& object(const Json& value, std::string_view key, const std::string& where) const {
        return member(value, key, where, Json::Kind::kObject, "an object");
    }
    const Json& array(const Json& value, std::string_view key, const std::string& where) const {
        return member(value, key, where, Json::Kind::kArray, "an array");
    }
    const std::string& string(const Json& value, std::string_view key, const std::string& where) const {
        return member(value, key, where, Json::Kind::kString, "a string").text;
    }
    std::uint64_t integer(const Json& value, std::string_view key, const std::string& where) const {
        return member(value, key, where, Json::Kind::kInteger, "a whole number").integer;
    }
    static bool is_null(const Json& value, std::string_view key) {
        const Json* found = value.is(Json::Kind::kObject) ? value.find(key) : nullptr;
        return found != nullptr && found->is(Json::Kind::kNull);
    }

    ManifestBinary read_binary(const Json& value, const std::string& where) const {
        const std::string& path = string(value, "path", where);
        if (!stays_inside(path)) {
            fail("has " + where + "path \"" + printable(path) +
                 "\"; a path must be relative and stay inside the folder");
        }
        ManifestBinary binary = read_binary_without_path(value, where);
        binary.path = path;
        return binary;
    }

    ManifestBinary read_binary_without_path(const Json& value, const std::string& where) const {
        ManifestBinary binary;
        binary.target = string(value, "target", where);
        binary.sha256 = string(value, "sha256", where);
        if (binary.sha256.size() != 64 || binary.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
            fail("needs " + where + "sha256 to be 64 lower-case hexadecimal digits");
        }
        binary.size = integer(value, "size", where);
        binary.machine = string(value, "machine", where);
        binary.architecture = string(value, "architecture", where);
        const Json& toolkit = object(value, "toolkit", where);
        binary.toolkit_name = string(toolkit, "name", where + "toolkit.");
        binary.toolkit_version = string(toolkit, "version", where + "toolkit.");
        for (const Json& item : array(value, "kernels", where).items) {
            binary.kernels.push_back(
                read_kernel(item, where + "kernels[" + std::to_string(binary.kernels.size()) + "]."));
        }
        return binary;
    }

    ManifestKernel read_kernel(const Json& value, const std::string& where) const {
        ManifestKernel kernel;
        kernel.name = string(value, "name", where);
        kernel.type = string(value, "type", where);
        if (!is_null(value, "args_size")) {
            kernel.args_size = integer(value, "args_size", where);
        }
        if (is_null(value, "parameters")) {
            return kernel;
        }
        kernel.parameters.emplace();
        for (const Json& item : array(value, "parameters", where).items) {
            const std::string here = where + "parameters[" + std::to_string(kernel.parameters->size()) + "].";
            Parameter parameter{string(item, "name", here), integer(item, "offset", here), integer(item, "size", here),
                                string(item, "kind", here)};
            const std::uint64_t limit = kernel.args_size.value_or(0);
            if (parameter.offset > limit || parameter.size > limit - parameter.offset) {
                fail("has " + here + "offset and size outside the " + counted(limit, "byte") + " of arguments");
            }
            bool known = false;
            for (const std::string_view kind : kParameterKinds) {
                known = known || kind == parameter.kind;
            }
            if (!known) {
                fail("has the unknown kind \"" + printable(parameter.kind) + "\" in " + here + "kind");
            }
            kernel.parameters->push_back(std::move(parameter));
        }
        return kernel;
    }

    std::string origin_;
};

// Throws ManifestError when the file cannot be read or is larger than `limit`.
inline std::string read_whole_file(const std::filesystem::path& path, std::uint64_t limit) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) {
        throw ManifestError(path.string() + ": cannot be read" + (error ? " (" + error.message() + ")" : ""));
    }
    if (size > limit) {
        throw ManifestError(path.string() + ": has " + counted(size, "byte") + ", more than the " +
                            std::to_string(limit) + " expected here");
    }
    std::string bytes(static_cast<std::size_t>(size), '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<std::uint64_t>(file.gcount()) != size || file.peek() != std::ifstream::traits_type::eof()) {
        throw ManifestError(path.string() + ": changed while it was read");
    }
    return bytes;
}

// Throws ManifestError.
inline Manifest read_manifest(const std::filesystem::path& path) {
    return ManifestReader(path.string()).read(read_whole_file(path, kManifestBytesLimit));
}

// The bytes of one binary of the manifest at `manifest_path`, read once and checked. Throws ManifestError.
inline std::string read_binary(const std::filesystem::path& manifest_path, const ManifestBinary& binary) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path parent = manifest_path.parent_path();
    const fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
    const fs::path file = error ? fs::path() : fs::canonical(folder / binary.path, error);
    if (error) {
        throw ManifestError(manifest_path.string() + ": names " + printable(binary.path) + ", which cannot be read (" +
                            error.message() + "); reinstall the kernels");
    }
    const fs::path inside = file.lexically_relative(folder);
    if (inside.empty() || *inside.begin() == "..") {
        throw ManifestError(manifest_path.string() + ": names " + printable(binary.path) +
                            ", which leaves the manifest's folder through a link");
    }
    std::string bytes = read_whole_file(file, binary.size);
    const std::string found = sha256_hex(ByteView(bytes.data(), bytes.size()));
    if (bytes.size() != binary.size || found != binary.sha256) {
        throw ManifestError(file.string() + ": is not the file that " + manifest_path.string() +
                            " describes: expected sha256 " + binary.sha256 + " over " + counted(binary.size, "byte") +
                            ", found " + found + " over " + std::to_string(bytes.size()) +
                            "; reinstall or rebuild the kernels");
    }
    return bytes;
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_MANIFEST_H
