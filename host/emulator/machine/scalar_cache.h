// The data cache of a core's scalar unit, for strict mode: 64-byte lines that nobody keeps coherent. Stores reach
// memory at once, where race_check.h hides them from others; here are the loads that would see an old value, and the
// copies of the own core that would miss a store or be lost under it.
#ifndef AIVOPS_MACHINE_SCALAR_CACHE_H
#define AIVOPS_MACHINE_SCALAR_CACHE_H

#include "memory.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace aivops::machine {

class ScalarCache {
  public:
    static constexpr uint64_t kLine = 64;

    void clear() { lines_.clear(); }

    /// Where these bytes are cached from before and memory has changed since.
    std::optional<Address> stale(Address gm, uint64_t bytes) const;
    /// The same for the whole line, which a store there writes back.
    std::optional<Address> stale_line(Address gm) const { return stale(gm / kLine * kLine, kLine); }
    static std::string describe_stale(Address at);
    /// What the cache has for bytes that it holds. False when they have been found so before.
    bool find_once(Address gm, void* value, uint32_t bytes);

    bool holds(Address gm) const { return lines_.contains(gm / kLine); }
    /// Takes a line with this content.
    void fill(Address line, const uint8_t* content);
    void load(Address gm, const void* value, uint32_t bytes) { put(gm, value, bytes, false); }
    void store(Address gm, const void* value, uint32_t bytes) { put(gm, value, bytes, true); }

    /// Text when a copy reads bytes that the scalar unit has stored and that are still in its cache only.
    std::optional<std::string> missed_by_load(Address gm, uint64_t bytes) const;
    /// Text when a copy writes to a line that the cache will write back over it.
    std::optional<std::string> lost_under_line(Address gm, uint64_t bytes) const;

    bool empty() const { return lines_.empty(); }
    /// From which bytes on lines are written back: all of them,
    std::vector<Address> dirty_lines() const;
    /// or one that is cleaned from this byte on to its end: what was stored before it stays in the cache.
    std::optional<Address> dirty_from(Address gm) const;
    void clean_and_invalidate(Address gm);

  private:
    struct Line {
        std::array<uint8_t, kLine> content;
        uint64_t dirty = 0; // one bit per byte
        bool found_stale = false;
    };
    enum class Reach { kBytes, kLines };
    /// Where the cache has something to write back: of these bytes, or of the lines that they are in.
    std::optional<Address> first_dirty(Address gm, uint64_t bytes, Reach reach) const;
    void put(Address gm, const void* value, uint32_t bytes, bool dirty);

    std::map<Address, Line> lines_; // by line number
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_SCALAR_CACHE_H
