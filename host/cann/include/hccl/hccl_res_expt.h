// Calls that CANN keeps for its own packages and does not promise to keep.
#ifndef HCCL_HCCL_RES_EXPT_H
#define HCCL_HCCL_RES_EXPT_H

#include "hccl/hccl_res.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The parameters are not part of our description of the interface; cast to what CANN's own header says.
typedef void (*Callback)(void);
HcclResult HcclGetRemoteIpcHcclBuf(HcclComm comm, uint64_t remoteRank, void** addr, uint64_t* size);
HcclResult HcclDevMemAcquire(HcclComm comm, const char* memTag, uint64_t* size, void** addr, bool* newCreated);
HcclResult HcclThreadExportToCommEngine(HcclComm comm, uint32_t threadNum, const ThreadHandle* threads,
                                        CommEngine dstCommEngine, ThreadHandle* exportedThreads);
int32_t HcclTaskRegister(HcclComm comm, const char* msgTag, Callback cb);
int32_t HcclTaskUnRegister(HcclComm comm, const char* msgTag);
HcclResult HcclCommAddExchangeInfo(HcclComm comm, const void* data, uint32_t length);
HcclResult HcclCommGetExchangeInfo(HcclComm comm, uint32_t remoteRank, uint32_t length, void* data,
                                   uint32_t* actualLength);
HcclResult HcclCommResetExchangeInfo(HcclComm comm);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_RES_EXPT_H
