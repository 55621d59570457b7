// Switching between a scheduler and the blocks it runs: callee-saved registers, floating-point control words, stack.
#ifndef AIVOPS_MACHINE_CONTEXT_SWITCH_H
#define AIVOPS_MACHINE_CONTEXT_SWITCH_H

#include <csignal>
#include <cstddef>

namespace aivops::machine {

/// A saved stack pointer, with everything else below it on that stack.
using SavedContext = void*;

/// Saves where it is in `*from` and goes on at `to`.
extern "C" void aivops_switch_context(SavedContext* from, SavedContext to);

/// A context that calls `entry(argument)` on the stack [stack, stack + bytes); `entry` must never return.
SavedContext make_context(void* stack, size_t bytes, void (*entry)(void*), void* argument);

/// Changes what a signal handler returns to: as if `to` had been switched to.
void redirect_signal_return(void* ucontext, SavedContext to);

/// The interrupted instruction, and the address of the stack, for reports.
const void* interrupted_instruction(void* ucontext);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_CONTEXT_SWITCH_H
