// One rank of a group: launches collectives on its device and waits for them.
#pragma once

#include "collective.h"
#include "failure.h"
#include "regions.h"
#include "window.h"

#include <aivops/dispatch/kernel_set.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace aivops {

class Communicator {
  public:
    /// All ranks make theirs together, on a device each.
    Communicator(const Device& device, std::shared_ptr<Bootstrap> bootstrap, const Terms& terms,
                 const KernelSet& kernels);

    uint32_t rank() const { return peers_.rank(); }
    uint32_t size() const { return peers_.size(); }
    const Device& device() const { return device_; }
    const Window& window() const { return window_; }

    /// Runs one collective on arrays in host memory: copies in, launches, waits, copies out. Blocks; one call at a
    /// time.
    void run(const Collective& call, const void* input, void* output);

    /// launch() on the communicator's own stream and wait(), of buffers that the caller knows to fit: where a rank
    /// takes no input, or gives no output, the one named is left alone.
    void run(const Collective& call, const Buffer& input, const Buffer& output);

    /// Queues one collective on arrays in this device's memory, as large as extent_of() says. They share no memory, or
    /// the input is what own_place() says.
    Plan launch(const Collective& call, const Buffer& input, const Buffer& output, const Stream& stream);

    /// What a call with `bytes` of input (see Situation) would run; `registered`: with arrays that peers can read.
    Plan plan(Operator operation, DataType type, uint64_t bytes, bool registered, const Wish& wish) const;

    /// What the last call ran, if there was one.
    std::optional<Plan> last_plan() const;

    /// Waits for what is queued on `stream` and raises what failed. `timeout` is that of the launches.
    void wait(const Stream& stream, const Timeout& timeout);

    const Stream& stream() const { return stream_; }

    /// Memory that the others can read where it lies: new, or what the caller has. All ranks call these together.
    Buffer allocate(uint64_t bytes);
    void register_memory(const Buffer& buffer);
    void unregister_memory(const Buffer& buffer);

    /// Whether everything that was launched has been waited for.
    bool is_idle() const;

    /// The first of `peers` that a kernel of this rank waits for at this moment.
    std::optional<uint32_t> find_awaited(const std::vector<uint32_t>& peers) const;

    /// Makes every call of this rank fail from now on, those that wait at once. The first reason stays.
    void stop(const std::string& reason);

    /// stop() here and, through the windows, on all other ranks.
    void abort(const std::string& reason);

    /// Makes a stopped communicator usable again, if done on all ranks while none is in a call.
    void recover();

    /// Gives the windows back; all ranks call it. Nothing can be launched any more.
    void close();

  private:
    struct Choice {
        Situation situation;
        Wish wish;
        bool sends;
        size_t algorithms; // there were when it was made
        Plan plan;
        const Kernel* kernel;
    };

    enum class State { kOpen, kStopped, kClosed };

    void enqueue(const Collective& call, const Choice& choice, void* input, void* output, const Stream& stream);
    Choice choose_kernel(const Collective& call, const Situation& situation);
    Situation situation_of(Operator operation, DataType type, uint64_t bytes) const;
    Plan choose(const Situation& situation, Wish wish) const;
    const Kernel& kernel(const KernelSet* kernels, const std::string& name);
    void reach_devices() const;
    std::optional<Stop> synchronize(const Stream& stream);
    std::optional<Stop> find_other_step() const;
    void tell(uint32_t failed, const std::string& reason);
    std::vector<uint32_t> ended_peers() const;
    bool throw_own_reason() const;
    [[noreturn]] void throw_peer_failed() const;

    Device device_;
    std::string architecture_;
    std::shared_ptr<Bootstrap> bootstrap_;
    const KernelSet& kernel_set_;
    Terms terms_;
    Peers peers_;
    uint32_t lanes_; // the most blocks a launch may have
    Stream stream_;
    Window window_;
    Regions regions_;
    std::atomic<State> state_{State::kOpen};
    mutable std::mutex reason_mutex_;
    std::string reason_; // of the stop
    mutable std::mutex busy_mutex_;
    std::vector<aclrtStream> busy_; // with launches that were not waited for
    std::optional<Plan> last_plan_;
    std::mutex scratch_mutex_;
    std::optional<Buffer> input_;
    std::optional<Buffer> output_;
    std::mutex kernels_mutex_;
    std::map<std::pair<const KernelSet*, std::string>, Kernel> kernels_;
    std::mutex choices_mutex_;
    std::vector<Choice> choices_; // made before, of the calls that are made again and again
};

} // namespace aivops
