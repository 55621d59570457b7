// Why a collective did not finish: read from a window's control area after the launch, and told as an exception that
// names ranks, block and calls.
#pragma once

#include <aivops/error.h>
#include <aivops/fingerprint.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace aivops {

/// Another rank made another call.
class CallMismatchError : public Error {
  public:
    CallMismatchError(const std::string& text, int rank, int peer) : Error(text), rank(rank), peer(peer) {}
    int rank;
    int peer;
};

/// A rank waited for a peer that never came.
class PeerTimeoutError : public Error {
  public:
    PeerTimeoutError(const std::string& text, int rank, int peer, int block, uint64_t flag, uint32_t expected,
                     uint32_t found)
        : Error(text), rank(rank), peer(peer), block(block), flag(flag), expected(expected), found(found) {}
    int rank;
    int peer;
    int block;
    uint64_t flag; // offset of the flag in the window of `rank`
    uint32_t expected;
    uint32_t found;
};

/// Another rank failed, so this one gave up.
class PeerFailedError : public Error {
  public:
    using Error::Error;
};

/// What one lane was stopped by, or is still waiting for.
struct Stop {
    enum class Kind { kMismatch, kAborted, kWaiting };
    Kind kind;
    uint32_t lane;
    uint32_t peer;
    uint64_t flag;
    uint32_t expected_tag;
    uint32_t found_tag;
    uint64_t own_fingerprint;
    uint64_t found_fingerprint;
};

/// A copy of a window up to kControlEnd, taken when no kernel runs on it.
using ControlArea = std::span<const std::byte>;

/// The reason of lanes that gave up, a mismatch before an abort; nothing when all went on to the end.
std::optional<Stop> find_stop(ControlArea control, uint32_t ranks);

/// For a launch that was ended from outside: the first lane that still waits, and for whom.
std::optional<Stop> find_waiting(ControlArea control, uint32_t rank, uint32_t ranks);

[[noreturn]] void throw_mismatch(const Stop& stop, int rank);
[[noreturn]] void throw_peer_timeout(const Stop& stop, int rank, double seconds);

} // namespace aivops
