// Makes manifests: the entry of a verified binary, and the document that joins entries.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_MANIFEST_WRITER_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_MANIFEST_WRITER_H

#include "aivops/kernel_binary/manifest.h"
#include "verifier/image.h"

namespace aivops::kernel_binary {

struct Provenance {
    std::string target;
    std::string toolkit_name;
    std::string toolkit_version;
};

// The entry without its path. Layouts of an emulated binary are its own; `layouts` are the host side's for the others.
ManifestBinary describe_binary(const Image& image, const Provenance& provenance,
                               const std::map<std::string, KernelLayout>* layouts);

std::string entry_json(const ManifestBinary& binary);
std::string manifest_json(const Manifest& manifest);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_MANIFEST_WRITER_H
