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

namespace {

std::filesystem::path toolkit_root() {
    std::filesystem::path driver = std::filesystem::read_symlink("/proc/self/exe");
    return driver.parent_path().parent_path().parent_path().parent_path();
}

} // namespace

std::filesystem::path ascendc_page() {
    return toolkit_root() / "share" / "doc" / "aivops" / "ascendc.md";
}

std::filesystem::path ascendc_include_directory() {
    std::filesystem::path root = toolkit_root();
    std::filesystem::path include = root / kHost / "asc" / "include";
    if (!std::filesystem::exists(include / "kernel_operator.h")) {
        throw Error("toolkit " + root.string() + ": has no " + (include / "kernel_operator.h").string() +
                    "; the driver must stay inside its toolkit: reinstall AivOps");
    }
    return include;
}

} // namespace aivops::ccec
