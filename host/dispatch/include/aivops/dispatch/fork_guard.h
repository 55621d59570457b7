// Knows whether this process is a fork of the one that started the runtime. Device objects do not survive fork(): their
// threads and mappings stay with the parent. Using one in the child is an error, dropping one does nothing.
#ifndef AIVOPS_DISPATCH_FORK_GUARD_H
#define AIVOPS_DISPATCH_FORK_GUARD_H

#include "aivops/error.h"

#include <atomic>

#include <pthread.h>

namespace aivops::detail {

inline std::atomic<bool>& forked_flag() {
    static std::atomic<bool> forked{false};
    return forked;
}

/// True in a child forked after watch_for_fork().
inline bool is_forked_child() {
    return forked_flag().load(std::memory_order_relaxed);
}

inline void watch_for_fork() {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { forked_flag().store(true, std::memory_order_relaxed); });
    (void)registered;
}

inline void refuse_forked_child() {
    if (is_forked_child()) {
        throw ForkError(
            "Device: this process was forked after its parent began to use devices, which a child cannot "
            "share. Start workers with the \"spawn\" method (multiprocessing.set_start_method), or fork before "
            "the first use of a device");
    }
}

} // namespace aivops::detail

#endif // AIVOPS_DISPATCH_FORK_GUARD_H
