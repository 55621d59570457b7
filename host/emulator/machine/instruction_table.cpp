// The table of instructions that kernels call, and those of its entries that only speak: reports, prints, the clock.
#include "block.h"
#include "instructions.h"
#include "machine.h"

#include <cstdio>

namespace aivops::machine {
namespace {

void fault(AivEmuBlock* handle, uint32_t category, const char* message) {
    Block& block = block_of(handle);
    block.in_machine.store(true, std::memory_order_relaxed);
    raise_fault(block, category, message, AIVOPS_PLACE);
}

void warn(AivEmuBlock* handle, uint32_t category, const char* message) {
    Block& block = block_of(handle);
    InMachine inside(block);
    raise_warning(block, category, message, AIVOPS_PLACE);
}

void print(AivEmuBlock* handle, const char* text, size_t bytes) {
    InMachine inside(block_of(handle)); // nothing may take the block away while it holds the stream's lock
    std::fwrite(text, 1, bytes, stdout);
    std::fflush(stdout);
}

uint64_t cycle(AivEmuBlock*) {
    constexpr uint64_t kNsPerCycle = 20; // the system counter runs at 50 MHz
    return static_cast<uint64_t>(now_ns()) / kNsPerCycle;
}

} // namespace

const AivEmuTable kInstructionTable = {
    .contract_version = AIVOPS_EMU_CONTRACT_VERSION,
    .table_bytes = sizeof(AivEmuTable),
    .copy = copy,
    .compute = compute,
    .ub_scalar = ub_scalar,
    .ub_invalidate = ub_invalidate,
    .gm_load = gm_load,
    .gm_store = gm_store,
    .gm_load_uncached = gm_load_uncached,
    .gm_store_uncached = gm_store_uncached,
    .gm_atomic = gm_atomic,
    .cache_clean_invalidate = cache_clean_invalidate,
    .memory_barrier = memory_barrier,
    .set_atomic = set_atomic,
    .pipe_barrier = pipe_barrier,
    .set_flag = set_flag,
    .wait_flag = wait_flag,
    .sync_all = sync_all,
    .cross_core_set = cross_core_set,
    .cross_core_wait = cross_core_wait,
    .fault = fault,
    .warn = warn,
    .print = print,
    .cycle = cycle,
};

} // namespace aivops::machine
