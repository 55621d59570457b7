// What ranks need before they have windows: who is there, and a way to pass bytes around. Any transport will do; Python
// programs may bring their own, see aivops.Bootstrap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aivops {

class Bootstrap {
  public:
    virtual ~Bootstrap() = default;

    virtual uint32_t rank() const = 0;
    virtual uint32_t size() const = 0;

    /// Every rank's bytes, in rank order. All ranks call it; lengths may differ.
    virtual std::vector<std::string> all_gather(const std::string& bytes) = 0;

    /// Returns when all ranks have called it.
    virtual void barrier() = 0;
};

} // namespace aivops
