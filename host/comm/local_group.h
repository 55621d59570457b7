// Ranks of one process: a communicator per device, windows known to all, one failure for all.
#pragma once

#include "communicator.h"

#include <memory>
#include <vector>

namespace aivops {

class LocalGroup {
  public:
    /// One rank on each of `devices`. `blocks` 0: as many as each call deserves.
    LocalGroup(const std::vector<Device>& devices, uint64_t window_bytes, uint32_t blocks, const Timeout& timeout,
               const KernelSet& kernels);

    uint32_t size() const { return state_.size; }
    Communicator& communicator(uint32_t rank) { return *communicators_.at(rank); }

    /// Makes every call of every rank fail from now on, those that wait at once. The first reason stays.
    void abort(const std::string& reason);

    /// Makes an aborted group usable again. No rank may be in a call.
    void recover();

  private:
    void enable_peer_access(const std::vector<Device>& devices) const;

    GroupState state_;
    std::vector<std::unique_ptr<Communicator>> communicators_;
};

} // namespace aivops
