// One launch: its blocks, which cores they occupy, what they wait for, and how it ends.
#ifndef AIVOPS_MACHINE_KERNEL_RUN_H
#define AIVOPS_MACHINE_KERNEL_RUN_H

#include "block.h"
#include "cross_core.h"
#include "kernel_image.h"
#include "race_check.h"
#include "task.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace aivops::machine {

struct Launch {
    std::shared_ptr<KernelImage> image;
    std::shared_ptr<const KernelFile> file;
    const KernelInfo* kernel = nullptr;
    const AivEmuEntry* entry = nullptr;
    uint32_t stream = 0;
    uint32_t blocks = 0;
    bool batch = false;
    int64_t timeout_ns = 0; // without progress; 0 = never
    std::vector<std::byte> arguments;
    const void* device_arguments = nullptr; // instead of `arguments`: read when the kernel starts
    size_t device_arguments_size = 0;
    std::shared_ptr<Ordering> ordering;             // of the stream
    Knowledge host;                                 // what the host had waited for when it launched
    std::function<void(const Failure&)> on_failure; // called outside of the engine
};

class KernelRun : public Task {
  public:
    KernelRun(Launch launch, uint32_t device);

    Step step(Device& device) override;
    void abandon(Device& device) override;
    std::optional<Failure> failure() override { return std::move(failure_); }
    Activity activity() const override { return {"launch", name(), 0, launch_.blocks}; }

    // For the block that runs.
    void call_entry() const { launch_.entry->call(arguments_); }
    void check_end(Block& block);
    void note_progress(Device& device);
    void sync_all(Block& block);
    bool cross_core_ready(const Block& block) const;
    CrossCoreFlags& cross_core_flags() { return cross_core_flags_; }
    bool has_synchronised_all() const { return has_synchronised_all_; }
    /// Whether what a block has polled in vain may have changed.
    bool sees_change(const Block& block) const;
    /// The number of an instruction of this kernel, for sweeps.
    uint32_t number_of_place(const void* place);

    /// Keeps the first failure; the launch ends with it.
    void fail(const Finding& finding);
    /// A failure of one block.
    void fail_block(const Block& block, const Finding& finding);
    /// Says it once per place and goes on.
    void warn_block(const Block& block, const Finding& finding);

    uint32_t stream() const { return launch_.stream; }
    const std::string& name() const { return launch_.kernel->name; }

  private:
    static constexpr int64_t kFirstWaitingNs = 1000 * 1000 * 1000;

    bool begin(Device& device);
    void occupy_cores(Device& device);
    void start_block(Device& device);
    bool run_block(Device& device, size_t index, int64_t now);
    bool runnable(Block& block, int64_t now) const;
    void resume(Device& device, Core& core, const AivEmuTable& table, int64_t limit_ns);
    void leave_core(Device& device, size_t index);
    void end(Device& device);
    void release_sync_all();
    void find_missing_blocks();
    void find_flags_left_set();
    void warn(const Finding& finding, const Scene& scene);
    bool step_late(Device& device, int64_t now);
    bool runnable_late(const Block& block, int64_t now) const;
    bool timed_out(Device& device, int64_t now);
    std::string describe_waiting() const;
    bool all_wait() const;
    void ask_polls(Device& device);
    Scene scene() const { return {name(), device_, number_}; }
    Scene scene(const Block& block) const { return {name(), device_, number_, block.index, block.count}; }
    void keep(const Finding& finding, const Scene& scene);

    Launch launch_;
    uint32_t device_;
    CrossCoreFlags cross_core_flags_;
    uint64_t number_ = 0; // of the process's launches
    std::vector<std::byte> argument_storage_;
    const void* arguments_ = nullptr;
    std::vector<Core*> occupied_; // taken, and without a block yet
    std::vector<Core*> resident_;
    uint32_t started_ = 0;
    uint32_t finished_ = 0;
    uint32_t at_sync_all_ = 0;
    bool has_synchronised_all_ = false;
    bool begun_ = false;
    uint64_t progress_ = 0;
    uint64_t seen_progress_ = 0;
    int64_t stalled_since_ = 0;
    std::optional<uint64_t> seen_progress_of_all_; // devices, once this launch has stalled
    int64_t all_stalled_since_ = 0;
    bool asking_ = false;                       // blocks, which have no say any more
    int64_t next_waiting_ns_ = kFirstWaitingNs; // without progress, when the report says next that this launch waits
    std::optional<Failure> failure_;
    std::vector<const void*> warned_;
    // Where pipes are late.
    Knowledge at_start_;
    Gathering told_at_sync_all_;
    Gathering told_at_end_;
    std::unordered_map<const void*, uint32_t> place_numbers_;
    std::vector<Block*> candidates_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_KERNEL_RUN_H
