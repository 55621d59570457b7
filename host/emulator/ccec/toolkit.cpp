#include "toolkit.h"

#include "error.h"

namespace aivops::ccec {

#if defined(__x86_64__)
constexpr const char* kHost = "x86_64-linux";
#elif defined(__aarch64__)
constexpr const char* kHost = "aarch64-linux";
#else
#error "The emulated toolkit runs on x86_64 and aarch64."
#endif

std::filesystem::path ascendc_include_directory() {
    std::filesystem::path driver = std::filesystem::read_symlink("/proc/self/exe");
    std::filesystem::path root = driver.parent_path().parent_path().parent_path().parent_path();
    std::filesystem::path include = root / kHost / "asc" / "include";
    if (!std::filesystem::exists(include / "kernel_operator.h")) {
        throw Error("toolkit " + root.string() + ": has no " + (include / "kernel_operator.h").string() +
                    "; the driver must stay inside its toolkit: reinstall AivOps");
    }
    return include;
}

} // namespace aivops::ccec
