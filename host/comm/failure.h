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
#include <vector>

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

/// The process of another rank has ended.
class PeerDiedError : public PeerFailedError {
  public:
    PeerDiedError(const std::string& text, int rank, int peer) : PeerFailedError(text), rank(rank), peer(peer) {}
    int rank;
    int peer;
};

/// What one lane was stopped by, or is still waiting for.
struct Stop {
    enum class Kind { kMismatch, kAborted, kWaiting, kUnregistered };
    Kind kind;
    uint32_t lane;
    uint32_t peer;
    uint64_t flag;
    uint32_t expected_tag;
    uint32_t found_tag;
    uint64_t own_fingerprint;
    uint64_t found_fingerprint;

    friend bool operator==(const Stop&, const Stop&) = default;
};

/// A copy of a window up to kControlEnd, taken when no kernel runs on it.
using ControlArea = std::span<const std::byte>;

/// The reason of lanes that gave up, a mismatch before an abort; nothing when all went on to the end.
std::optional<Stop> find_stop(ControlArea control, uint32_t ranks);

/// The first lane that waits for one of `peers`, and for which. While kernels run this is right for peers that write no
/// more.
std::optional<Stop> find_waiting(ControlArea control, std::span<const uint32_t> peers);

/// Why each rank failed, as far as it was told here; empty for the others.
std::vector<std::string> read_reasons(ControlArea control, uint32_t ranks);

/// A lane that waits for one peer, or gave up doing so, may have the other call of another peer before its eyes.
std::optional<Stop> find_other_call(ControlArea control, const Stop& stopped, uint32_t ranks);

/// In two copies of windows: the first lane that works on the same step as that of `peer`, but in another call. Flags
/// do not tell where each of two ranks waits for the other, as each takes itself for root.
std::optional<Stop> find_other_step(ControlArea control, ControlArea of_peer, uint32_t peer);

[[noreturn]] void throw_unregistered(const Stop& stop, int rank);
[[noreturn]] void throw_mismatch(const Stop& stop, int rank);
[[noreturn]] void throw_peer_timeout(const Stop& stop, int rank, double seconds);

} // namespace aivops
