// The timeline of this process's devices: what streams do, what blocks copy and wait for. Kept in memory and written
// as Chrome trace events when the last stream goes or the process ends. Off, it costs a branch that is always taken.
#ifndef AIVOPS_MACHINE_TRACE_H
#define AIVOPS_MACHINE_TRACE_H

#include "task.h"

#include <atomic>
#include <cstdint>

namespace aivops::machine {

struct Block;

namespace trace_state {
extern std::atomic<bool> on;
} // namespace trace_state

inline bool tracing() {
    return trace_state::on.load(std::memory_order_relaxed);
}

/// What a block has polled since it last did anything else: one wait, however often it looked.
struct PollSpan {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint64_t bytes = 0;
    uint32_t polls = 0;
    uint32_t owner = 0; // of the memory that was polled last
};

// A process is traced from its first stream on; without its last one the file is written.
void trace_stream_made();
void trace_stream_gone();

// Each records what began at `begin_ns` and ends now. To be called only while tracing().
void trace_task(uint32_t device, uint32_t stream, const Activity& activity, int64_t begin_ns);
void trace_block_end(Block& block);
void trace_copy(Block& block, const char* instruction, bool write, uint32_t owner, uint64_t bytes, int64_t begin_ns);
void trace_poll(Block& block, uint32_t owner, uint64_t bytes, int64_t begin_ns);
void trace_barrier(Block& block, const char* name, int64_t begin_ns);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_TRACE_H
