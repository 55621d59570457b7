// Resources of a rank in a communicator: its HCCL buffer, engine contexts, registered memory, threads.
#ifndef HCCL_HCCL_RES_H
#define HCCL_HCCL_RES_H

#include "acl/acl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_RES_TAG_MAX_LEN 255U

/// This rank's window: 2 x HCCL_BUFFSIZE MB, allocated at the first call, not zeroed.
HcclResult HcclGetHcclBuffer(HcclComm comm, void** buffer, uint64_t* size);

/// The same, zeroed at every call. A5.
HcclResult HcclGetHcclBufferCleared(HcclComm comm, void** buffer, uint64_t* size);

/// Named memory for an engine: device memory, not zeroed, for AIV. Freed by HcclEngineCtxDestroy only.
HcclResult HcclEngineCtxCreate(HcclComm comm, const char* ctxTag, CommEngine engine, uint64_t size, void** ctx);
HcclResult HcclEngineCtxGet(HcclComm comm, const char* ctxTag, CommEngine engine, void** ctx, uint64_t* size);
HcclResult HcclEngineCtxCopy(HcclComm comm, CommEngine engine, const char* ctxTag, const void* srcCtx, uint64_t size,
                             uint64_t dstCtxOffset);
HcclResult HcclEngineCtxDestroy(HcclComm comm, const char* ctxTag, CommEngine engine);

/// Memory that channels may hand to peers. It outlives the communicator.
HcclResult HcclCommMemReg(HcclComm comm, const char* memTag, const CommMem* mem, HcclMemHandle* memHandle);

/// Threads of engines other than AIV, which is launched on streams.
HcclResult HcclThreadAcquire(HcclComm comm, CommEngine engine, uint32_t threadNum, uint32_t notifyNumPerThread,
                             ThreadHandle* threads);
HcclResult HcclThreadAcquireWithConfig(HcclComm comm, CommEngine engine, uint32_t threadNum, ThreadType type,
                                       const ThreadConfig* config, ThreadHandle* threads);
HcclResult HcclThreadAcquireWithStream(HcclComm comm, CommEngine engine, aclrtStream stream, uint32_t notifyNum,
                                       ThreadHandle* thread);

typedef enum HcclDedicatedThreadType {
    HCCL_DED_THREAD_TYPE_INVALID = -1,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH = 0,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE = 1,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE = 2,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_ACLGRAPH = 3,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_GE = 4,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE = 5,
} HcclDedicatedThreadType;

HcclResult HcclDedicatedThreadAcquire(HcclComm comm, HcclDedicatedThreadType useType, uint32_t notifyNumPerThread,
                                      ThreadHandle* thread);
HcclResult HcclThreadResGetInfo(HcclComm comm, ThreadHandle thread, ThreadResType resType, uint32_t infoLen,
                                void** info);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_RES_H
