// One rank of a group: launches collectives on its device and waits for them.
#pragma once

#include "failure.h"
#include "host_call.h"
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

    /// Runs one collective: copies the input in, launches, waits, copies the output out. Blocks; one call at a time.
    void run(const HostCall& call);

  private:
    void launch(const HostCall& call, const Plan& plan, void* input, void* output);
    void finish(const Timeout& timeout);
    const Kernel& kernel(const std::string& name);
    [[noreturn]] void throw_peer_failed() const;

    Device device_;
    Stream stream_;
    uint32_t rank_;
    GroupState& group_;
    Window window_;
    std::mutex mutex_;
    std::optional<Buffer> input_;
    std::optional<Buffer> output_;
    std::map<std::string, Kernel> kernels_;
};

} // namespace aivops
