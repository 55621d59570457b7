// One rank's window: the device memory through which it meets its peers. See aivops/window_layout.h for what lies
// where.
#pragma once

#include "shared_buffer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace aivops {

class Window {
  public:
    /// Room for `bytes` of messages between the ranks, split evenly among stages and `lanes`. All ranks make theirs
    /// together.
    Window(Bootstrap& bootstrap, const Peers& peers, const Device& device, uint64_t bytes, uint32_t lanes);

    /// This rank's own window. As long as a copy lives all windows stay reachable.
    const Buffer& memory() const { return memory_; }
    uint64_t address() const { return reinterpret_cast<uint64_t>(memory_.pointer()); }
    const SharedBuffer& shared() const { return shared_; }

    /// Forgets all tags, flags and reports. No kernel may run on any window of the group.
    void reset() const;

    /// Makes every lane that waits here give up. May be called while kernels run.
    void raise_abort() const;
    bool is_aborted() const;

    /// Why `rank` failed, as it told this window or was told here; cut where there is no room.
    void write_reason(uint32_t rank, const std::string& reason) const;

    /// A copy of the window up to kControlEnd.
    std::vector<std::byte> read_control() const;
    /// Of another rank's window up to the end of its lanes' records.
    std::vector<std::byte> read_records(uint32_t rank) const;

  private:
    SharedBuffer shared_;
    Buffer memory_;
    Buffer abort_word_;
};

} // namespace aivops
