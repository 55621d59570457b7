// Timeouts of kernels and waits: the units that hardware counts in, and the process-wide settings.
#ifndef AIVOPS_EMULATOR_ACL_LIMITS_H
#define AIVOPS_EMULATOR_ACL_LIMITS_H

#include <cstdint>

namespace aivops::acl {

/// What a request of microseconds comes to: rounded up to units, capped at 254 of them. 0 stays 0: never.
int64_t kernel_timeout_ns(uint64_t microseconds);

/// The limit of kernels that do not bring their own.
int64_t default_kernel_timeout_ns();

/// How long a stream may wait for an event; 0 = for ever.
int64_t wait_timeout_ns();

} // namespace aivops::acl

#endif // AIVOPS_EMULATOR_ACL_LIMITS_H
