// A piece of device memory of every rank, and where this rank's kernels find those of the others: as plain addresses
// within a process, as imported IPC memory between processes.
#pragma once

#include "peers.h"

#include <aivops/dispatch/buffer.h>

#include <functional>
#include <memory>

namespace aivops {

class SharedBuffer {
  public:
    /// Every rank brings an allocation on its device, of any size above 0; `provide` may throw, then this throws on
    /// all ranks.
    SharedBuffer(Bootstrap& bootstrap, const Peers& peers, const std::function<Buffer()>& provide);

    /// A rank's buffer, as kernels on this rank's device reach it. Keeps what is shared reachable.
    Buffer of(uint32_t rank) const;

    /// Buffers of other ranks' memory that somebody still holds say from here on that they can be used no more.
    void withdraw(const char* reason) const;

    /// Ends the sharing. All ranks call it, when no kernel uses any part any more. Without it the own memory stays
    /// until the process ends: nobody knows who still reads it.
    void end(Bootstrap& bootstrap) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace aivops
