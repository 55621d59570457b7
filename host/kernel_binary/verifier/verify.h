// The verifier: bytes of one kernel binary in, a report out. Nothing is loaded or run.
#ifndef AIVOPS_KERNEL_BINARY_VERIFIER_VERIFY_H
#define AIVOPS_KERNEL_BINARY_VERIFIER_VERIFY_H

#include "verifier/finding.h"
#include "verifier/image.h"

#include <map>

namespace aivops::kernel_binary {

struct VerifyOptions {
    Profile profile = Profile::kAny;
    Machine machine = Machine::kUnknown;          // the one asked for; unknown: any
    Generation generation = Generation::kUnknown; // of the architecture asked for; unknown: any
    std::string architecture;                     // its name, for messages
    std::vector<std::string> kernels;             // names or globs that were asked for; empty: any
    bool allow_hard_sync = false;                 // META061 accepts K_TYPE_MIX_AIV_MAIN 0:1 with a _mix_aiv name
    // Argument layouts of the host's side, by kernel: those of the emulated build of the same source.
    const std::map<std::string, KernelLayout>* layouts = nullptr;
};

struct KernelReport {
    std::string name;
    std::optional<std::uint32_t> type;
    std::uint64_t offset = 0; // st_value
    std::uint64_t size = 0;
    std::optional<std::uint64_t> args_size;
};

struct FileReport {
    std::string path;
    std::string machine;
    std::string architecture;
    std::vector<KernelReport> kernels;
    std::vector<Finding> findings;

    std::size_t count(Severity severity) const;
};

FileReport verify(const Image& image, const VerifyOptions& options);

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_VERIFIER_VERIFY_H
