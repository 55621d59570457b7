// aivops-verify: the verifier for builds, without a Python to start.
#include "steps.h"

#include <cstdio>
#include <exception>

int main(int count, char** words) {
    using namespace aivops::tools;
    try {
        const Options options = read_options(count, words);
        if (options.help) {
            std::fputs(kUsage, stdout);
            return 0;
        }
        if (!options.write_manifest.empty()) {
            return write_manifest(options);
        }
        return options.move_to.empty() ? verify_paths(options) : verify_and_move(options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "aivops-verify: %s\n", error.what());
        return kUnreadable;
    }
}
