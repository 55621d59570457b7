#include "kernel_run.h"

#include "access_check.h"
#include "aivops/kernel_binary/counted.h"
#include "containment.h"
#include "device.h"
#include "doorbell.h"
#include "inquiry.h"
#include "ipc_memory.h"
#include "ipc_offers.h"
#include "late_pipes.h"
#include "machine.h"
#include "report_file.h"
#include "schedule.h"
#include "settings.h"
#include "soc.h"
#include "trace.h"

#include "acl/error_codes/rt_error_codes.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace aivops::machine {
namespace {

constexpr uint32_t kEagerRereads = 4;                  // before an unchanged poll waits for a change
constexpr int64_t kBriefNs = 1000 * 1000;              // without progress, before the other devices are looked at
constexpr int64_t kPeerPatienceNs = 200 * 1000 * 1000; // without progress, before the peers' processes are looked at
constexpr int64_t kRetryNs = 500 * 1000; // a poll that waits is tried anyway: its loop may look at the time as well
constexpr std::byte kMissingArgument{0xcb};
constexpr uint32_t kBlocksNamed = 4;
constexpr uint32_t kTurnsOfInquiry = 1000;
constexpr int64_t kInquiryNs = 100 * 1000 * 1000; // of one turn

std::string seconds(int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) / 1e9);
    return text;
}

// Also between two looks, where others have the turn.
bool polls_in_vain(const Block& block) {
    return block.state == BlockState::kPolling ||
           ((block.state == BlockState::kReady || block.state == BlockState::kHeld) &&
            block.polls.unchanged() >= kEagerRereads);
}

} // namespace

KernelRun::KernelRun(Launch launch, uint32_t device)
    : launch_(std::move(launch)), device_(device), cross_core_flags_(launch_.blocks) {
}

void KernelRun::fail(const Finding& finding) {
    keep(finding, scene());
}

void KernelRun::fail_block(const Block& block, const Finding& finding) {
    keep(finding, scene(block));
}

void KernelRun::keep(const Finding& finding, const Scene& scene) {
    if (!failure_ && !asking_) {
        report_finding(Severity::kError, finding, &scene);
        failure_ = Failure{finding.code, scene.text() + ": " + finding.text()};
    }
}

void KernelRun::warn_block(const Block& block, const Finding& finding) {
    warn(finding, scene(block));
}

void KernelRun::warn(const Finding& finding, const Scene& scene) {
    if (asking_ || std::find(warned_.begin(), warned_.end(), finding.place) != warned_.end()) {
        return;
    }
    warned_.push_back(finding.place);
    report_finding(Severity::kWarning, finding, &scene);
    std::fprintf(stderr, "aivops emulator: warning: %s: %s\n", scene.text().c_str(), finding.text().c_str());
}

void KernelRun::note_progress(Device& device) {
    if (asking_) {
        return;
    }
    ++progress_;
    device.progress().store(device.progress().load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool KernelRun::begin(Device& device) {
    static std::atomic<uint64_t> launches{0};
    begun_ = true;
    number_ = launches.fetch_add(1) + 1;
    report_launch(device_);
    stalled_since_ = now_ns();
    all_stalled_since_ = stalled_since_;
    device.counters().launches.add(1);
    if (launch_.file->npu_arch != soc().npu_arch) {
        fail({ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, kLaunchCategory,
              "it was built for " + std::string(architecture_name(launch_.file->npu_arch)) + ", and " +
                  std::string(soc().name) + " is " + std::string(soc().architecture) +
                  "; build for that architecture, or choose another SoC with AIVOPS_EMU_SOC"});
        return false;
    }
    if (launch_.kernel->core != CoreType::kVector) {
        fail({ACL_ERROR_RT_AICORE_EXCEPTION, kLaunchCategory,
              launch_.kernel->says_core
                  ? "its record does not say that it is for vector cores; export it as an AIV kernel"
                  : "it has no section .ascend.meta." + launch_.kernel->symbol +
                        ", so the runtime sends it to a cube core, which cannot run it; export it as an AIV kernel"});
        return false;
    }
    const std::byte* from = launch_.device_arguments != nullptr
                                ? static_cast<const std::byte*>(launch_.device_arguments)
                                : launch_.arguments.data();
    const size_t size = launch_.device_arguments != nullptr ? launch_.device_arguments_size : launch_.arguments.size();
    argument_storage_.assign(std::max<size_t>(size, launch_.entry->args_size) + 64, kMissingArgument);
    void* aligned = argument_storage_.data();
    size_t space = argument_storage_.size();
    arguments_ = std::align(64, 1, aligned, space);
    std::copy_n(from, size, static_cast<std::byte*>(aligned));
    if (settings().late) {
        at_start_ = join(launch_.host, launch_.ordering->known());
    }
    return true;
}

void KernelRun::occupy_cores(Device& device) {
    std::vector<Core*>& free = device.free_cores();
    const size_t wanted = launch_.blocks - started_ - occupied_.size();
    if (wanted == 0 || (launch_.batch && free.size() < wanted)) {
        return;
    }
    const size_t taken = std::min(wanted, free.size());
    occupied_.insert(occupied_.end(), free.end() - static_cast<std::ptrdiff_t>(taken), free.end());
    free.resize(free.size() - taken);
}

void KernelRun::start_block(Device& device) {
    Core* core = occupied_.back();
    occupied_.pop_back();
    core->block.began_ns = tracing() ? now_ns() : 0;
    core->start(*this, started_++, launch_.blocks, launch_.image->block_locals().size());
    if (core->races) {
        core->races->start(origin_of(name(), device_, core->block.index), {number_, launch_.stream}, at_start_);
        core->pipes->start(Dice(schedule().seed(), schedule().next_chooser()));
        schedule().rank(core->block);
    }
    resident_.push_back(core);
    device.counters().blocks.add(1);
    note_progress(device);
}

bool KernelRun::runnable(Block& block, int64_t now) const {
    switch (block.state) {
    case BlockState::kReady:
        return true;
    case BlockState::kPolling:
        return block.polls.unchanged() < kEagerRereads || now >= block.retry_at || block.polls.any_changed();
    case BlockState::kAtCrossCore:
        return cross_core_ready(block);
    default:
        return false;
    }
}

void KernelRun::resume(Device& device, Core& core, const AivEmuTable& table, int64_t limit_ns) {
    Block& block = core.block;
    block.state = BlockState::kReady;
    AivEmuBinding& binding = launch_.image->binding();
    binding.table = &table;
    binding.block = &block;
    device.count_switch();
    device.set_running(&block, limit_ns);
    std::span<uint8_t> locals = launch_.image->block_locals();
    std::copy(core.locals.begin(), core.locals.end(), locals.begin());
    set_current_block(&block);
    block.scheduler_stack.leave_for(block.own_stack);
    aivops_switch_context(&block.scheduler, block.context);
    block.scheduler_stack.arrive(block.own_stack);
    set_current_block(nullptr);
    std::copy(locals.begin(), locals.end(), core.locals.begin());
    device.set_running(nullptr, 0);
    if (block.state == BlockState::kFaulted && !failure_) {
        device.stop_running().store(false);
        if (asking_) {
            return;
        }
        fail_block(block, take_fault(block));
    }
}

bool KernelRun::sees_change(const Block& block) const {
    const bool may_look = block.polls_large || block.polls.any_kept_back() ? block.writes_seen != schedule().writes()
                                                                           : block.polls.unchanged() < kEagerRereads;
    return may_look || block.polls.any_changed();
}

bool KernelRun::runnable_late(const Block& block, int64_t now) const {
    switch (block.state) {
    case BlockState::kReady:
        return true;
    case BlockState::kPolling:
        return sees_change(block) || block.pipes->go_on() || (schedule().desperate() && now >= block.retry_at);
    case BlockState::kAtCrossCore:
        return cross_core_ready(block) || block.pipes->go_on();
    case BlockState::kHeld:
        return schedule().desperate();
    default:
        return false;
    }
}

// One turn of one block, whichever the schedule says. False when none can move.
bool KernelRun::step_late(Device& device, int64_t now) {
    while (started_ < launch_.blocks && !occupied_.empty()) {
        start_block(device);
    }
    candidates_.clear();
    for (Core* core : resident_) {
        if (runnable_late(core->block, now)) {
            candidates_.push_back(&core->block);
        }
    }
    if (candidates_.empty()) {
        return false;
    }
    const Block* chosen = candidates_[schedule().choose(candidates_)];
    const auto at =
        std::find_if(resident_.begin(), resident_.end(), [chosen](const Core* core) { return &core->block == chosen; });
    // What is only tried anyway, and tries in vain again, has not moved.
    const bool tried = chosen->state == BlockState::kPolling && !sees_change(*chosen) && !chosen->pipes->go_on();
    const uint64_t progress_before = progress_;
    run_block(device, static_cast<size_t>(at - resident_.begin()), now);
    return !tried || progress_ != progress_before;
}

uint32_t KernelRun::number_of_place(const void* place) {
    auto [found, added] = place_numbers_.try_emplace(place, 0);
    if (added) {
        found->second = schedule().place(name(), launch_.image->offset_of(place));
    }
    return found->second;
}

void KernelRun::leave_core(Device& device, size_t index) {
    if (const std::unique_ptr<BlockRaces>& races = resident_[index]->races) {
        Block& block = resident_[index]->block;
        track_cleaning(block, block.cache.dirty_lines(), block.state != BlockState::kFinished);
        races->gather_done(told_at_end_);
    }
    print_rest(resident_[index]->block);
    if (tracing()) {
        trace_block_end(resident_[index]->block);
    }
    std::vector<Core*>& next = started_ < launch_.blocks && !failure_ ? occupied_ : device.free_cores();
    next.push_back(resident_[index]);
    resident_[index] = resident_.back();
    resident_.pop_back();
}

void KernelRun::end(Device& device) {
    while (!resident_.empty()) {
        leave_core(device, resident_.size() - 1);
    }
    device.free_cores().insert(device.free_cores().end(), occupied_.begin(), occupied_.end());
    occupied_.clear();
    launch_.ordering->learn(told_at_end_.all());
    if (failure_ && launch_.on_failure) {
        device.defer([report = launch_.on_failure, failure = *failure_] { report(failure); });
    }
}

void KernelRun::abandon(Device& device) {
    end(device);
}

// A SyncAll that can never come: every block that could still arrive is already there.
void KernelRun::find_missing_blocks() {
    if (at_sync_all_ == 0 || failure_ || at_sync_all_ != resident_.size()) {
        return;
    }
    const void* place = resident_.front()->block.waits_at;
    if (finished_ != 0) {
        fail({ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, category_name(AIVOPS_EMU_SYNCCHECK),
              std::to_string(at_sync_all_) + " of " + kernel_binary::counted(launch_.blocks, "block") +
                  " wait in SyncAll, and the others have ended or wait for a core; every block must call SyncAll "
                  "the same number of times",
              place});
    } else if (started_ < launch_.blocks) {
        fail({ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, category_name(AIVOPS_EMU_DEADLOCK),
              std::to_string(at_sync_all_) + (at_sync_all_ == 1 ? " block waits" : " blocks wait") +
                  " in SyncAll, but the launch has " + std::to_string(launch_.blocks) +
                  " and no core is free for the rest; launch no more blocks than " +
                  kernel_binary::counted(soc().vector_cores, "vector core") + ", in batch mode",
              place});
    }
}

// The cores keep them, and the next launch that waits for one of these flags goes on too early.
void KernelRun::find_flags_left_set() {
    const std::optional<CrossCoreFlags::Leftover> left =
        settings().check == Check::kOff ? std::nullopt : cross_core_flags_.leftover();
    if (!left) {
        return;
    }
    const Finding finding{ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, category_name(AIVOPS_EMU_SYNCCHECK),
                          "the launch ends with cross-core flag " + std::to_string(left->id) + " unpaired: block " +
                              std::to_string(left->block) + " has set it " +
                              kernel_binary::counted(left->sets, "time") + " and waited for it " +
                              kernel_binary::counted(left->waits, "time"),
                          left->place};
    if (settings().check == Check::kStrict) {
        fail(finding);
    } else {
        warn(finding, scene());
    }
}

std::string KernelRun::describe_waiting() const {
    if (resident_.empty()) {
        return "no block has started: it needs " + kernel_binary::counted(launch_.blocks, "free vector core") + " of " +
               std::to_string(soc().vector_cores);
    }
    std::string text;
    uint32_t named = 0;
    for (const Core* core : resident_) {
        const Block& block = core->block;
        if (named == kBlocksNamed) {
            text += "; and " + std::to_string(resident_.size() - named) + " more";
            break;
        }
        text += (named++ == 0 ? "block " : "; block ") + std::to_string(block.index);
        if (polls_in_vain(block)) {
            text += " polls " + (block.polls_large ? "a large piece of GM" : block.polls.describe()) + block.expected;
            if (const std::string writer = describe_writer(block.polls.latest().gm); !writer.empty()) {
                text += ", set last by " + writer;
            }
        } else if (block.state == BlockState::kAtSyncAll) {
            text += " waits in SyncAll";
        } else if (block.state == BlockState::kAtCrossCore) {
            const uint32_t id = block.cross_core_id;
            text += " waits for the cross-core flag " + std::to_string(id) + ", which block " +
                    std::to_string(cross_core_flags_.missing(block.index, id)) + " has not set";
        } else {
            text += " runs";
            continue;
        }
        text += ", at " + describe_place(block.waits_at);
    }
    return text;
}

bool KernelRun::all_wait() const {
    return std::all_of(resident_.begin(), resident_.end(), [](const Core* core) {
        const BlockState state = core->block.state;
        return polls_in_vain(core->block) || state == BlockState::kAtSyncAll || state == BlockState::kAtCrossCore;
    });
}

// What the blocks wait for that a report names.
void KernelRun::ask_polls(Device& device) {
    asking_ = true;
    for (size_t index = 0; index < std::min<size_t>(resident_.size(), kBlocksNamed); ++index) {
        Core& core = *resident_[index];
        const Polls::Piece polled = core.block.polls.latest();
        // What a kernel reads through pointers of its own, nothing can be shown in place of.
        if (!polls_in_vain(core.block) || polled.bytes == 0 || polled.by_pointer || core.block.polls_large) {
            continue;
        }
        Inquiry inquiry(core.block);
        for (uint32_t turn = 0; turn < kTurnsOfInquiry && !inquiry.over(); ++turn) {
            resume(device, core, kInquiryTable, kInquiryNs);
            if (core.block.state == BlockState::kFaulted) {
                break;
            }
        }
        core.block.expected = inquiry.answer();
        core.block.state = BlockState::kPolling;
    }
    asking_ = false;
}

bool KernelRun::timed_out(Device& device, int64_t now) {
    // Where pipes are late, a launch may have to wait long for its turn; it stalls only when everything does.
    const uint64_t progress = settings().late ? machine().progress() : progress_;
    if (progress != seen_progress_) {
        seen_progress_ = progress;
        stalled_since_ = now;
        all_stalled_since_ = now;
        seen_progress_of_all_.reset();
        if (next_waiting_ns_ != kFirstWaitingNs) {
            next_waiting_ns_ = kFirstWaitingNs;
            report_moved(scene());
        }
        return false;
    }
    if (now - stalled_since_ > kBriefNs) {
        const uint64_t of_all = machine().progress();
        if (of_all != seen_progress_of_all_.value_or(of_all)) {
            all_stalled_since_ = now;
        }
        seen_progress_of_all_ = of_all;
    }
    if (now - stalled_since_ > next_waiting_ns_) {
        next_waiting_ns_ *= 2;
        report_waiting(scene(), now - stalled_since_, describe_waiting());
    }
    if (now - stalled_since_ > kPeerPatienceNs) {
        if (std::optional<std::string> ended = describe_ended_peers()) {
            fail({ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, kPeerCategory,
                  *ended + ", whose memory is imported here, and nothing moved for " + seconds(now - stalled_since_) +
                      "; " + describe_waiting()});
            return true;
        }
    }
    if (const int64_t limit = launch_.timeout_ns; limit != 0 && now - stalled_since_ > limit) {
        const bool forever = now - all_stalled_since_ > limit && all_wait() && !machine().others_run(device_) &&
                             !memory_space().has_imports() && !ipc_shared();
        ask_polls(device);
        fail({ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, forever ? category_name(AIVOPS_EMU_DEADLOCK) : kTimeoutCategory,
              "nothing moved for " + seconds(now - stalled_since_) + " (limit " + seconds(limit) + ")" +
                  (forever ? ", and all that runs in this process waits" : "") + "; " + describe_waiting(),
              resident_.empty() ? nullptr : resident_.front()->block.waits_at});
        return true;
    }
    return false;
}

// Runs a block until it waits or ends; true when it has ended and its core is free.
bool KernelRun::run_block(Device& device, size_t index, int64_t now) {
    Core& core = *resident_[index];
    resume(device, core, kInstructionTable, launch_.timeout_ns);
    if (core.block.state == BlockState::kPolling) {
        core.block.retry_at = now + kRetryNs;
    }
    if (core.block.state != BlockState::kFinished) {
        return false;
    }
    ++finished_;
    note_progress(device);
    leave_core(device, index);
    return true;
}

Task::Step KernelRun::step(Device& device) {
    if (!begun_ && !begin(device)) {
        end(device);
        return Step::kDone;
    }
    const uint64_t progress_before = progress_;
    const int64_t now = now_ns();
    occupy_cores(device);
    const bool moved = settings().late && step_late(device, now);
    for (size_t index = 0; !settings().late && index < resident_.size() && !failure_;) {
        if (!runnable(resident_[index]->block, now) || !run_block(device, index, now)) {
            ++index;
        }
    }
    // A block that ends leaves a core whose memory is warm to the next one.
    while (!settings().late && !failure_ && started_ < launch_.blocks && !occupied_.empty()) {
        start_block(device);
        run_block(device, resident_.size() - 1, now);
    }
    find_missing_blocks();
    if (!failure_ && finished_ < launch_.blocks && !timed_out(device, now)) {
        return moved || progress_ != progress_before ? Step::kProgress : Step::kIdle;
    }
    if (!failure_) {
        find_flags_left_set();
    }
    end(device);
    return Step::kDone;
}

void KernelRun::sync_all(Block& block) {
    const int64_t began_ns = tracing() ? now_ns() : 0;
    Device& device = *block.device;
    has_synchronised_all_ = true;
    device.counters().sync_alls.add(1);
    note_progress(device);
    block.polls.clear();
    if (block.races != nullptr) {
        block.pipes->note_visible_issue();
        block.races->gather_done(told_at_sync_all_);
    }
    if (++at_sync_all_ < launch_.blocks) {
        give_way(block, BlockState::kAtSyncAll);
    } else {
        release_sync_all();
    }
    if (tracing()) {
        trace_barrier(block, "SyncAll", began_ns);
    }
}

void KernelRun::release_sync_all() {
    at_sync_all_ = 0;
    const Knowledge told = told_at_sync_all_.all();
    for (Core* core : resident_) {
        if (core->races) {
            core->races->learn_all(told);
        }
        if (core->block.state == BlockState::kAtSyncAll) {
            core->block.state = BlockState::kReady;
        }
    }
}

bool KernelRun::cross_core_ready(const Block& block) const {
    return cross_core_flags_.is_set(block.index, block.cross_core_id);
}

void KernelRun::check_end(Block& block) {
    if (block.inquiry != nullptr) {
        block.inquiry->went_on();
    }
    if (block.pipes != nullptr) {
        block.pipes->finish_at_end();
        check_races(block, block.races->unanswered_look());
    }
    if (settings().check == Check::kOff) {
        return;
    }
    if (const Events::Leftovers events = block.events.leftovers(); !events.text.empty()) {
        raise_warning(block, AIVOPS_EMU_SYNCCHECK, "the block ends with events unpaired: " + events.text, events.place);
    }
    if (block.atomic != AIVOPS_EMU_ATOMIC_NONE) {
        raise_warning(block, AIVOPS_EMU_SYNCCHECK,
                      "the block ends with an atomic mode on; call SetAtomicNone after the last atomic copy",
                      block.atomic_place);
    }
}

} // namespace aivops::machine
