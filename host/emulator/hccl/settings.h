// The settings of one communicator, out of its config or, where that says nothing, of the environment.
#ifndef AIVOPS_EMULATOR_HCCL_SETTINGS_H
#define AIVOPS_EMULATOR_HCCL_SETTINGS_H

#include "hccl/hccl_types.h"

#include <cstdint>
#include <string>

namespace aivops::hccl {

struct Settings {
    uint64_t buffer_bytes;      // of the HCCL buffer, both halves
    std::string name;           // empty: the library chooses
    int32_t expansion_mode;     // as HcclConfigGetInfo numbers it
    uint32_t execution_seconds; // 0 = for ever
    uint64_t digest() const;    // of what must be equal on all ranks
};

/// `config` may be NULL. Takes as much of it as its header says there is.
Settings read_settings(const HcclCommConfig* config);

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_SETTINGS_H
