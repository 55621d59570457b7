// What the sanitizers are told when a thread changes stacks, which they cannot see for themselves: ASan keeps the
// bounds of the stack, TSan a history per context. In other builds all of this is empty.
#ifndef AIVOPS_MACHINE_STACK_ANNOTATIONS_H
#define AIVOPS_MACHINE_STACK_ANNOTATIONS_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace aivops::machine {

/// A context as the sanitizers know it: that of a block, or of the scheduler while the block runs.
class StackAnnotations {
  public:
    StackAnnotations() = default;
    StackAnnotations(const StackAnnotations&) = delete;
    StackAnnotations& operator=(const StackAnnotations&) = delete;

#if defined(__SANITIZE_ADDRESS__)

    /// A context that begins on the stack [stack, stack + bytes), whatever its last user left there.
    void begin(const void* stack, size_t bytes) {
        stack_ = stack;
        bytes_ = bytes;
        saved_ = nullptr;
        __asan_unpoison_memory_region(stack, bytes);
    }
    /// About to leave this context for `other`; signal handlers may say so for the context they interrupted.
    void leave_for(const StackAnnotations& other) {
        __sanitizer_start_switch_fiber(&saved_, other.stack_, other.bytes_);
    }
    /// Just arrived in this context, from `from`.
    void arrive(StackAnnotations& from) { __sanitizer_finish_switch_fiber(saved_, &from.stack_, &from.bytes_); }

  private:
    const void* stack_ = nullptr;
    size_t bytes_ = 0;
    void* saved_ = nullptr;

#elif defined(__SANITIZE_THREAD__)

    ~StackAnnotations() { end(); }

    void begin(const void*, size_t) {
        end();
        fiber_ = __tsan_create_fiber(0);
        own_ = true;
    }
    // TSan must know a block's context before its first instruction and may learn afterwards that the scheduler is
    // back: so a block can also be left by a signal, whose handler TSan still counts to the block.
    void leave_for(const StackAnnotations& other) {
        if (other.own_) {
            fiber_ = __tsan_get_current_fiber();
            __tsan_switch_to_fiber(other.fiber_, 0);
        }
    }
    void arrive(StackAnnotations&) {
        if (!own_) {
            __tsan_switch_to_fiber(fiber_, 0);
        }
    }

  private:
    void end() {
        if (own_) {
            __tsan_destroy_fiber(fiber_);
        }
    }

    void* fiber_ = nullptr;
    bool own_ = false; // a block's; the scheduler's belongs to its thread

#else

    void begin(const void*, size_t) {}
    void leave_for(const StackAnnotations&) {}
    void arrive(StackAnnotations&) {}

#endif
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_STACK_ANNOTATIONS_H
