// The cross-core flags of one launch: counters that blocks set and wait for, also after the block that set one has
// ended, and what a set passes on of what its block has done. How a flag is set says whom that concerns, with mode 0
// all blocks and with mode 1 a pair; each of them has a counter, one higher once all have set the flag.
#ifndef AIVOPS_MACHINE_CROSS_CORE_H
#define AIVOPS_MACHINE_CROSS_CORE_H

#include "race_check.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace aivops::machine {

class CrossCoreFlags {
  public:
    static constexpr uint32_t kIds = 16;
    static constexpr bool is_of_sync_all(uint32_t id) { return id >= 11 && id <= 14; }

    explicit CrossCoreFlags(uint32_t blocks) : blocks_(blocks) {}

    /// False when the flag has another mode.
    bool set(uint32_t block, uint32_t mode, uint32_t id, Knowledge done, const void* place);
    void wait(uint32_t block, uint32_t id);

    /// Whether as many sets have come as the block has waited for.
    bool is_set(uint32_t block, uint32_t id) const;
    /// The first block that it waits for.
    uint32_t missing(uint32_t block, uint32_t id) const;
    /// What the sets that it waited for tell.
    Knowledge passed_on(uint32_t block, uint32_t id) const;

    uint32_t mode(uint32_t id) const { return flags_[id].mode; }
    bool uses_those_of_sync_all() const;

    /// A flag that some block has not waited for as often as it was set, once all blocks have ended.
    struct Leftover {
        uint32_t id;
        uint32_t block;
        uint64_t sets; // by this block
        uint64_t waits;
        const void* place; // of the latest set
    };
    std::optional<Leftover> leftover() const;

  private:
    struct Flag {
        uint32_t mode = 0;
        std::vector<std::vector<Knowledge>> sets; // by block, in their order; none before the first
        std::vector<uint32_t> waits;              // by block
        const void* place = nullptr;
    };
    struct Group {
        uint32_t first;
        uint32_t end;
    };
    Group group(uint32_t block, uint32_t mode) const;
    Flag& flag(uint32_t id);

    uint32_t blocks_;
    std::array<Flag, kIds> flags_;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_CROSS_CORE_H
