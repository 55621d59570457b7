// A launch made ready once and queued many times, with some arguments changing in between. Not for use by two threads
// at the same time. Vector cores and time limit are those of the moment it was prepared.
#ifndef AIVOPS_DISPATCH_PREPARED_LAUNCH_H
#define AIVOPS_DISPATCH_PREPARED_LAUNCH_H

#include "aivops/dispatch/kernel.h"

#include <map>

namespace aivops {

class PreparedLaunch {
  public:
    /// `block` is the packed argument block; `buffers` holds, by parameter, the memory that it points to.
    PreparedLaunch(Kernel kernel, Stream stream, const LaunchConfig& config, ArgumentBlock block,
                   std::map<std::size_t, Buffer> buffers)
        : kernel_(std::move(kernel)), stream_(std::move(stream)), settings_(stream_, config, kernel_.name()),
          block_(std::move(block)), buffers_(std::move(buffers)) {
        kernel_.require_launchable(stream_.device());
        kernel_.require_block_bytes(block_.bytes());
    }

    const Kernel& kernel() const { return kernel_; }
    const Stream& stream() const { return stream_; }
    std::uint32_t blocks() const { return settings_.blocks(); }
    ArgumentBlock& block() { return block_; }

    /// Replaces one argument, with the same checks as a launch.
    template <class Value>
    void set(std::size_t index, const Value& value) {
        detail::write_argument(block_, slot(index), value);
        if constexpr (std::is_same_v<Value, Buffer>) {
            keep_buffer(index, value);
        } else {
            forget_buffer(index);
        }
    }

    /// Where argument `index` goes. Throws when there is none, or the parameters are not known.
    detail::Slot slot(std::size_t index) const {
        const auto& layout = kernel_.layout();
        if (!layout) {
            detail::refuse_without_layout(kernel_.name());
        }
        if (index >= layout->parameters.size()) {
            throw InvalidValueError("Kernel " + kernel_.name() + ": has no parameter " + std::to_string(index) +
                                    ", it takes " + std::to_string(layout->parameters.size()) + " arguments");
        }
        return {kernel_.name(), index, layout->parameters[index]};
    }

    /// Launches already queued keep the buffer that they were given.
    void keep_buffer(std::size_t index, const Buffer& buffer) { buffers_.insert_or_assign(index, buffer); }
    void forget_buffer(std::size_t index) { buffers_.erase(index); }

    void launch() {
        kernel_.enqueue(stream_, settings_, block_.data(), block_.bytes());
        for (const auto& entry : buffers_) {
            entry.second.retain_on(stream_);
        }
    }

  private:
    Kernel kernel_;
    Stream stream_;
    detail::LaunchSettings settings_;
    ArgumentBlock block_;
    std::map<std::size_t, Buffer> buffers_;
};

template <class... Values>
PreparedLaunch Kernel::prepare(const Stream& stream, const LaunchConfig& config, const Values&... values) const {
    std::map<std::size_t, Buffer> buffers;
    std::size_t index = 0;
    const auto collect = [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Buffer>) {
            buffers.emplace(index, value);
        }
        ++index;
    };
    (collect(values), ...);
    return PreparedLaunch(*this, stream, config, pack_arguments(name(), layout(), values...), std::move(buffers));
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_PREPARED_LAUNCH_H
