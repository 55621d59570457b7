// Memory of every rank that the others read where it lies, under numbers that are the same on all ranks. Kernels find
// it through tables in the window, see aivops/window_layout.h.
#pragma once

#include "shared_buffer.h"
#include "window.h"

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace aivops {

/// Whatever changes the set is called by all ranks together, and waits for the device first: kernels read the tables.
class Regions {
  public:
    Regions(const Window& window, uint32_t ranks);

    /// Adds what every rank provides, or nothing where it is there already. Memory that nobody else holds any more on
    /// any rank is given back first. When a rank throws, all do.
    Buffer add(Bootstrap& bootstrap, const Peers& peers, const std::function<Buffer()>& provide);

    /// Takes out what every rank names.
    void remove(Bootstrap& bootstrap, const Buffer& buffer);

    /// Ends all sharing.
    void clear(Bootstrap& bootstrap);

    /// Whether the others can read the array. An empty one is nothing to read.
    bool hold(const Buffer& array) const;

  private:
    struct Region {
        Buffer memory; // the whole allocation
        SharedBuffer shared;
    };

    std::optional<uint32_t> find(const Buffer& array) const;
    uint64_t used() const;
    uint64_t unused() const;
    void drop(Bootstrap& bootstrap, uint64_t numbers);
    void write(uint32_t number) const;

    Buffer window_;
    uint32_t ranks_;
    mutable std::mutex mutex_;                   // calls of other threads look while one adds
    std::vector<std::optional<Region>> regions_; // by number, as far as they are in use
};

} // namespace aivops
