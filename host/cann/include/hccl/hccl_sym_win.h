// Peers' sides of symmetric windows.
#ifndef HCCL_HCCL_SYM_WIN_H
#define HCCL_HCCL_SYM_WIN_H

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void** ptr);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_SYM_WIN_H
