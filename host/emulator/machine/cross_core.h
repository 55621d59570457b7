// The cross-core flags of one launch: counters that blocks set and wait for, also after the block that set one has
// ended, and what a set passes on of what its block has done.
#ifndef AIVOPS_MACHINE_CROSS_CORE_H
#define AIVOPS_MACHINE_CROSS_CORE_H

#include "race_check.h"

#include <array>
#include <cstdint>
#include <vector>

namespace aivops::machine {

class CrossCoreFlags {
  public:
    static constexpr uint32_t kIds = 16;

    explicit CrossCoreFlags(uint32_t blocks) : blocks_(blocks) {}

    void set(uint32_t block, uint32_t id, Knowledge done);

    /// Mode 0 waits until all blocks have set the flag `times` times, mode 1 until both blocks of the pair have.
    bool is_set(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const;
    /// The first block that it waits for.
    uint32_t missing(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const;
    Knowledge passed_on(uint32_t block, uint32_t mode, uint32_t id, uint32_t times) const;

  private:
    struct Group {
        uint32_t first;
        uint32_t end;
    };
    Group group(uint32_t block, uint32_t mode) const;

    uint32_t blocks_;
    std::array<std::vector<std::vector<Knowledge>>, kIds> sets_; // by id and block, in their order
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_CROSS_CORE_H
