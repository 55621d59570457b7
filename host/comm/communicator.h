// One rank of a group: launches collectives on its device and waits for them.
#pragma once

#include "algorithm.h"
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

/// One collective on arrays in host memory.
struct HostCall {
    Operator operation;
    DataType type;
    Reduction reduction;
    uint32_t root;
    uint64_t count; // elements, of what the operator counts
    const void* input;
    void* output;
    Timeout timeout; // nothing: the group's
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
    void launch(const HostCall& call, const Call& stamp, const Algorithm& algorithm, void* input, void* output);
    void finish(const Timeout& timeout);
    const Kernel& kernel(const Algorithm& algorithm, DataType type);
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
