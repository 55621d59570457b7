// Teams of ranks that share synchronisation memory.
#ifndef HCOMM_TEAM_DEFS_H
#define HCOMM_TEAM_DEFS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t* HcommTeamHandle;
typedef uint64_t* HcommWindowHandle;

typedef struct HcommTeamSyncMemRequirement {
    uint32_t signalCount;
    uint32_t counterCount;
    uint32_t barrierCount;
    uint32_t reserved[5];
} HcommTeamSyncMemRequirement;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCOMM_TEAM_DEFS_H
