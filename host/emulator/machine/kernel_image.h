// A kernel binary as the runtime sees it: the parsed file, shared by all devices, and one loaded copy per device.
// Each copy has its own kernel globals, because on hardware each device has.
#ifndef AIVOPS_MACHINE_KERNEL_IMAGE_H
#define AIVOPS_MACHINE_KERNEL_IMAGE_H

#include "contract/contract.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aivops::machine {

enum class CoreType : uint32_t { kAiCore = 0, kCube = 1, kVector = 2 };

struct KernelInfo {
    std::string name;   // as looked up: without the mark of a mixed kernel
    std::string symbol; // as in the symbol table
    uint64_t entry_key = 0;
    CoreType core = CoreType::kCube; // what the runtime takes a kernel for that does not say
    bool says_core = false;
    bool batch = false;
    uint64_t offset = 0; // of the function in the image
    uint64_t size = 0;
    bool has_layout = false;
    uint32_t args_size = 0;
    std::vector<AivEmuParameter> parameters;

    /// Up to the end of the last parameter: a struct's padding behind it carries nothing.
    uint32_t bytes_read() const { return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size; }
};

struct KernelFile {
    std::vector<std::byte> bytes;
    std::string label; // path, or "(data)"
    uint32_t npu_arch = 0;
    std::vector<KernelInfo> kernels; // by name

    /// nullptr, and why, when the runtime would refuse it. `default_core` is what the load options say of kernels
    /// that do not say it themselves.
    static std::shared_ptr<const KernelFile> parse(std::vector<std::byte> bytes, std::string label,
                                                   CoreType default_core, std::string& error);

    const KernelInfo* find(std::string_view name) const;
    const KernelInfo* find_entry(uint64_t key) const;
};

/// The architecture's name for messages.
const char* architecture_name(uint32_t npu_arch);

class KernelImage {
  public:
    static std::unique_ptr<KernelImage> load(std::shared_ptr<const KernelFile> file, std::string& error);

    /// Where `instruction` lies in the image that has it; no file when none has.
    struct Position {
        std::shared_ptr<const KernelFile> file;
        uint64_t offset = 0;
    };
    static Position position_of(const void* instruction);
    /// "file.asc:34" of the code before `instruction`, when a loaded image has it and was compiled with -g.
    static std::string source_line_of(const void* instruction);
    ~KernelImage();
    KernelImage(const KernelImage&) = delete;
    KernelImage& operator=(const KernelImage&) = delete;

    /// Where an instruction of this image is in its file.
    uint64_t offset_of(const void* instruction) const {
        return reinterpret_cast<uint64_t>(instruction) - reinterpret_cast<uint64_t>(base_);
    }
    AivEmuBinding& binding() const { return *binding_; }
    /// The binary's block-local variables; nothing when it has none.
    std::span<uint8_t> block_locals() const { return block_locals_; }
    const AivEmuEntry* entry(const KernelInfo& kernel) const;
    void* address_of(const char* symbol, size_t* size) const;

  private:
    KernelImage() = default;

    std::shared_ptr<const KernelFile> file_;
    int descriptor_ = -1;
    void* library_ = nullptr;
    const void* base_ = nullptr;
    AivEmuBinding* binding_ = nullptr;
    std::span<uint8_t> block_locals_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_KERNEL_IMAGE_H
