// A kernel binary: its bytes are read once, checked, and those very bytes are handed to the runtime
// (aclrtBinaryLoadFromData). aclrtBinaryLoadFromFile would open the file again, after the check, and would also obey a
// JSON file that happens to lie beside it.
#ifndef AIVOPS_DISPATCH_BINARY_H
#define AIVOPS_DISPATCH_BINARY_H

#include "aivops/dispatch/arguments.h"
#include "aivops/dispatch/image_kernels.h"
#include "aivops/kernel_binary/image_summary.h"
#include "aivops/kernel_binary/manifest.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace aivops {

class Kernel;

namespace detail {

/// One kernel of a binary. The function of each device is taken at its first launch there.
struct KernelState {
    KernelState(KernelDescription description, std::uint32_t devices)
        : description(std::move(description)), functions(new std::atomic<aclrtFuncHandle>[devices]()) {}

    KernelDescription description;
    std::unique_ptr<std::atomic<aclrtFuncHandle>[]> functions; // by device id
};

struct BinaryState : Retainable {
    BinaryState(const Toolkit& toolkit, std::string origin, std::string image)
        : toolkit(toolkit), origin(std::move(origin)), image(std::move(image)) {}

    ~BinaryState() {
        if (handle != nullptr && !is_forked_child()) {
            toolkit.acl().aclrtBinaryUnLoad(handle);
        }
    }
    BinaryState(const BinaryState&) = delete;
    BinaryState& operator=(const BinaryState&) = delete;

    std::string describe() const { return "Binary " + origin; }

    /// The function of `kernel` on `device`, which must be current. Registers the binary there.
    aclrtFuncHandle take_function(KernelState& kernel, const Device& device) {
        const cann::FunctionTable& acl = toolkit.acl();
        const std::lock_guard<std::mutex> lock(mutex);
        if (handle == nullptr) {
            load(acl);
        }
        aclrtFuncHandle function = nullptr;
        check(acl, acl.aclrtBinaryGetFunction(handle, kernel.description.name.c_str(), &function),
              "aclrtBinaryGetFunction", [&] {
                  return "Kernel " + kernel.description.name + " of " + origin + " on device " +
                         std::to_string(device.id());
              });
        kernel.functions[static_cast<std::size_t>(device.id())].store(function, std::memory_order_release);
        return function;
    }

    const Toolkit& toolkit;
    const std::string origin;
    const std::string image; // the runtime may keep pointing at it when it cannot copy it
    std::string sha256;
    std::string machine;
    std::string architecture;
    std::vector<std::unique_ptr<KernelState>> kernels; // by name

  private:
    void load(const cann::FunctionTable& acl) {
        aclrtBinaryLoadOption option{};
        option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
        option.value.isLazyLoad = 1;
        aclrtBinaryLoadOptions options{};
        options.options = &option;
        options.numOpt = 1;
        check(acl, acl.aclrtBinaryLoadFromData(image.data(), image.size(), &options, &handle),
              "aclrtBinaryLoadFromData", [&] { return describe(); });
    }

    std::mutex mutex;
    aclrtBinHandle handle = nullptr;
};

} // namespace detail

class Binary {
  public:
    /// Reads `path`. A `sha256` that is given must be that of the file. Throws BinaryError.
    static Binary load(const Toolkit& toolkit, const std::filesystem::path& path, const std::string& sha256 = "") {
        constexpr std::uint64_t kLimit = std::uint64_t{4} << 30;
        std::string image;
        try {
            image = kernel_binary::read_whole_file(path, kLimit);
        } catch (const std::runtime_error& error) {
            throw BinaryError("Binary " + std::string(error.what()));
        }
        return Binary(toolkit, path.string(), std::move(image), sha256, {});
    }

    /// From memory; `origin` names it in messages.
    static Binary from_bytes(const Toolkit& toolkit, std::string image, std::string origin = "<bytes>",
                             const std::string& sha256 = "") {
        return Binary(toolkit, std::move(origin), std::move(image), sha256, {});
    }

    /// An entry of a manifest, whose descriptions of the kernels hold.
    static Binary from_manifest(const Toolkit& toolkit, const std::filesystem::path& manifest,
                                const kernel_binary::ManifestBinary& entry) {
        std::string image;
        try {
            image = kernel_binary::read_binary(manifest, entry);
        } catch (const std::runtime_error& error) {
            throw BinaryError("Binary " + std::string(error.what()));
        }
        return Binary(toolkit, (manifest.parent_path() / entry.path).string(), std::move(image), entry.sha256,
                      detail::describe_kernels(entry));
    }

    const Toolkit& toolkit() const { return state_->toolkit; }
    /// The path it came from.
    const std::string& origin() const { return state_->origin; }
    const std::string& sha256() const { return state_->sha256; }
    const std::string& machine() const { return state_->machine; }
    const std::string& architecture() const { return state_->architecture; }

    std::vector<std::string> kernel_names() const {
        std::vector<std::string> names;
        for (const auto& kernel : state_->kernels) {
            names.push_back(kernel->description.name);
        }
        return names;
    }

    /// Throws InvalidValueError when there is none of this name.
    Kernel get_kernel(const std::string& name) const;

  private:
    Binary(const Toolkit& toolkit, std::string origin, std::string image, const std::string& sha256,
           std::vector<KernelDescription> kernels)
        : state_(std::make_shared<detail::BinaryState>(toolkit, std::move(origin), std::move(image))) {
        detail::BinaryState& state = *state_;
        const kernel_binary::ByteView bytes(state.image.data(), state.image.size());
        state.sha256 = kernel_binary::sha256_hex(bytes);
        if (!sha256.empty() && sha256 != state.sha256) {
            throw BinaryError(state.describe() + ": expected sha256 " + sha256 + ", found " + state.sha256 +
                              "; reinstall or rebuild the kernels");
        }
        kernel_binary::ImageSummary summary;
        try {
            summary = kernel_binary::summarize_image(bytes);
        } catch (const std::runtime_error& error) {
            throw BinaryError(state.describe() + ": " + error.what() + "; give a linked kernel binary");
        }
        state.machine = kernel_binary::machine_name(summary.machine);
        state.architecture = summary.architecture.name;
        require_fit(toolkit, summary);
        if (kernels.empty()) {
            kernels = detail::describe_kernels(bytes, summary);
        }
        const std::uint32_t devices = toolkit.device_count();
        for (KernelDescription& kernel : kernels) {
            state.kernels.push_back(std::make_unique<detail::KernelState>(std::move(kernel), devices));
        }
    }

    void require_fit(const Toolkit& toolkit, const kernel_binary::ImageSummary& summary) const {
        if (state_->machine != toolkit.machine()) {
            throw BinaryError(state_->describe() + ": is for machine " + state_->machine + ", but " +
                              toolkit.describe() + " runs " + toolkit.machine() +
                              "; build the kernel with this toolkit, or choose the other one "
                              "with ASCEND_HOME_PATH or AIVOPS_TOOLKIT");
        }
        const std::string wanted = toolkit.architecture();
        if (summary.architecture.generation != kernel_binary::find_generation(wanted)) {
            throw BinaryError(state_->describe() + ": is for architecture " + state_->architecture + ", but " +
                              toolkit.soc_name() + " has " + wanted + "; build it with ARCHITECTURES " + wanted);
        }
    }

    std::shared_ptr<detail::BinaryState> state_;
};

} // namespace aivops

#endif // AIVOPS_DISPATCH_BINARY_H
