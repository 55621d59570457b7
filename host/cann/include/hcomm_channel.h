// Channels between endpoints, below communicators.
#ifndef HCOMM_CHANNEL_H
#define HCOMM_CHANNEL_H

#include "hcomm_res_defs.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HCOMM_CHANNEL_MAGIC_WORD 0x0fcf0f0fU
#define HCOMM_CHANNEL_VERSION 4U
#define HCOMM_CHANNEL_DESC_ABI_V1_SIZE 344U

typedef struct HcommChannelDesc {
    CommAbiHeader header;
    EndpointDesc remoteEndpoint;
    uint32_t notifyNum;
    bool exchangeAllMems;
    HcommMemHandle* memHandles;
    uint32_t memHandleNum;
    HcommSocket socket;
    HcommSocketRole role;
    uint16_t port;
    union {
        uint8_t raws[128];
        struct {
            uint32_t queueNum;
            uint32_t retryCnt;
            uint32_t retryInterval;
            uint8_t tc;
            uint8_t sl;
        } roceAttr;
    };
    uint32_t qos; // since version 4, with what follows
    const char* channelName;
} HcommChannelDesc;

static inline HcommResult HcommChannelDescInit(HcommChannelDesc* channelDesc, uint32_t descNum) {
    CommAbiHeader header = {HCOMM_CHANNEL_VERSION, HCOMM_CHANNEL_MAGIC_WORD, sizeof(HcommChannelDesc), 0};
    if (channelDesc == NULL) {
        return 2; // HCCL_E_PTR
    }
    memset(channelDesc, 0, descNum * sizeof *channelDesc);
    for (uint32_t i = 0; i < descNum; ++i) {
        channelDesc[i].header = header;
        EndpointDescInit(&channelDesc[i].remoteEndpoint, 1);
        channelDesc[i].role = HCOMM_SOCKET_ROLE_RESERVED;
    }
    return 0;
}

HcommResult HcommChannelCreate(EndpointHandle endpointHandle, CommEngine engine, HcommChannelDesc* channelDescs,
                               uint32_t channelNum, ChannelHandle* channels);
HcommResult HcommChannelConfigCreate(HcommChannelConfig* config);
HcommResult HcommChannelConfigDestroy(HcommChannelConfig config);
HcommResult HcommChannelConfigSetInt(HcommChannelConfig config, HcommChannelConfigType type, uint32_t value);
HcommResult HcommChannelCreateWithConfig(EndpointHandle endpointHandle, CommEngine engine,
                                         HcommChannelDesc* channelDescs, uint32_t channelNum, HcommChannelConfig config,
                                         ChannelHandle* channels);
HcommResult HcommChannelGetStatus(const ChannelHandle* channelList, uint32_t listNum, int32_t* statusList);
HcommResult HcommChannelDestroy(const ChannelHandle* channels, uint32_t channelNum);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCOMM_CHANNEL_H
