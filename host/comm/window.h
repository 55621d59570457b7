// One rank's window: the device memory through which it meets its peers. See aivops/window_layout.h for what lies
// where.
#pragma once

#include <aivops/dispatch/buffer.h>
#include <aivops/dispatch/device.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aivops {

class Window {
  public:
    /// Room for `bytes` of messages between `ranks`, split evenly among stages and `lanes`. Zeroed, and no rank's yet.
    Window(const Device& device, uint64_t bytes, uint32_t lanes, uint32_t ranks);

    /// Writes the header: who this is and where the windows of all ranks are, by address valid on this device.
    void introduce(uint32_t rank, std::span<const uint64_t> windows) const;

    uint64_t address() const { return reinterpret_cast<uint64_t>(memory_.pointer()); }
    const Buffer& memory() const { return memory_; }

    /// Forgets all tags, flags and reports. No kernel may run on any window of the group.
    void reset() const;

    /// Makes every lane that waits here give up. May be called while kernels run.
    void raise_abort() const;
    bool is_aborted() const;

    /// A copy of the window up to kControlEnd.
    std::vector<std::byte> read_control() const;

  private:
    uint32_t lanes_;
    uint64_t lane_bytes_;
    Buffer memory_;
};

} // namespace aivops
