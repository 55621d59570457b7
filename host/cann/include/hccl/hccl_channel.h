// Channels: what two ranks need to reach each other's memory.
#ifndef HCCL_HCCL_CHANNEL_H
#define HCCL_HCCL_CHANNEL_H

#include "hccl/hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* HcclMemHandle;
typedef void* HcclChannelConfig;

#define HCCL_CHANNEL_MAGIC_WORD 0x0f0f0f0fU
#define HCCL_CHANNEL_VERSION 1U
#define HCCL_CHANNEL_DESC_RAW_MAX_LEN 128U

typedef struct HcclChannelDesc {
    CommAbiHeader header;
    uint32_t remoteRank;
    CommProtocol channelProtocol;
    EndpointDesc localEndpoint;
    EndpointDesc remoteEndpoint;
    uint32_t notifyNum;        // at most 64
    HcclMemHandle* memHandles; // memory that the peer gets to see besides the HCCL buffer; at most 256
    uint32_t memHandleNum;
    union {
        uint8_t raws[HCCL_CHANNEL_DESC_RAW_MAX_LEN];
        struct {
            uint32_t queueNum;
            uint32_t retryCnt;
            uint32_t retryInterval;
            uint8_t tc;
            uint8_t sl;
        } roceAttr;
        struct {
            uint8_t pathMode;
        } ubMemAttr;
    };
} HcclChannelDesc;

/// Mandatory before a descriptor is filled.
static inline HcclResult HcclChannelDescInit(HcclChannelDesc* channelDesc, uint32_t descNum) {
    CommAbiHeader header = {HCCL_CHANNEL_VERSION, HCCL_CHANNEL_MAGIC_WORD, sizeof(HcclChannelDesc), 0};
    if (channelDesc == NULL) {
        return HCCL_E_PTR;
    }
    memset(channelDesc, 0xff, descNum * sizeof *channelDesc);
    for (uint32_t i = 0; i < descNum; ++i) {
        channelDesc[i].header = header;
        channelDesc[i].notifyNum = 0;
        channelDesc[i].memHandles = NULL;
        channelDesc[i].memHandleNum = 0;
    }
    return HCCL_SUCCESS;
}

/// Both ends of every new channel call it. Channels live as long as the communicator.
HcclResult HcclChannelAcquire(HcclComm comm, CommEngine engine, const HcclChannelDesc* channelDescs,
                              uint32_t channelNum, ChannelHandle* channels);

typedef enum HcclChannelConfigType {
    HCCL_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0,
    HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG = 1,
} HcclChannelConfigType;

HcclResult HcclChannelConfigCreate(HcclChannelConfig* config);
HcclResult HcclChannelConfigDestroy(HcclChannelConfig config);
HcclResult HcclChannelConfigSetInt(HcclChannelConfig config, HcclChannelConfigType type, uint32_t value);
HcclResult HcclChannelConfigSetStr(HcclChannelConfig config, HcclChannelConfigType type, const char* value);
HcclResult HcclChannelAcquireWithConfig(HcclComm comm, CommEngine engine, const HcclChannelDesc* channelDescs,
                                        uint32_t channelNum, HcclChannelConfig config, ChannelHandle* channels);

/// Which descriptors already have a channel; 0 where there is none.
HcclResult HcclChannelQuery(HcclComm comm, CommEngine engine, const HcclChannelDesc* channelDescs, uint32_t channelNum,
                            ChannelHandle* channels);

/// Channels of the CCU engine only.
HcclResult HcclChannelDestroy(HcclComm comm, const ChannelHandle* channels, uint32_t channelNum);

/// The peer's HCCL buffer, at an address that kernels of this rank may use.
HcclResult HcclChannelGetHcclBuffer(HcclComm comm, ChannelHandle channel, void** buffer, uint64_t* size);

/// What the peer put into its descriptor.
HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t* memNum, CommMem** remoteMems,
                                    char*** memTags);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_CHANNEL_H
