// The data cache of a core's scalar unit, for strict mode: 64-byte lines that nobody keeps coherent. It does not hold
// values back; it finds the loads that would see an old one, and the copies that would miss a store.
#ifndef AIVOPS_MACHINE_SCALAR_CACHE_H
#define AIVOPS_MACHINE_SCALAR_CACHE_H

#include "memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace aivops::machine {

class ScalarCache {
  public:
    void clear() { lines_.clear(); }

    /// Text when these bytes are cached from before and memory has changed since.
    std::optional<std::string> load(Address gm, uint32_t bytes);
    void store(Address gm, const void* value, uint32_t bytes);
    /// Text when a copy reads bytes that the scalar unit has stored and that are still in its cache only.
    std::optional<std::string> copied(Address gm, uint64_t bytes) const;

    bool empty() const { return lines_.empty(); }
    bool holds(Address gm) const { return lines_.contains(gm / kLine); }
    void clean_and_invalidate(Address gm) { lines_.erase(gm / kLine); }

    static constexpr uint64_t kLine = 64;

  private:
    struct Line {
        std::array<uint8_t, kLine> content;
        uint64_t dirty; // one bit per byte
    };
    Line& line(Address gm);

    std::map<Address, Line> lines_; // by line number
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_SCALAR_CACHE_H
