// The pipes of a core when they may be late: what the kernel issues to V, MTE2 and MTE3 waits in a queue per pipe and
// is done at some turn of its block, at the latest where a barrier, an event or the end of the block orders it.
// Addresses, parameters, atomic mode and control bits are those of the issue; UB and GM are read when the work is done.
#ifndef AIVOPS_MACHINE_LATE_PIPES_H
#define AIVOPS_MACHINE_LATE_PIPES_H

#include "block.h"
#include "dice.h"
#include "race_check.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace aivops::machine {

class LatePipes {
  public:
    explicit LatePipes(Block& block) : block_(block) {}

    /// A block starts on this core.
    void start(const Dice& dice);

    /// Before each instruction: lets other blocks run, and the pipes work, or not. Waits where the block polls in vain.
    void turn();
    /// The same at a place that a sweep may hold back.
    void turn(const void* place);

    void copy(Lane lane, const AivEmuCopy& copy, const void* place);
    void compute(const AivEmuCompute& compute, const void* place);
    void set_flag(uint32_t source, uint32_t destination, uint32_t id);
    void wait_flag(uint32_t source, uint32_t destination, uint32_t id, const void* place);
    void barrier(uint32_t pipe, const void* place);
    /// Everything issued to a pipe is done.
    void finish(Lane lane);
    /// The block ends. Pipes that wait for an event that nobody sets are left.
    void finish_at_end();

    /// Gives way until `ready`; the pipes go on meanwhile.
    template <typename Ready>
    void wait(BlockState state, Ready ready) {
        do {
            give_way(block_, state);
        } while (!ready() && (work_while_waiting() || state != BlockState::kPolling));
    }
    /// Whether a block that waits has pipes that go on by themselves.
    bool go_on() const;
    /// Whether the block's last read was a poll in vain: it waits at its next turn.
    void note_vain_poll() { polled_in_vain_ = true; }
    /// Of a read whose content is not kept: it waits until anything changes.
    void note_vain_large_poll();
    /// How often the block has issued what others can see. Reading a place again with nothing of that between is
    /// polling, whenever the reads are done.
    uint64_t visible_issues() const { return working_ ? working_->visible_issues : visible_issues_; }
    void note_visible_issue() { ++visible_issues_; }

  private:
    enum class Kind : uint8_t { kCopy, kCompute, kSetFlag, kWaitFlag, kBarrier };
    struct Work {
        Kind kind;
        bool held = false;  // by a sweep
        bool small = false; // a copy that may be a flag
        Lane lane;
        const void* place = nullptr;
        BlockRaces::Issue issue;
        uint64_t visible_issues = 0;
        AivEmuCopy copy{};
        uint32_t atomic = 0;
        uint32_t atomic_type = 0;
        uint64_t control = 0; // register
        AivEmuCompute compute{};
        std::vector<AivEmuRange> ranges;
        std::vector<std::byte> parameters;
        uint32_t source = 0; // of an event
        uint32_t destination = 0;
        uint32_t id = 0;
    };
    using Queue = std::deque<std::unique_ptr<Work>>;

    Queue& queue(Lane lane) { return queues_[static_cast<size_t>(lane)]; }
    const Queue& queue(Lane lane) const { return queues_[static_cast<size_t>(lane)]; }
    std::unique_ptr<Work> new_work(Kind kind, Lane lane, const void* place) const;
    void queue_event(Kind kind, Lane lane, uint32_t source, uint32_t destination, uint32_t id, const void* place);
    bool held(const void* place) const;
    bool in_order(Lane lane) const;
    static bool is_fence(const Work& work) { return work.kind != Kind::kCopy && work.kind != Kind::kCompute; }

    // The works of a pipe that may be done next: all before the first fence, or only the first.
    size_t candidates(const Queue& queue, Lane lane) const;
    bool can_go_on(Lane lane, bool even_held) const;
    void go_on(Lane lane, bool even_held);
    bool finish_one();
    bool work_while_waiting();
    bool force(Lane lane, uint32_t depth);
    void do_work(Lane lane, size_t index);
    bool split(Work& work, Work& first);
    void do_now(const Work& work);

    Block& block_;
    Dice dice_;
    std::array<Queue, kLanes> queues_;
    std::array<uint32_t, kLanes> eagerness_{};
    std::unique_ptr<Work> working_; // here, and not on the stack of a block that may end in it
    bool polled_in_vain_ = false;
    uint64_t visible_issues_ = 0;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_LATE_PIPES_H
