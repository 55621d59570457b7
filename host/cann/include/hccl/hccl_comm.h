// Communicators: made by their ranks together, asked about, destroyed.
#ifndef HCCL_HCCL_COMM_H
#define HCCL_HCCL_COMM_H

#include "acl/acl.h"
#include "hccl/hccl_types.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// On the root only, with a device set. The record is broadcast by the caller's own means.
HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/// On every rank; returns when all have called it.
HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm);

/// `config` beats the environment and is equal on all ranks.
HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm);

/// From a rank table, a JSON file.
HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm);
HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config,
                                         HcclComm* comm);

/// All ranks of one process at once; rank i uses devices[i].
HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/// On the members, with sorted rank ids; ranks that stay out pass NULL and subCommId 0xFFFFFFFF.
HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm);

/// NULL is fine. Ends the communicator's channels, buffer and windows.
HcclResult HcclCommDestroy(HcclComm comm);
HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);

/// Needs COMM_NAME_MAX_LENGTH bytes.
HcclResult HcclGetCommName(HcclComm comm, char* commName);
HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm);

/// In stream order: what follows on the stream waits until every rank's stream is here.
HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);
HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
const char* HcclGetErrorString(HcclResult code);

/// Settings of the process.
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);
uint32_t HcclGetCommConfigCapability(void);

/// Fills a config; a library that is older than this header ignores what it does not know.
static inline void HcclCommConfigInit(HcclCommConfig* config) {
    size_t size = sizeof *config;
    uint32_t magicAndVersion[2] = {HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION};
    if (config == NULL) {
        return;
    }
    memset(config, 0, sizeof *config);
    memcpy(config->reserved, &size, sizeof size);
    memcpy(config->reserved + sizeof size, magicAndVersion, sizeof magicAndVersion);
    config->hcclBufferSize = UINT32_MAX;
    config->hcclDeterministic = UINT32_MAX;
    config->hcclRdmaTrafficClass = UINT32_MAX;
    config->hcclRdmaServiceLevel = UINT32_MAX;
    config->hcclExecTimeOut = -1;
    config->hcclQos = UINT32_MAX;
    config->hcclSymWinMaxMemSizePerRank = 16;
    config->hcclChannelSqDepth = UINT32_MAX;
}

/// Suspending and resuming.
typedef enum HcclCommStatus {
    HCCL_COMM_STATUS_READY = 0,
    HCCL_COMM_STATUS_SUSPENDING = 1,
    HCCL_COMM_STATUS_INVALID = 254,
    HCCL_COMM_STATUS_RESERVED = 255,
} HcclCommStatus;

HcclResult HcclCommSuspend(HcclComm comm);
HcclResult HcclCommResume(HcclComm comm);
HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status);

typedef enum HcclCommStatePhase {
    HCCL_COMM_STATE_PHASE_INVALID = -1,
    HCCL_COMM_STATE_PHASE_DESTROY_PRE = 0,
    HCCL_COMM_STATE_PHASE_DESTROY_POST = 1,
    HCCL_COMM_STATE_PHASE_RESUME_PRE = 2,
    HCCL_COMM_STATE_PHASE_RESUME_POST = 3,
} HcclCommStatePhase;

/// The parameters are not part of our description of the interface; cast to what CANN's own header says.
typedef void (*HcclCommStateCallback)(void);
HcclResult HcclCommRegCommStateCallback(const char* regName, HcclCommStateCallback cb, void* args);

/// Memory for zero copies out of reserved address ranges.
HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment, uint64_t flags);
HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);
HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                      uint64_t flags);
HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);
HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup, uint32_t nRanks);

/// Groups of calls; experimental.
HcclResult HcclGroupStart(void);
HcclResult HcclGroupEnd(void);
HcclResult HcclGroupStatusGet(bool* isGroupEnabled);

/// Symmetric windows. `flag` is 1.
HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle,
                                  uint32_t flag);
HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);
HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset);

/// What HcclConfigGetInfo reads back; numbered differently from the field of the config.
typedef enum HcclOpExpansionMode {
    HCCL_OP_EXPANSION_MODE_INVALID = -1,
    HCCL_OP_EXPANSION_MODE_AI_CPU = 0,
    HCCL_OP_EXPANSION_MODE_AIV = 1,
    HCCL_OP_EXPANSION_MODE_HOST = 2,
    HCCL_OP_EXPANSION_MODE_HOST_TS = 3,
    HCCL_OP_EXPANSION_MODE_CCU_MS = 4,
    HCCL_OP_EXPANSION_MODE_CCU_SCHED = 5,
    HCCL_OP_EXPANSION_AIV_ONLY = 6,
} HcclOpExpansionMode;

typedef enum HcclConfigType {
    HCCL_CONFIG_TYPE_INVALID = -1,
    HCCL_CONFIG_TYPE_OP_EXPANSION_MODE = 0,
    HCCL_CONFIG_TYPE_HCCL_ALGO = 1,
} HcclConfigType;

HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_COMM_H
