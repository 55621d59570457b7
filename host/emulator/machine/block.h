// A block of a running kernel and the vector core that it occupies: unified buffer, stack, events, polls.
#ifndef AIVOPS_MACHINE_BLOCK_H
#define AIVOPS_MACHINE_BLOCK_H

#include "context_switch.h"
#include "contract/contract.h"
#include "counters.h"
#include "lazy_loads.h"
#include "memory.h"
#include "scalar_cache.h"
#include "stack_annotations.h"
#include "streaming_copy.h"
#include "trace.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aivops::machine {

struct Access;
class Device;
class Doorbell;
class KernelRun;

enum class BlockState : uint8_t { kReady, kPolling, kHeld, kAtSyncAll, kAtCrossCore, kFinished, kFaulted };

// Which validity the 32-byte granules of a unified buffer have.
class Validity {
  public:
    explicit Validity(uint32_t ub_bytes) : bits_((ub_bytes / kGranule + 63) / 64), reach_(ub_bytes / kGranule) {}

    void clear() {
        bits_.assign(bits_.size(), 0);
        reach_ = 0;
    }
    void set(uint32_t ub, uint32_t bytes);        // every granule that it touches
    void invalidate(uint32_t ub, uint32_t bytes); // only granules that it covers
    /// Offset of the first invalid granule that it touches; -1 when all are valid.
    int64_t first_invalid(uint32_t ub, uint32_t bytes) const;
    /// The bytes up to the end of what was ever valid since clear(); all before the first.
    uint32_t reach() const { return reach_ * kGranule; }

    static constexpr uint32_t kGranule = 32;

  private:
    std::vector<uint64_t> bits_;
    uint32_t reach_;
};

// The small pieces of GM that a block read since it last did something that others can see. Reading one again,
// unchanged, is polling: the block gives way until one of them changes.
class Polls {
  public:
    enum class Seen { kFirst, kUnchanged, kChanged };

    void clear() {
        count_ = 0;
        next_ = 0;
        unchanged_ = 0;
        large_count_ = 0;
    }
    /// Forgets what was read before the block did something that others can see; `visible` counts how often it has.
    void clear_unless(uint64_t visible) {
        if (visible_ != visible) {
            visible_ = visible;
            clear();
        }
    }
    /// `by_pointer`: a line of GM that the kernel may read through pointers of its own, and not a read.
    Seen observe(Address gm, uint32_t bytes, const void* content, bool by_pointer = false);
    /// Whether the next look at this piece is not the first.
    bool has(Address gm, uint32_t bytes) const;
    /// Whether it has read any of these bytes, other than through pointers of its own.
    bool has_read_in(Address gm, uint32_t bytes) const;
    /// Whether a large read repeats one since the last clear(). Its content is not kept, so it cannot wait for a
    /// change, but a loop of such reads must let others run and must not pass for progress.
    bool repeats(Address gm, uint64_t bytes);
    bool any_changed() const;
    uint32_t unchanged() const { return unchanged_; }
    /// What was read last has changed, and a data cache keeps that back.
    void note_kept_back() { polls_[last_].kept_back = true; }
    bool any_kept_back() const;
    /// What was polled last; no bytes when nothing was.
    struct Piece {
        Address gm = 0;
        uint32_t bytes = 0;
        const uint8_t* content = nullptr;
        bool by_pointer = false;
    };
    Piece latest() const;
    /// The same for reports.
    std::string describe() const;

  private:
    struct Poll {
        Address gm;
        uint32_t bytes;
        bool by_pointer;
        bool kept_back; // so memory does not hold what the block finds
        std::array<uint8_t, kSmallBytes> content;
    };
    static constexpr uint32_t kKept = 64;

    std::array<Poll, kKept> polls_;
    uint32_t count_ = 0;
    uint32_t next_ = 0;
    uint32_t last_ = 0;
    uint32_t unchanged_ = 0;
    uint64_t visible_ = 0;
    uint32_t generation_ = 0; // of the memory when it was read; older memory may be gone

    struct Large {
        Address gm;
        uint64_t bytes;
    };
    std::array<Large, kKept> large_;
    uint32_t large_count_ = 0; // read since clear(); the oldest beyond kKept are forgotten
};

// Event flags between pipes, by (source, destination, id).
class Events {
  public:
    static constexpr uint32_t kPipes = 6;
    static constexpr uint32_t kKernelIds = 8;         // from here on ids are the queues' own,
    static constexpr uint32_t kIds = kKernelIds + 64; // one per buffer that a TPipe has at most

    void clear() {
        if (touched_) {
            flags_.fill(0);
        }
        touched_ = false;
        kernel_ids_touched_ = false;
    }
    int8_t& at(uint32_t source, uint32_t destination, uint32_t id) {
        touched_ = true;
        kernel_ids_touched_ = kernel_ids_touched_ || id < kKernelIds;
        return flags_[(source * kPipes + destination) * kIds + id];
    }
    /// Remembers where a kernel last set an event, or waited for it.
    void note_place(uint32_t source, uint32_t destination, uint32_t id, const void* place) {
        if (id < kKernelIds) {
            places_[(source * kPipes + destination) * kKernelIds + id] = place;
        }
    }
    /// "MTE2_V event id 3", for reports.
    static std::string describe(uint32_t source, uint32_t destination, uint32_t id);
    struct Leftovers {
        std::string text; // empty when there are none
        const void* place = nullptr;
    };
    /// Kernel events that are left set, or waited for and never set.
    Leftovers leftovers() const;

  private:
    bool touched_ = true;
    bool kernel_ids_touched_ = false;
    std::array<int8_t, kPipes * kPipes * kIds> flags_; // 1 set, 0 clear, -1 waited for before it was set
    std::array<const void*, kPipes * kPipes * kKernelIds> places_;
};

struct Block : AivEmuBlock {
    KernelRun* run = nullptr;
    Device* device = nullptr;
    struct Core* core = nullptr;
    BlockState state = BlockState::kReady;

    SavedContext context = nullptr;   // of the block while it does not run
    SavedContext scheduler = nullptr; // of the scheduler while it runs
    StackAnnotations own_stack;
    StackAnnotations scheduler_stack;
    // 1 while the machine works for the block: a signal must not take the block away then.
    std::atomic<bool> in_machine{false};
    // What the machine touches GM with; a fault there is the kernel's.
    std::atomic<bool> in_copy{false};

    uint32_t atomic = 0; // AivEmuAtomic and AivEmuType in force for copies to GM
    uint32_t atomic_type = 0;
    const void* atomic_place = nullptr; // where it was set
    int64_t retry_at = 0;               // nanoseconds: look at a poll again even when nothing changed
    uint32_t cross_core_id = 0;         // that it waits for

    int64_t began_ns = 0; // when traced
    PollSpan polling;

    Polls polls;
    Events events;
    LazyLoads lazy_loads{*this};
    RecentLoads recent_loads;
    uint64_t stored_bytes = 0; // in GM, in large pieces
    std::string unprinted;     // the line that it has begun to print
    // Where pipes are late.
    class BlockRaces* races = nullptr;
    class LatePipes* pipes = nullptr;
    ScalarCache cache;
    const void* waits_at = nullptr; // the instruction, of a block that waits
    uint32_t told = 0;              // the first word of its latest small write
    std::string expected;           // of the poll, once it has been asked: see inquiry.h
    class Inquiry* inquiry = nullptr;
    uint64_t priority = 0;
    bool polls_large = false; // so any write may be what it waits for
    uint64_t writes_seen = 0;

    // GM that it has touched before, on this core.
    struct KnownRange {
        Range range;
        uint32_t owner = 0;
        uint32_t generation = 0;
        std::shared_ptr<Doorbell> doorbell; // of the process whose memory it is; null: this one's
    };
    /// Null when [gm, gm + bytes) is in none of them, or the memory has changed since.
    const KnownRange* known_range(Address gm, uint64_t bytes);
    void learn_range(KnownRange range);

  private:
    static constexpr uint32_t kNearRanges = 4; // so many are found as fast as the first
    std::array<KnownRange, 32> ranges_;        // what is found behind these moves to the front
    uint32_t oldest_range_ = 0;
};

struct Core {
    Core(Device& device, uint32_t index);
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    /// Readies the core for one block.
    void start(KernelRun& run, uint32_t index, uint32_t count, size_t local_bytes);

    static constexpr size_t kStackBytes = 256 * 1024; // the hardware's is 32 KiB; host frames are larger
    // Addresses only. A frame may be so large that it reaches over a page.
    static constexpr size_t kStackGuardBytes = 16 * 1024 * 1024;

    uint8_t* ub;
    uint8_t* stack;
    Validity valid;
    std::unique_ptr<BlockRaces> races;
    std::unique_ptr<LatePipes> pipes;
    std::vector<uint8_t> locals; // the block's own copy of the binary's block-local variables
    Block block;
};

/// The machine's record of a block that a kernel handed in.
inline Block& block_of(AivEmuBlock* block) {
    return *static_cast<Block*>(block);
}

/// Lets other blocks run; returns when the scheduler comes back to this one.
void give_way(Block& block, BlockState state);

/// Ends the block. `place` is the return address into the kernel, `other` the access that a race is with.
[[noreturn]] void raise_fault(Block& block, uint32_t category, const std::string& message, const void* place,
                              const Access* other = nullptr);

/// The same where a WaitFlag waits for ever, with the events that may have been meant. `how`: "was not set".
[[noreturn]] void raise_never_set(Block& block, uint32_t source, uint32_t destination, uint32_t id,
                                  const std::string& how, const void* place);

/// Reports once per place and goes on; in strict mode it is a fault.
void raise_warning(Block& block, uint32_t category, const std::string& message, const void* place);

/// Prints what a block that runs no more has begun to print.
void print_rest(Block& block);

/// The table of instructions that kernels call.
extern const AivEmuTable kInstructionTable;

// Raises one of a block's flags for as long as it lives. The handler that reads it runs on the same thread, so what it
// must not see moved is the compiler's order only.
class RaisedForHandlers {
  public:
    explicit RaisedForHandlers(std::atomic<bool>& flag) : flag_(flag) {
        flag_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~RaisedForHandlers() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        flag_.store(false, std::memory_order_relaxed);
    }
    RaisedForHandlers(const RaisedForHandlers&) = delete;
    RaisedForHandlers& operator=(const RaisedForHandlers&) = delete;

  private:
    std::atomic<bool>& flag_;
};

// While this lives the block cannot be taken away.
class InMachine : RaisedForHandlers {
  public:
    explicit InMachine(Block& block) : RaisedForHandlers(block.in_machine) {}
};

// While this lives faults are the kernel's: the machine touches what the kernel named, or runs the kernel's own code.
class InCopy : RaisedForHandlers {
  public:
    explicit InCopy(Block& block) : RaisedForHandlers(block.in_copy) {}
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_BLOCK_H
