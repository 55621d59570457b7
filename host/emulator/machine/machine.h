// All devices of this process, and the loop in which a waiting thread runs what it waits for.
#ifndef AIVOPS_MACHINE_MACHINE_H
#define AIVOPS_MACHINE_MACHINE_H

#include "device.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace aivops::machine {

class Machine {
  public:
    Machine();

    Device& device(uint32_t index) { return *devices_[index]; }
    uint32_t device_count() const { return static_cast<uint32_t>(devices_.size()); }

    /// Of all devices together, which take turns in strict mode.
    uint64_t progress() const;
    /// Whether a block runs on another device and does not give way.
    bool others_run(uint32_t device) const;

    /// Runs the work of `device`, and of other devices while it stalls, until `done`. False when `timeout_ms` passed
    /// before; -1 = no limit.
    bool drive(uint32_t device, const std::function<bool()>& done, int64_t timeout_ms = -1);

  private:
    std::vector<std::unique_ptr<Device>> devices_;
};

Machine& machine();

/// Monotonic nanoseconds.
int64_t now_ns();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_MACHINE_H
