// Manifests and the JSON files beside binaries. A manifest that is read is the same after it is written and read again.
#include "verifier/manifest_writer.h"
#include "verifier/sidecar.h"

#include <cstdlib>

using namespace aivops::kernel_binary;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_sidecar(Image(ByteView()), text);
    const ManifestReader reader("manifest.json");
    try {
        const std::string once = manifest_json(reader.read(text));
        if (manifest_json(reader.read(once)) != once) {
            std::abort();
        }
    } catch (const ManifestError&) {
        return 0;
    }
    return 0;
}
