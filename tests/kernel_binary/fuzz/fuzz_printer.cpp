// What is printed about any bytes is well-formed JSON without control characters, whatever names and records they hold.
#include "verifier/inspect.h"
#include "verifier/report.h"

#include "aivops/kernel_binary/json.h"

#include <cstdlib>

using namespace aivops::kernel_binary;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const Image image(ByteView(data, size));
    FileReport report = verify(image, {});
    report.path = "x.o";
    read_json(inspect_json(image, report));
    read_json(report_json({report}));
    for (const char letter : report_text(report, Severity::kInfo)) {
        const auto byte = static_cast<unsigned char>(letter);
        if ((byte < 0x20 && letter != '\n') || byte == 0x7f) {
            std::abort();
        }
    }
    return 0;
}
