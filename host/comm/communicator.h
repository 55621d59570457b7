// One rank of a group: launches collectives on its device and waits for them.
#pragma once

#include "collective.h"
#include "failure.h"
#include "window.h"

#include <aivops/dispatch/kernel_set.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace aivops {

/// What all ranks of a group share.
struct GroupState {
    uint32_t size;
    uint32_t lanes;  // the most blocks a launch may have
    uint32_t blocks; // of every launch; 0: as the plan says
    Timeout timeout;
    const KernelSet* kernels;

    std::atomic<bool> failed{false};
    std::mutex mutex;
    std::string reason; // of the failure; guarded by `mutex`
};

class Communicator {
  public:
    Communicator(const Device& device, uint32_t rank, uint64_t window_bytes, GroupState& group);

    uint32_t rank() const { return rank_; }
    uint32_t size() const { return group_.size; }
    const Device& device() const { return device_; }
    const Window& window() const { return window_; }

    /// Runs one collective on arrays in host memory: copies in, launches, waits, copies out. Blocks; one call at a
    /// time.
    void run(const Collective& call, const void* input, void* output);

    /// Queues one collective on arrays in this device's memory, as large as extent_of() says.
    void launch(const Collective& call, const Buffer& input, const Buffer& output, const Stream& stream);

    /// Waits for what is queued on `stream` and raises what failed. `timeout` is that of the launches.
    void wait(const Stream& stream, const Timeout& timeout);

    const Stream& stream() const { return stream_; }

  private:
    void enqueue(const Collective& call, const Plan& plan, void* input, void* output, const Stream& stream);
    const Kernel& kernel(const std::string& name);
    [[noreturn]] void throw_peer_failed() const;

    Device device_;
    Stream stream_;
    uint32_t rank_;
    GroupState& group_;
    Window window_;
    std::mutex scratch_mutex_;
    std::optional<Buffer> input_;
    std::optional<Buffer> output_;
    std::mutex kernels_mutex_;
    std::map<std::string, Kernel> kernels_;
};

} // namespace aivops
