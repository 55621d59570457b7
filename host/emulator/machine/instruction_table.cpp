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

void print_first(std::string& text, size_t bytes) {
    std::fwrite(text.data(), 1, bytes, stdout);
    std::fflush(stdout);
    text.erase(0, bytes);
}

// Whole lines, so that those of blocks that take turns do not mix.
void print(AivEmuBlock* handle, const char* text, size_t bytes) {
    constexpr size_t kLongestLine = 1 << 20;
    Block& block = block_of(handle);
    InMachine inside(block); // nothing may take the block away while it holds the stream's lock
    block.unprinted.append(text, bytes);
    if (const size_t end = block.unprinted.rfind('\n'); end != std::string::npos) {
        print_first(block.unprinted, end + 1);
    } else if (block.unprinted.size() > kLongestLine) {
        print_rest(block);
    }
}

uint64_t cycle(AivEmuBlock*) {
    constexpr uint64_t kNsPerCycle = 20; // the system counter runs at 50 MHz
    return static_cast<uint64_t>(now_ns()) / kNsPerCycle;
}

} // namespace

void print_rest(Block& block) {
    if (!block.unprinted.empty()) {
        print_first(block.unprinted, block.unprinted.size());
    }
}

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
