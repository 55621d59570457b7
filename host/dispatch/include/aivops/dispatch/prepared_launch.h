// A launch made ready once and queued many times, with some arguments changing in between. Not for use by two threads
// at the same time. Vector cores and time limit are those of the moment it was prepared.
#ifndef AIVOPS_DISPATCH_PREPARED_LAUNCH_H
#define AIVOPS_DISPATCH_PREPARED_LAUNCH_H

#include "aivops/dispatch/kernel.h"
#include "aivops/kernel_binary/counted.h"

namespace aivops {

/// By parameter: the memory that an argument block points to.
using ArgumentBuffers = std::vector<std::optional<Buffer>>;

inline void retain_buffers(const Stream& stream, const ArgumentBuffers& buffers) {
    for (const std::optional<Buffer>& buffer : buffers) {
        if (buffer) {
            buffer->retain_on(stream);
        }
    }
}

class PreparedLaunch {
  public:
    PreparedLaunch(Kernel kernel, Stream stream, const LaunchConfig& config, ArgumentBlock block,
                   ArgumentBuffers buffers)
        : kernel_(std::move(kernel)), stream_(std::move(stream)), settings_(stream_, config, kernel_.name()),
          block_(std::move(block)), buffers_(std::move(buffers)) {
        kernel_.require_launchable(stream_.device());
        kernel_.require_block_bytes(block_.bytes());
    }

    const Kernel& kernel() const { return kernel_; }
    const Stream& stream() const { return stream_; }
    std::uint32_t blocks() const { return settings_.blocks(); }
    /// What the next launch takes; the buffers that it points to are beside it.
    ArgumentBlock& block() { return block_; }
    ArgumentBuffers& buffers() { return buffers_; }

    /// For a kernel whose parameters are not known: the whole block anew.
    void replace_block(ArgumentBlock block) {
        if (block.bytes() != block_.bytes()) {
            throw InvalidValueError("Kernel " + kernel_.name() + ": an argument block of " +
                                    kernel_binary::counted(block.bytes(), "byte") + ", prepared with " +
                                    std::to_string(block_.bytes()));
        }
        block_ = std::move(block);
    }

    /// Replaces one argument, with the same checks as a launch. Launches already queued keep the old one.
    template <class Value>
    void set(std::size_t index, const Value& value) {
        detail::write_argument(block_, slot(index), value);
        if constexpr (std::is_same_v<Value, Buffer>) {
            buffers_[index] = value;
        } else {
            buffers_[index].reset();
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
                                    ", their number is " + std::to_string(layout->parameters.size()));
        }
        return {kernel_.name(), index, layout->parameters[index]};
    }

    void launch() {
        kernel_.enqueue(stream_, settings_, block_.data(), block_.bytes());
        retain_buffers(stream_, buffers_);
    }

  private:
    Kernel kernel_;
    Stream stream_;
    detail::LaunchSettings settings_;
    ArgumentBlock block_;
    ArgumentBuffers buffers_;
};

template <class... Values>
PreparedLaunch Kernel::prepare(const Stream& stream, const LaunchConfig& config, const Values&... values) const {
    ArgumentBuffers buffers;
    const auto collect = [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Buffer>) {
            buffers.emplace_back(value);
        } else {
            buffers.emplace_back();
        }
    };
    (collect(values), ...);
    return PreparedLaunch(*this, stream, config, pack_arguments(name(), layout(), values...), std::move(buffers));
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_PREPARED_LAUNCH_H
