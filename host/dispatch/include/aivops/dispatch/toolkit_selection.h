// Which toolkit a process uses: AIVOPS_TOOLKIT=cann|emulator|PATH, else ASCEND_HOME_PATH, else the emulated one.
// Nothing is picked silently: a machine that looks like it has an NPU must say what it wants.
#ifndef AIVOPS_DISPATCH_TOOLKIT_SELECTION_H
#define AIVOPS_DISPATCH_TOOLKIT_SELECTION_H

#include "aivops/dispatch/toolkit.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace aivops {

/// Where to look for the emulated toolkit, and for signs of an NPU.
struct ToolkitSearch {
    std::filesystem::path emulated_root; // empty: this program brings none
    std::vector<std::filesystem::path> device_nodes = {"/dev/davinci_manager", "/dev/davinci0"};
    std::vector<std::filesystem::path> standard_roots = {
        "/usr/local/Ascend/cann", "/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/latest"};
};

struct ToolkitChoice {
    std::filesystem::path root;
    /// What decided: "AIVOPS_TOOLKIT", "ASCEND_HOME_PATH", or "default" for the emulated toolkit of a machine without
    /// an NPU.
    std::string reason;
};

namespace detail {

inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

inline std::filesystem::path require_root(const std::filesystem::path& root, const std::string& reason) {
    if (!std::filesystem::is_directory(root)) {
        throw ToolkitError("Toolkit " + root.string() + ": " + reason +
                           " names it, but it is not a directory; correct " + reason + ", or unset it" +
                           (reason == "AIVOPS_TOOLKIT" ? "; it may be emulator, cann, or the root of a toolkit" : ""));
    }
    return root;
}

inline std::filesystem::path require_emulated_root(const ToolkitSearch& search) {
    if (search.emulated_root.empty()) {
        throw ToolkitError(
            "Toolkit: this program brings no emulated toolkit; set AIVOPS_TOOLKIT to what `aivops toolkit-dir` prints, "
            "or unset it and set ASCEND_HOME_PATH to that or to the root of CANN");
    }
    return search.emulated_root;
}

/// The first sign of an NPU, or nothing.
inline std::filesystem::path find_npu(const ToolkitSearch& search) {
    std::error_code ignored;
    for (const auto* paths : {&search.device_nodes, &search.standard_roots}) {
        for (const std::filesystem::path& path : *paths) {
            if (std::filesystem::exists(path, ignored)) {
                return path;
            }
        }
    }
    return {};
}

} // namespace detail

/// Throws ToolkitError when nothing, or nothing that exists, is chosen.
inline ToolkitChoice select_toolkit(const ToolkitSearch& search) {
    const std::string wanted = detail::environment("AIVOPS_TOOLKIT");
    const std::string home = detail::environment("ASCEND_HOME_PATH");
    if (wanted == "emulator") {
        return {detail::require_emulated_root(search), "AIVOPS_TOOLKIT"};
    }
    if (wanted == "cann") {
        if (!home.empty()) {
            return {detail::require_root(home, "ASCEND_HOME_PATH"), "AIVOPS_TOOLKIT"};
        }
        for (const std::filesystem::path& root : search.standard_roots) {
            if (std::filesystem::is_directory(root)) {
                return {root, "AIVOPS_TOOLKIT"};
            }
        }
        throw ToolkitError(
            "Toolkit cann: AIVOPS_TOOLKIT asks for CANN, but ASCEND_HOME_PATH is not set and no standard place "
            "has it; source set_env.sh of CANN");
    }
    if (!wanted.empty()) {
        return {detail::require_root(wanted, "AIVOPS_TOOLKIT"), "AIVOPS_TOOLKIT"};
    }
    if (!home.empty()) {
        return {detail::require_root(home, "ASCEND_HOME_PATH"), "ASCEND_HOME_PATH"};
    }
    if (const std::filesystem::path sign = detail::find_npu(search); !sign.empty()) {
        throw ToolkitError(
            "Toolkit: this machine has " + sign.string() +
            ", so it may have an NPU, but neither ASCEND_HOME_PATH "
            "nor AIVOPS_TOOLKIT is set; source set_env.sh of CANN (it sets ASCEND_HOME_PATH) to use the NPU, or "
            "set AIVOPS_TOOLKIT=emulator to use emulated devices");
    }
    return {detail::require_emulated_root(search), "default"};
}

/// Selects and opens. The first use of emulated devices that nobody asked for says so, in one line on stderr.
inline const Toolkit& open_selected_toolkit(const ToolkitSearch& search) {
    const ToolkitChoice choice = select_toolkit(search);
    const Toolkit& toolkit = Toolkit::open(choice.root);
    if (choice.reason == "default") {
        static const int said = std::fprintf(stderr,
                                             "aivops: no NPU here, using emulated devices (%s x %u); set "
                                             "AIVOPS_TOOLKIT=emulator to choose them without this line\n",
                                             toolkit.soc_name().c_str(), toolkit.device_count());
        (void)said;
    }
    return toolkit;
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_TOOLKIT_SELECTION_H
