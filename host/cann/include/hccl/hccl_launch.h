// Launching kernels of the AI CPU engine.
#ifndef HCCL_HCCL_LAUNCH_H
#define HCCL_HCCL_LAUNCH_H

#include "acl/acl.h"
#include "hccl/hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD 0x0f0f0f0fU
#define P2P_MAX_ARG_SIZE 8192U
#define HCCL_OPDESC_MAGIC_WORD 0x0f0f0f0fU

typedef struct HcclOpP2pDesc {
    void* buffer;
    uint8_t reserved[8];
    HcclCMDType cmdType;
    HcclDataType dataType;
    uint64_t count;
    uint32_t remoteRank;
    void* unfoldStream;
} HcclOpP2pDesc;

typedef struct HcclOpDesc {
    CommAbiHeader header;
    uint32_t opDescType;
    char opName[256];
    union {
        uint8_t raws[76];
        HcclOpP2pDesc p2p;
    };
} HcclOpDesc;

static inline HcclResult HcclOpDescInit(HcclOpDesc* opDesc) {
    CommAbiHeader header = {1, HCCL_OPDESC_MAGIC_WORD, sizeof(HcclOpDesc), 0};
    if (opDesc == NULL) {
        return HCCL_E_PTR;
    }
    memset(opDesc, 0, sizeof *opDesc);
    opDesc->header = header;
    return HCCL_SUCCESS;
}

typedef struct HcclKernelFuncInfo {
    char kernelSoName[256];
    char kernelFuncName[256];
    void* args;
    uint32_t argSize;
} HcclKernelFuncInfo;

typedef struct HcclKernelLaunchCfg {
    CommAbiHeader header;
    uint64_t timeOut;
    uint8_t reserved[104];
} HcclKernelLaunchCfg;

static inline HcclResult HcclKernelLaunchCfgInit(HcclKernelLaunchCfg* kernelLaunchCfg) {
    CommAbiHeader header = {1, HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD, sizeof(HcclKernelLaunchCfg), 0};
    if (kernelLaunchCfg == NULL) {
        return HCCL_E_PTR;
    }
    memset(kernelLaunchCfg, 0, sizeof *kernelLaunchCfg);
    kernelLaunchCfg->header = header;
    return HCCL_SUCCESS;
}

HcclResult HcclAicpuKernelLaunch(HcclComm comm, const HcclOpDesc* opInfo, const HcclKernelFuncInfo* funcInfo,
                                 ThreadHandle aicpuThreadHandle, aclrtStream userStream,
                                 const HcclKernelLaunchCfg* kernelLaunchCfg);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_LAUNCH_H
