// The ranks of a communicator as processes and devices: who they are, what they agree on, and whether they still live.
#pragma once

#include "bootstrap.h"

#include <aivops/dispatch/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aivops {

/// What must be equal on all ranks.
struct Terms {
    uint64_t window_bytes;
    uint32_t blocks; // of every launch; 0: as each call deserves
    Timeout timeout;
};

struct Peer {
    int32_t process;       // as its process namespace numbers it
    uint64_t started;      // when, in clock ticks; tells processes apart that had the same number
    uint64_t identity;     // of the process, random
    int32_t bare_process;  // as aclrtIpcMemSetImportPid wants it
    int32_t device;        // of the rank
    uint32_t vector_cores; // that its launches may use
};

class Peers {
  public:
    /// Introduces this rank to all others. Throws InvalidValueError, on every rank alike, when two of them differ in
    /// what must be equal, or are equal in what must differ.
    Peers(Bootstrap& bootstrap, const Device& device, const Terms& terms);

    uint32_t rank() const { return rank_; }
    uint32_t size() const { return static_cast<uint32_t>(all_.size()); }
    const Peer& operator[](uint32_t rank) const { return all_[rank]; }

    /// The most blocks that any rank can launch.
    uint32_t vector_cores() const;

    /// Whether a rank lives in this very process.
    bool is_here(uint32_t rank) const { return all_[rank].identity == all_[rank_].identity; }
    bool are_all_here() const;

    bool has_ended(uint32_t rank) const;
    /// "rank 2 (process 17)"
    std::string describe(uint32_t rank) const;
    /// "rank 2 (process 17) has ended"
    std::string describe_end(uint32_t rank) const { return describe(rank) + " has ended"; }

  private:
    uint32_t rank_;
    std::vector<Peer> all_;
};

} // namespace aivops
