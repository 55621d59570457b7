// Waits of the host, cut into slices while somebody observes them: a language whose threads sleep here looks after its
// signals in between.
#ifndef AIVOPS_DISPATCH_WAIT_H
#define AIVOPS_DISPATCH_WAIT_H

#include "aivops/dispatch/check.h"

#include <atomic>
#include <cstdint>

namespace aivops {

/// Called by every thread that waits, some twenty times a second and without any lock held. What it throws ends the
/// wait; what was waited for goes on.
using WaitObserver = void (*)();

namespace detail {

inline constexpr std::int32_t kWaitSliceMs = 50;

inline std::atomic<WaitObserver>& wait_observer() {
    static std::atomic<WaitObserver> observer{nullptr};
    return observer;
}

/// `wait(ms)` returns an aclError, a timeout where the limit was too short; -1 = no limit.
template <class Wait>
aclError wait_observed(const cann::FunctionTable& acl, std::int32_t ms, Wait&& wait) {
    const WaitObserver observe = wait_observer().load(std::memory_order_relaxed);
    if (observe == nullptr) {
        return wait(ms);
    }
    while (true) {
        const bool last = ms >= 0 && ms <= kWaitSliceMs;
        const aclError code = wait(last ? ms : kWaitSliceMs);
        if (last || (code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT && code != ACL_ERROR_RT_EVENT_SYNC_TIMEOUT)) {
            return code;
        }
        acl.aclGetRecentErrMsg(); // the end of a slice is no news
        ms -= ms > 0 ? kWaitSliceMs : 0;
        observe();
    }
}

} // namespace detail

/// Null: nobody observes.
inline void observe_waits(WaitObserver observer) {
    detail::wait_observer().store(observer, std::memory_order_relaxed);
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_WAIT_H
