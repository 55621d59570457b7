// What orders: barriers and events inside a block, SyncAll and cross-core flags between blocks.
#include "access_check.h"
#include "device.h"
#include "gm_access.h"
#include "instructions.h"
#include "kernel_run.h"
#include "late_pipes.h"
#include "trace.h"

#include <utility>

namespace aivops::machine {
namespace {

int8_t& event(Block& block, uint32_t source, uint32_t destination, uint32_t id, const void* place) {
    if (source >= Events::kPipes || destination >= Events::kPipes || id >= Events::kIds) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    "no such event: pipes " + std::to_string(source) + " to " + std::to_string(destination) + ", id " +
                        std::to_string(id),
                    place);
    }
    return block.events.at(source, destination, id);
}

// On hardware SyncAll is a cross-core flag itself.
void raise_flag_of_sync_all(Block& block, const void* place) {
    raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                "the launch uses SyncAll and cross-core flags 11 to 14, which belong to SyncAll; use 0 to 10", place);
}

void check_cross_core(Block& block, uint32_t mode, uint32_t id, const void* place) {
    if (id >= CrossCoreFlags::kIds || mode > 1) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    mode > 1 ? "cross-core flag: mode " + std::to_string(mode) +
                                   " involves a cube core, and an AIV kernel has none"
                             : "cross-core flag: there is no id " + std::to_string(id) + "; the ids go from 0 to 15",
                    place);
    }
    if (checking() && CrossCoreFlags::is_of_sync_all(id) && block.run->has_synchronised_all()) {
        raise_flag_of_sync_all(block, place);
    }
}

} // namespace

void pipe_barrier(AivEmuBlock* handle, uint32_t pipe) {
    Block& block = block_of(handle);
    InMachine inside(block);
    if (pipe != AIVOPS_EMU_PIPE_V && pipe != AIVOPS_EMU_PIPE_MTE3) {
        block.lazy_loads.settle_all();
    }
    if (block.pipes != nullptr) {
        block.pipes->turn();
        block.pipes->barrier(pipe, AIVOPS_PLACE);
    }
}

void set_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    int8_t& flag = event(block, source, destination, id, AIVOPS_PLACE);
    if (flag > 0 && checking()) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    "SetFlag: " + Events::describe(source, destination, id) +
                        " is already set and nobody has waited for it",
                    AIVOPS_PLACE);
    }
    ++flag;
    block.events.note_place(source, destination, id, AIVOPS_PLACE);
    if (block.pipes != nullptr) {
        block.pipes->turn();
        block.pipes->set_flag(source, destination, id);
    }
}

void wait_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    int8_t& flag = event(block, source, destination, id, AIVOPS_PLACE);
    // Another pipe may wait for what is set later in the program; the scalar pipe stops the program itself.
    if (checking() && (flag < 0 || (flag == 0 && destination == AIVOPS_EMU_PIPE_S))) {
        raise_never_set(block, source, destination, id, "was not set", AIVOPS_PLACE);
    }
    --flag;
    if (destination == AIVOPS_EMU_PIPE_S) {
        // The kernel's own code may touch what they read now: whatever pipe it waits for may have waited for them.
        block.lazy_loads.settle_all();
    }
    block.events.note_place(source, destination, id, AIVOPS_PLACE);
    if (block.pipes != nullptr) {
        block.pipes->turn();
        block.pipes->wait_flag(source, destination, id, AIVOPS_PLACE);
    }
}

void sync_all(AivEmuBlock* handle) {
    Block& block = block_of(handle);
    InMachine inside(block);
    block.lazy_loads.settle_all();
    if (block.pipes != nullptr) {
        block.pipes->turn();
        block.pipes->barrier(AIVOPS_EMU_PIPE_ALL, AIVOPS_PLACE);
    }
    if (checking() && block.run->cross_core_flags().uses_those_of_sync_all()) {
        raise_flag_of_sync_all(block, AIVOPS_PLACE);
    }
    block.waits_at = AIVOPS_PLACE;
    block.run->sync_all(block);
}

void cross_core_set(AivEmuBlock* handle, uint32_t mode, uint32_t pipe, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    check_cross_core(block, mode, id, AIVOPS_PLACE);
    block.lazy_loads.settle_all();
    if (block.pipes != nullptr) {
        block.pipes->turn();
        if (pipe == AIVOPS_EMU_PIPE_ALL) {
            block.pipes->barrier(pipe, AIVOPS_PLACE);
        } else {
            block.pipes->finish(lane_of(pipe));
        }
        block.pipes->note_visible_issue();
    }
    CrossCoreFlags& flags = block.run->cross_core_flags();
    Knowledge done = block.races != nullptr ? block.races->done_on(lane_of(pipe)) : nullptr;
    if (!flags.set(block.index, mode, id, std::move(done), AIVOPS_PLACE) && checking()) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    "cross-core flag " + std::to_string(id) + " is set with mode " + std::to_string(mode) +
                        ", and was set with mode " + std::to_string(flags.mode(id)) +
                        " before; give each group of blocks a flag of its own",
                    AIVOPS_PLACE);
    }
    after_signal(block);
}

void cross_core_wait(AivEmuBlock* handle, uint32_t mode, uint32_t pipe, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    check_cross_core(block, mode, id, AIVOPS_PLACE);
    block.run->cross_core_flags().wait(block.index, id);
    block.waits_at = AIVOPS_PLACE;
    block.cross_core_id = id;
    const int64_t began_ns = trace_clock();
    if (block.pipes != nullptr) {
        block.pipes->turn();
    }
    if (!block.run->cross_core_ready(block)) {
        if (block.pipes != nullptr) {
            block.pipes->wait(BlockState::kAtCrossCore, [&block] { return block.run->cross_core_ready(block); });
        } else {
            give_way(block, BlockState::kAtCrossCore);
        }
    }
    if (block.races != nullptr) {
        block.races->learn(lane_of(pipe), block.run->cross_core_flags().passed_on(block.index, id));
    }
    block.run->note_progress(*block.device);
    if (tracing()) {
        trace_barrier(block, "CrossCoreWaitFlag", began_ns);
    }
}

} // namespace aivops::machine
