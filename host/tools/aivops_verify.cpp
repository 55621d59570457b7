// aivops-verify: the verifier for builds, without a Python to start.
#include "steps.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <system_error>

using namespace aivops::tools;

namespace {

// Where a standard stream is closed, the next file that is opened gets its number, and what is printed.
void open_standard_streams() {
    for (int number = 0; number < 3; ++number) {
        if (::fcntl(number, F_GETFD) < 0) {
            ::open("/dev/null", O_RDWR);
        }
    }
}

int run(const Options& options) {
    if (options.help) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    if (!options.write_manifest.empty()) {
        return write_manifest(options);
    }
    return options.move_to.empty() ? verify_paths(options) : verify_and_move(options);
}

} // namespace

int main(int count, char** words) {
    open_standard_streams();
    try {
        const int status = run(read_options(count, words));
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            throw std::system_error(errno, std::generic_category(), "the output");
        }
        return status;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "aivops-verify: %s\n", error.what());
        return kUnreadable;
    }
}
