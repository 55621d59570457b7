// Keeps what a kernel does wrong inside the kernel: signals raised on a block's stack end the block, not the process,
// and a watchdog ends blocks that never come back. Signals from anywhere else go to whoever handled them before.
#ifndef AIVOPS_MACHINE_CONTAINMENT_H
#define AIVOPS_MACHINE_CONTAINMENT_H

#include "block.h"
#include "report.h"

namespace aivops::machine {

/// Gives the calling thread what it needs to run blocks: handlers and an alternate stack. Cheap after the first time.
void prepare_thread_for_kernels();

/// For threads of the emulator: leaves asynchronous signals to the threads of the program.
void block_signals_of_the_process();

/// Says which block the calling thread runs; nullptr when it runs none.
void set_current_block(Block* block);

/// Asks the thread that turns a device's engine to end the block that it runs. Does nothing while the machine works
/// for that block; ask again.
void interrupt_running(Device& device);

/// What the signal that just ended a block on this thread says.
Finding take_fault(const Block& block);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_CONTAINMENT_H
