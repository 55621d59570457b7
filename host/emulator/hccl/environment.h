// The HCCL_* variables that change what this library does. Each is read when a communicator is made.
#ifndef AIVOPS_EMULATOR_HCCL_ENVIRONMENT_H
#define AIVOPS_EMULATOR_HCCL_ENVIRONMENT_H

#include <cstdint>

namespace aivops::hccl {

/// HCCL_BUFFSIZE: MB of one half of the HCCL buffer, 200 unless set.
uint32_t buffer_megabytes();

/// HCCL_CONNECT_TIMEOUT plus the 20 seconds that HCCL adds: 140 seconds unless set.
uint32_t connect_seconds();

/// HCCL_EXEC_TIMEOUT: seconds that a collective may stand still, 1836 unless set; 0 = for ever.
uint32_t execution_seconds();

/// HCCL_OP_EXPANSION_MODE as HcclConfigGetInfo numbers it.
int32_t expansion_mode();

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_ENVIRONMENT_H
