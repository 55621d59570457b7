// A kernel of a binary, and launching it.
#ifndef AIVOPS_DISPATCH_KERNEL_H
#define AIVOPS_DISPATCH_KERNEL_H

#include "aivops/dispatch/binary.h"
#include "aivops/dispatch/launch_config.h"
#include "aivops/kernel_binary/counted.h"
#include "aivops/kernel_binary/nearest_name.h"

#include <string_view>

namespace aivops {

class PreparedLaunch;

class Kernel {
  public:
    const std::string& name() const { return state_->description.name; }
    /// "K_TYPE_AIV", ...; empty when the binary does not say.
    const std::string& type() const { return state_->description.type; }
    /// Nothing when the binary does not describe its parameters.
    const std::optional<ArgumentLayout>& layout() const { return state_->description.layout; }
    const std::string& origin() const { return binary_->origin; }

    /// Packs the arguments and queues one launch. Throws before anything is queued when something does not fit.
    template <class... Values>
    void launch(const Stream& stream, const LaunchConfig& config, const Values&... values) const {
        ArgumentBlock block = pack_arguments(name(), layout(), values...);
        launch_block(stream, config, block.data(), block.bytes());
        (retain_argument(stream, values), ...);
    }

    /// Queues one launch with an argument block packed by the caller. The block is taken before this returns.
    void launch_block(const Stream& stream, const LaunchConfig& config, void* block, std::size_t bytes) const {
        require_launchable(stream.device());
        require_block_bytes(bytes);
        detail::LaunchSettings settings(stream, config, name());
        enqueue(stream, settings, block, bytes);
    }

    /// A launch to be repeated with some arguments changing; checks and packing are done here, once.
    template <class... Values>
    PreparedLaunch prepare(const Stream& stream, const LaunchConfig& config, const Values&... values) const;

    friend bool operator==(const Kernel& left, const Kernel& right) { return left.state_ == right.state_; }
    friend bool operator!=(const Kernel& left, const Kernel& right) { return !(left == right); }

  private:
    friend class Binary;
    friend class PreparedLaunch;

    Kernel(std::shared_ptr<detail::BinaryState> binary, detail::KernelState* state)
        : binary_(std::move(binary)), state_(state) {}

    std::string describe(const Device& device) const {
        return "Kernel " + name() + " of " + origin() + " on device " + std::to_string(device.id());
    }

    void require_launchable(const Device& device) const {
        if (&device.toolkit() != &binary_->toolkit) {
            throw InvalidValueError(describe(device) + ": the device belongs to another toolkit");
        }
        // Without its type record the runtime would start a kernel on cube cores.
        if (type() != "K_TYPE_AIV" && type() != "K_TYPE_AIV_ROLLBACK") {
            throw InvalidValueError(describe(device) + ": its type is " + (type().empty() ? "not recorded" : type()) +
                                    ", AivOps launches K_TYPE_AIV; export it with AIVOPS_EXPORT_KERNEL(" + name() +
                                    ")");
        }
    }

    void require_block_bytes(std::size_t bytes) const {
        const std::size_t expected = layout() ? ArgumentBlock(layout()->bytes).bytes() : bytes;
        if (bytes == 0 || bytes != expected) {
            throw InvalidValueError("Kernel " + name() + ": an argument block of " +
                                    kernel_binary::counted(bytes, "byte") + ", expected " +
                                    (expected == 0 ? "at least 1" : std::to_string(expected)));
        }
    }

    void enqueue(const Stream& stream, detail::LaunchSettings& settings, void* block, std::size_t bytes) const {
        const Device& device = stream.device();
        const cann::FunctionTable& acl = device.acl();
        const ContextGuard guard(device);
        aclrtFuncHandle function =
            state_->functions[static_cast<std::size_t>(device.id())].load(std::memory_order_acquire);
        if (function == nullptr) {
            function = binary_->take_function(*state_, device);
        }
        aclrtLaunchKernelCfg config = settings.config();
        const auto launch = [&] {
            return acl.aclrtLaunchKernelWithHostArgs(function, settings.blocks(), stream.handle(), &config, block,
                                                     bytes, nullptr, 0);
        };
        aclError code = launch();
        if (code == ACL_ERROR_RT_INVALID_HANDLE) {
            // A reset of the device dropped the registration; taking the function again brings it back.
            function = binary_->take_function(*state_, device);
            code = launch();
        }
        check(acl, code, "aclrtLaunchKernelWithHostArgs", [&] { return describe(device); });
        stream.count_launch();
        stream.retain(binary_);
    }

    template <class Value>
    static void retain_argument(const Stream& stream, const Value& value) {
        if constexpr (std::is_same_v<Value, Buffer>) {
            value.retain_on(stream);
        }
    }

    std::shared_ptr<detail::BinaryState> binary_;
    detail::KernelState* state_;
};

namespace detail {

inline std::string suggest(const std::string& wrong, const std::vector<std::string_view>& names) {
    const std::string_view nearest = kernel_binary::nearest_name(wrong, names);
    return nearest.empty() ? "" : " (did you mean " + std::string(nearest) + "?)";
}

/// The names there are, those that resemble `wrong` first.
inline std::string list_names(const std::string& wrong, const std::vector<std::string_view>& names) {
    constexpr std::size_t kMostShown = 12;
    std::string text;
    std::size_t shown = 0;
    for (const std::string_view name : kernel_binary::nearest_first(wrong, names)) {
        if (shown == kMostShown) {
            return text + " and " + std::to_string(names.size() - shown) + " more";
        }
        text += (shown == 0 ? "" : ", ") + std::string(name);
        ++shown;
    }
    return text.empty() ? "none" : text;
}

} // namespace detail

inline Kernel Binary::get_kernel(const std::string& name) const {
    for (const auto& kernel : state_->kernels) {
        if (kernel->description.name == name) {
            return Kernel(state_, kernel.get());
        }
    }
    std::vector<std::string_view> names;
    for (const auto& kernel : state_->kernels) {
        names.push_back(kernel->description.name);
    }
    throw InvalidValueError(state_->describe() + ": has no kernel " + name + detail::suggest(name, names) +
                            "; it has " + detail::list_names(name, names));
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_KERNEL_H
