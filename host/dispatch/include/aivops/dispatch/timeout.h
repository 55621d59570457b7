// Time limits in seconds, turned into what the runtime takes. Limits beyond what a device can count are errors here;
// the runtime itself would cut them without a word.
#ifndef AIVOPS_DISPATCH_TIMEOUT_H
#define AIVOPS_DISPATCH_TIMEOUT_H

#include "aivops/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace aivops {

/// Seconds; nothing = the default of the operation, infinity = never.
using Timeout = std::optional<double>;

/// Of a launch without one, unless the device cannot count that far.
inline constexpr double kDefaultLaunchTimeout = 1800.0;

namespace detail {

/// A device counts multiples of its interval up to this one; 255 means never (stars_base.hpp of the CANN runtime).
inline constexpr std::uint64_t kMaxTimeoutUnits = 254;

inline std::string seconds_text(double seconds) {
    std::ostringstream text;
    text << seconds << " s";
    return text.str();
}

inline void require_positive(double seconds) {
    if (!(seconds > 0)) {
        throw InvalidValueError(
            "timeout: " + seconds_text(seconds) +
            " is not a time limit; give seconds above 0, infinity for never, or nothing for the default");
    }
}

/// Microseconds for a kernel; 0 = never.
inline std::uint64_t launch_timeout_us(const Timeout& timeout, std::uint64_t interval_us) {
    const double max_us = static_cast<double>(kMaxTimeoutUnits * interval_us);
    if (!timeout) {
        return static_cast<std::uint64_t>(std::min(kDefaultLaunchTimeout * 1e6, max_us));
    }
    require_positive(*timeout);
    if (std::isinf(*timeout)) {
        return 0;
    }
    const double us = std::ceil(*timeout * 1e6);
    if (us > max_us) {
        throw InvalidValueError("timeout: " + seconds_text(*timeout) + " is more than this device can count, " +
                                seconds_text(max_us / 1e6) + "; give less, or infinity for never");
    }
    return static_cast<std::uint64_t>(us);
}

/// What the device makes of it: rounded up to a multiple of its interval.
inline double effective_timeout(std::uint64_t us, std::uint64_t interval_us) {
    if (us == 0) {
        return std::numeric_limits<double>::infinity();
    }
    const std::uint64_t units = (us + interval_us - 1) / interval_us;
    return static_cast<double>(units * interval_us) / 1e6;
}

/// Milliseconds for a wait of the host; -1 = as long as it takes.
inline std::int32_t wait_timeout_ms(const Timeout& timeout) {
    if (!timeout) {
        return -1;
    }
    require_positive(*timeout);
    if (std::isinf(*timeout)) {
        return -1;
    }
    const double ms = std::ceil(*timeout * 1e3);
    if (ms > static_cast<double>(std::numeric_limits<std::int32_t>::max())) {
        throw InvalidValueError("timeout: " + seconds_text(*timeout) +
                                " is more than a wait can count; give less than 2147483 s, or infinity for never");
    }
    return static_cast<std::int32_t>(ms);
}

} // namespace detail

} // namespace aivops

#endif // AIVOPS_DISPATCH_TIMEOUT_H
