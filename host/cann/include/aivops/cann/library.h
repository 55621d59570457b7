// Opens the runtime library of a toolkit with dlopen, by absolute path, and fills the function table. Refuses a process
// that already maps the runtime of another toolkit: two runtimes in one process share names and neither knows the
// other.
#ifndef AIVOPS_CANN_LIBRARY_H
#define AIVOPS_CANN_LIBRARY_H

#include "aivops/cann/function_table.h"
#include "aivops/error.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace aivops::cann {

/// In the order they are tried; CANN keeps libascendcl.so for older programs.
inline constexpr std::array<std::string_view, 2> kRuntimeLibraries = {"libacl_rt.so", "libascendcl.so"};

struct Runtime {
    std::filesystem::path library; // the first that was opened
    FunctionTable functions;
};

namespace detail {

#if defined(__aarch64__)
inline constexpr const char* kCpuFolder = "aarch64-linux";
#else
inline constexpr const char* kCpuFolder = "x86_64-linux";
#endif

/// Runtime libraries of the toolkit at `root`, in the order they are tried.
inline std::vector<std::filesystem::path> find_runtime_libraries(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> found;
    std::error_code ignored;
    for (const std::string_view name : kRuntimeLibraries) {
        for (const std::filesystem::path& folder : {root / "lib64", root / kCpuFolder / "lib64"}) {
            if (std::filesystem::exists(folder / name, ignored)) {
                found.push_back(std::filesystem::canonical(folder / name, ignored));
                break;
            }
        }
    }
    return found;
}

/// Paths of runtime libraries that this process maps already, however they came in.
inline std::vector<std::filesystem::path> mapped_runtime_libraries() {
    std::vector<std::filesystem::path> mapped;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::filesystem::path path = info->dlpi_name;
            const std::string file = path.filename().string();
            for (const std::string_view name : kRuntimeLibraries) {
                if (file.compare(0, name.size(), name) == 0) {
                    static_cast<std::vector<std::filesystem::path>*>(data)->push_back(path);
                }
            }
            return 0;
        },
        &mapped);
    return mapped;
}

inline void refuse_other_runtime(const std::filesystem::path& root, const std::vector<std::filesystem::path>& own) {
    for (const std::filesystem::path& mapped : mapped_runtime_libraries()) {
        bool ours = false;
        for (const std::filesystem::path& library : own) {
            std::error_code ignored;
            ours = ours || std::filesystem::equivalent(mapped, library, ignored);
        }
        if (!ours) {
            throw ToolkitError(
                "Toolkit " + root.string() + ": this process already uses the runtime " + mapped.string() +
                ", which belongs to another toolkit; one process can use one only. Set ASCEND_HOME_PATH or "
                "AIVOPS_TOOLKIT to that toolkit, or use a process of its own");
        }
    }
}

inline void* find_function(const std::vector<void*>& handles, const char* name) {
    for (void* handle : handles) {
        if (void* function = dlsym(handle, name)) {
            return function;
        }
    }
    return nullptr;
}

template <class Function>
bool bind(const std::vector<void*>& handles, const char* name, Function& function) {
    function = reinterpret_cast<Function>(find_function(handles, name));
    return function != nullptr;
}

} // namespace detail

/// Libraries stay open until the process ends: the runtime does not survive being unloaded.
inline Runtime open_runtime(const std::filesystem::path& root) {
    const std::vector<std::filesystem::path> libraries = detail::find_runtime_libraries(root);
    if (libraries.empty()) {
        throw ToolkitError("Toolkit " + root.string() +
                           ": has neither lib64/libacl_rt.so nor lib64/libascendcl.so; point "
                           "ASCEND_HOME_PATH or AIVOPS_TOOLKIT at the root of a complete toolkit");
    }
    detail::refuse_other_runtime(root, libraries);

    std::vector<void*> handles;
    for (const std::filesystem::path& library : libraries) {
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const char* reason = dlerror();
            throw ToolkitError("Toolkit " + root.string() + ": " + library.string() +
                               " does not load: " + (reason != nullptr ? reason : "no reason given") +
                               ". For CANN, install the NPU driver and source set_env.sh of this toolkit first");
        }
        handles.push_back(handle);
    }

    Runtime runtime{libraries.front(), {}};
    std::string missing;
#define AIVOPS_CANN_BIND_REQUIRED(name)                                                                                \
    if (!detail::bind(handles, #name, runtime.functions.name)) {                                                       \
        missing += (missing.empty() ? "" : ", ") + std::string(#name);                                                 \
    }
    AIVOPS_CANN_REQUIRED_FUNCTIONS(AIVOPS_CANN_BIND_REQUIRED)
#undef AIVOPS_CANN_BIND_REQUIRED
    if (!missing.empty()) {
        throw ToolkitError("Toolkit " + root.string() + ": " + libraries.front().string() + " lacks " + missing +
                           "; AivOps needs a toolkit that has them (CANN 8.5 or newer)");
    }
#define AIVOPS_CANN_BIND_OPTIONAL(name) detail::bind(handles, #name, runtime.functions.name);
    AIVOPS_CANN_OPTIONAL_FUNCTIONS(AIVOPS_CANN_BIND_OPTIONAL)
#undef AIVOPS_CANN_BIND_OPTIONAL
    return runtime;
}

} // namespace aivops::cann

#endif // AIVOPS_CANN_LIBRARY_H
