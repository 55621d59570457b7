// An emulated device: its cores, its streams, and the engine that only one thread at a time turns.
#ifndef AIVOPS_MACHINE_DEVICE_H
#define AIVOPS_MACHINE_DEVICE_H

#include "block.h"
#include "counters.h"
#include "stream.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace aivops::machine {

class Device {
  public:
    explicit Device(uint32_t index);

    uint32_t index() const { return index_; }
    Counters& counters() { return counters_; }

    // Peers whose memory this device's kernels may touch.
    bool can_access(uint32_t owner) const { return owner == index_ || (peers_.load() >> owner & 1) != 0; }
    void allow_peer(uint32_t peer) { peers_.fetch_or(uint64_t{1} << peer); }
    void forbid_peer(uint32_t peer) { peers_.fetch_and(~(uint64_t{1} << peer)); }

    // Cores. Only for the thread that turns the engine.
    std::vector<Core*>& free_cores() { return free_cores_; }

    // Streams.
    std::shared_ptr<Stream> create_stream(std::shared_ptr<FailureDomain> domain);
    std::vector<std::shared_ptr<Stream>> streams();
    void remove_stream(const std::shared_ptr<Stream>& stream);
    void submit(Stream& stream, std::unique_ptr<Task> task);
    bool has_work() const { return pending_.load(std::memory_order_acquire) != 0; }

    /// Drops all work of a stream, running kernels included.
    void abort(Stream& stream);

    /// Runs something while nobody turns the engine.
    void while_still(const std::function<void()>& change);

    /// Steps every stream once. False when nothing moved, or another thread turns the engine.
    bool advance();

    /// Runs after the engine is let go: callbacks of the user's may use the device.
    void defer(std::function<void()> function);

    /// Returns when everything deferred has run; at once to a function that was deferred itself.
    static void await_deferred();

    /// Threads that wait for this device and drive it themselves; the worker keeps back as long as there are any.
    std::atomic<uint32_t>& drivers() { return drivers_; }

    // For the watchdog: the block that runs, and the thread it runs on.
    void set_running(Block* block, int64_t timeout_ns) {
        running_timeout_ns_.store(timeout_ns, std::memory_order_relaxed);
        running_.store(block, std::memory_order_release);
    }
    int64_t running_timeout_ns() const { return running_timeout_ns_.load(std::memory_order_relaxed); }
    std::atomic<uint64_t>& progress() { return progress_; }
    Block* running() const { return running_.load(std::memory_order_acquire); }
    pthread_t engine_thread() const { return engine_thread_.load(std::memory_order_relaxed); }
    uint64_t switches() const { return switches_.load(std::memory_order_relaxed); }
    void count_switch() { switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    /// Set by the watchdog: the running block must end.
    std::atomic<bool>& stop_running() { return stop_running_; }

  private:
    std::atomic<bool>& engine();
    bool take_engine();
    void let_engine_go();
    bool advance_in_turn();
    bool step_streams();
    void work();
    void start_worker();
    void drop(Stream& stream);
    void finish_front(Stream& stream, Task& task, std::optional<Failure> failure);

    const uint32_t index_;
    Counters counters_;
    std::atomic<uint64_t> peers_{0};

    std::vector<std::unique_ptr<Core>> cores_;
    std::vector<Core*> free_cores_;

    std::mutex streams_mutex_;
    std::vector<std::shared_ptr<Stream>> streams_;
    std::vector<std::shared_ptr<Stream>> stepping_; // the engine's copy
    std::atomic<uint32_t> streams_version_{0};
    uint32_t stepping_version_ = ~0u;
    std::atomic<uint32_t> pending_{0};

    std::atomic<bool> engine_{false};
    std::atomic<pthread_t> engine_thread_{};
    std::atomic<Block*> running_{nullptr};
    std::atomic<int64_t> running_timeout_ns_{0};
    std::atomic<uint64_t> progress_{0};
    std::atomic<uint64_t> switches_{0};
    std::atomic<bool> stop_running_{false};
    std::vector<std::function<void()>> deferred_;

    std::atomic<uint32_t> drivers_{0};
    std::once_flag worker_started_;
    std::mutex worker_mutex_;
    std::condition_variable worker_wakes_;
    bool worker_asleep_ = false;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_DEVICE_H
