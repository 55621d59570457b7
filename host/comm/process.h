// A process of this machine, told from others that have had the same number.
#pragma once

#include <cstdint>
#include <optional>

namespace aivops {

/// When a process started, in clock ticks since the system did; nothing when there is no such process, or it has ended
/// and nobody has asked for its status yet.
std::optional<uint64_t> start_of_process(int32_t process);

/// Random bits of this process.
uint64_t process_identity();

} // namespace aivops
