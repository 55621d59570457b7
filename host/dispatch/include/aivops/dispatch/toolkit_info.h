// What a toolkit says of itself on disk, read without opening its libraries: name, version and the machine of its
// binaries.
#ifndef AIVOPS_DISPATCH_TOOLKIT_INFO_H
#define AIVOPS_DISPATCH_TOOLKIT_INFO_H

#include "aivops/error.h"
#include "aivops/kernel_binary/json.h"
#include "aivops/kernel_binary/manifest.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

namespace aivops {

struct ToolkitInfo {
    std::filesystem::path root; // canonical
    std::string name = "cann";
    std::string version = "unknown";
    std::string machine = "ascend";
};

namespace detail {

/// The value of a "Version=..." line; empty when the file has none.
inline std::string read_version_line(const std::filesystem::path& file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const std::size_t equals = line.find('=');
        std::string key = line.substr(0, equals);
        for (char& letter : key) {
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
        if (equals != std::string::npos && key == "version") {
            const std::size_t end = line.find_last_not_of(" \r\t");
            return line.substr(equals + 1, end - equals);
        }
    }
    return {};
}

inline std::string read_cann_version(const std::filesystem::path& root) {
    for (const char* file :
         {"share/info/runtime/version.info", "runtime/version.info", "compiler/version.info", "opp/version.info"}) {
        const std::string version = read_version_line(root / file);
        if (!version.empty()) {
            return version;
        }
    }
    return "unknown";
}

inline void read_toolkit_record(const std::filesystem::path& file, ToolkitInfo& info) {
    namespace kb = kernel_binary;
    constexpr std::uint64_t kLimit = 65536;
    kb::Json record;
    try {
        record = kb::read_json(kb::read_whole_file(file, kLimit));
    } catch (const std::runtime_error& error) {
        throw ToolkitError("Toolkit " + info.root.string() + ": " + file.string() + " cannot be used: " + error.what() +
                           "; reinstall the toolkit");
    }
    const auto text = [&](const char* key) -> const std::string& {
        const kb::Json* value = record.find(key);
        if (value == nullptr || !value->is(kb::Json::Kind::kString)) {
            throw ToolkitError("Toolkit " + info.root.string() + ": " + file.string() + " has no text \"" + key +
                               "\"; reinstall the toolkit");
        }
        return value->text;
    };
    info.name = text("name");
    info.version = text("version");
    info.machine = text("machine");
}

} // namespace detail

/// Throws ToolkitError when there is no directory at `root`, or its record is damaged.
inline ToolkitInfo read_toolkit_info(const std::filesystem::path& root) {
    ToolkitInfo info;
    std::error_code error;
    info.root = std::filesystem::canonical(root, error);
    if (error || !std::filesystem::is_directory(info.root)) {
        throw ToolkitError("Toolkit " + root.string() +
                           ": is not a directory; point ASCEND_HOME_PATH or AIVOPS_TOOLKIT at "
                           "the root of a toolkit");
    }
    const std::filesystem::path record = info.root / "share/info/aivops/toolkit.json";
    if (std::filesystem::exists(record)) {
        detail::read_toolkit_record(record, info);
    } else {
        info.version = detail::read_cann_version(info.root);
    }
    return info;
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_TOOLKIT_INFO_H
