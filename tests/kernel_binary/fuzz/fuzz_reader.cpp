// The reader and every rule, the search for embedded binaries, and the completion of binaries.
#include "verifier/embedded.h"
#include "verifier/fix.h"
#include "verifier/verify.h"

#include <cstdlib>

using namespace aivops::kernel_binary;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const Image image(ByteView(data, size));
    VerifyOptions options;
    const FileReport any = verify(image, options);
    options.profile = Profile::kAiv;
    options.architecture = "dav-c220-vec";
    options.generation = Generation::kC220;
    options.kernels = {"copy_0", "c*[a-z]?"};
    std::map<std::string, KernelLayout> layouts;
    layouts["copy_0"].args_size = 16;
    options.layouts = &layouts;
    const FileReport aiv = verify(image, options);
    // Something that is no ELF is never clean.
    if (image.file.sections().empty() && any.findings.empty()) {
        std::abort();
    }
    for (const FileReport* report : {&any, &aiv}) {
        for (const Finding& finding : report->findings) {
            const std::uint8_t allowed =
                find_rule(finding.rule).severities(report == &any ? Profile::kAny : Profile::kAiv);
            if ((allowed & static_cast<std::uint8_t>(finding.severity)) == 0) {
                std::abort();
            }
        }
    }
    for (const EmbeddedBinary& part : find_embedded(image.file).binaries) {
        verify(Image(image.bytes().slice(part.offset, part.size)), {});
    }
    add_vector_records(image, {});
    try {
        summarize_image(image.bytes());
    } catch (const std::runtime_error&) {
        return 0;
    }
    return 0;
}
