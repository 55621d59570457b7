// Order between pipes of a core, and between cores of a launch.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_BLOCK_SYNC_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_BLOCK_SYNC_INTF_H
#pragma GCC system_header

#include "kernel_operator_data_copy_intf.h"
#include "kernel_operator_sys_var_intf.h"

namespace AscendC {

template <pipe_t pipe>
AIVOPS_EMU_INLINE void PipeBarrier() {
    static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S>: the scalar unit is in order; there is no such barrier");
    static_assert(pipe == PIPE_V || pipe == PIPE_MTE2 || pipe == PIPE_MTE3 || pipe == PIPE_ALL,
                  "PipeBarrier: a vector core has the pipes V, MTE2 and MTE3 (and ALL)");
    pipe_barrier(pipe);
}

template <HardEvent event>
AIVOPS_EMU_INLINE void SetFlag(int32_t id) {
    constexpr aivops_emulator::PipePair pipes = aivops_emulator::pipes_of(event);
    set_flag(pipes.source, pipes.destination, id);
}

template <HardEvent event>
AIVOPS_EMU_INLINE void WaitFlag(int32_t id) {
    constexpr aivops_emulator::PipePair pipes = aivops_emulator::pipes_of(event);
    wait_flag(pipes.source, pipes.destination, id);
}

// Which pipe of a core tells the others that it has arrived, and which one waits for them.
struct SyncAllConfig {
    pipe_t triggerPipe;
    pipe_t waitPipe;
};
constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};

// Waits for every pipe, whatever `config` says: a kernel must not count on more than its configuration promises.
template <bool isAIVOnly = true, const SyncAllConfig& config = DEFAULT_SYNC_ALL_CONFIG>
AIVOPS_EMU_INLINE void SyncAll() {
    static_assert(isAIVOnly, "SyncAll<false>: waits for cube cores, which the emulated toolkit has not");
    static_assert(&config == &DEFAULT_SYNC_ALL_CONFIG || aivops_emulator::kIsC310,
                  "SyncAll with a SyncAllConfig: dav-c310-vec has it, dav-c220-vec has not");
    aivops_emulator::table()->sync_all(aivops_emulator::block());
}

// The form in software, for `usedCores` blocks (0: all of the launch). `gmWorkspace` has 32 bytes per block and starts
// as zeros; `ubWorkspace` has as many. Every block counts its calls in its own 32 bytes and waits for the others'
// counts.
template <bool isAIVOnly = true>
AIVOPS_EMU_INLINE void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
                               const int32_t usedCores = 0) {
    static_assert(isAIVOnly, "SyncAll<false>: waits for cube cores, which the emulated toolkit has not");
    constexpr uint32_t slot = aivops_emulator::kBlockBytes / sizeof(int32_t);
    const uint32_t cores = usedCores > 0 ? static_cast<uint32_t>(usedCores) : static_cast<uint32_t>(GetBlockNum());
    const uint32_t own = static_cast<uint32_t>(GetBlockIdx()) * slot;
    pipe_barrier(PIPE_ALL);
    DataCopy(ubWorkspace, gmWorkspace[own], slot);
    pipe_barrier(PIPE_ALL);
    const int32_t arrived = ubWorkspace.GetValue(0) + 1;
    ubWorkspace.SetValue(0, arrived);
    pipe_barrier(PIPE_ALL);
    DataCopy(gmWorkspace[own], ubWorkspace, slot);
    for (uint32_t core = 0; core < cores; ++core) {
        do {
            pipe_barrier(PIPE_ALL);
            DataCopy(ubWorkspace, gmWorkspace[core * slot], slot);
            pipe_barrier(PIPE_ALL);
        } while (ubWorkspace.GetValue(0) < arrived);
    }
}

// 0: all AIV cores; 1: the AIV cores of one AI core; 2 and 4 speak with cube cores.
template <uint8_t modeId, pipe_t pipe>
AIVOPS_EMU_INLINE void CrossCoreSetFlag(uint16_t flagId) {
    static_assert(modeId == 0 || modeId == 1 || modeId == 2 || (modeId == 4 && aivops_emulator::kIsC310),
                  "CrossCoreSetFlag: the mode is 0, 1 or 2 (on dav-c310-vec also 4)");
    aivops_emulator::table()->cross_core_set(aivops_emulator::block(), modeId, pipe, flagId);
}

template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
AIVOPS_EMU_INLINE void CrossCoreWaitFlag(uint16_t flagId) {
    static_assert(modeId == 0 || modeId == 1 || modeId == 2 || (modeId == 4 && aivops_emulator::kIsC310),
                  "CrossCoreWaitFlag: the mode is 0, 1 or 2 (on dav-c310-vec also 4)");
    aivops_emulator::table()->cross_core_wait(aivops_emulator::block(), modeId, pipe, flagId);
}

// Where cores of dav-c220 find their synchronisation memory; the emulator needs none.
AIVOPS_EMU_INLINE void SetSyncBaseAddr(uint64_t) {
}

} // namespace AscendC

#endif
