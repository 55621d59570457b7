// What communication resources are made of: engines, protocols, endpoints, memory.
#ifndef HCOMM_RES_DEFS_H
#define HCOMM_RES_DEFS_H

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t HcommResult;
typedef uint64_t ThreadHandle;
typedef uint64_t ChannelHandle;
typedef void* EndpointHandle;
typedef void* HcommMemHandle;
typedef void* HcommSocket;
typedef void* HcommChannelConfig;

/// Starts every record that may grow; both sides copy up to the shorter of their sizes.
typedef struct CommAbiHeader {
    uint32_t version;
    uint32_t magicWord;
    uint32_t size;
    uint32_t reserved;
} CommAbiHeader;

/// Who carries out a communication.
typedef enum CommEngine {
    COMM_ENGINE_RESERVED = -1,
    COMM_ENGINE_CPU = 0,
    COMM_ENGINE_CPU_TS = 1,
    COMM_ENGINE_AICPU = 2,
    COMM_ENGINE_AICPU_TS = 3,
    COMM_ENGINE_AIV = 4,
    COMM_ENGINE_CCU = 5,
} CommEngine;

typedef enum CommProtocol {
    COMM_PROTOCOL_RESERVED = -1,
    COMM_PROTOCOL_HCCS = 0,
    COMM_PROTOCOL_ROCE = 1,
    COMM_PROTOCOL_PCIE = 2,
    COMM_PROTOCOL_SIO = 3,
    COMM_PROTOCOL_UB_CTP = 4,
    COMM_PROTOCOL_UBC_CTP = 4,
    COMM_PROTOCOL_UBC_TP = 5,
    COMM_PROTOCOL_UB_MEM = 6,
    COMM_PROTOCOL_UBOE = 7,
    COMM_PROTOCOL_HCCS_ONLY = 8,
    COMM_PROTOCOL_UB_RTP = 9,
    COMM_PROTOCOL_UBG = 9,
} CommProtocol;

typedef enum ThreadType {
    THREAD_TYPE_INVALID = -1,
    THREAD_TYPE_TS = 0,
} ThreadType;

typedef enum ThreadResType {
    THREAD_RES_TYPE_INVALID = -1,
    THREAD_RES_TYPE_STREAM = 0,
} ThreadResType;

#define HCOMM_THREAD_CONFIG_MAGIC_WORD 0x0f0f0f2fU
#define HCOMM_THREAD_CONFIG_VERSION 1U

typedef struct ThreadConfig {
    CommAbiHeader header;
    uint16_t notifyNumPerThread;
    uint8_t reserved[14];
} ThreadConfig;

static inline HcommResult ThreadConfigInit(ThreadConfig* config, uint32_t num) {
    CommAbiHeader header = {HCOMM_THREAD_CONFIG_VERSION, HCOMM_THREAD_CONFIG_MAGIC_WORD, sizeof(ThreadConfig), 0};
    if (config == NULL) {
        return 2; // HCCL_E_PTR
    }
    memset(config, 0, num * sizeof *config);
    for (uint32_t i = 0; i < num; ++i) {
        config[i].header = header;
    }
    return 0;
}

typedef enum CommAddrType {
    COMM_ADDR_TYPE_RESERVED = -1,
    COMM_ADDR_TYPE_IP_V4 = 0,
    COMM_ADDR_TYPE_IP_V6 = 1,
    COMM_ADDR_TYPE_ID = 2,
    COMM_ADDR_TYPE_EID = 3,
} CommAddrType;

#define COMM_ADDR_EID_LEN 16U

typedef struct CommAddr {
    CommAddrType type;
    union {
        uint8_t raws[36];
        struct in_addr addr;
        struct in6_addr addr6;
        uint32_t id;
        uint8_t eid[COMM_ADDR_EID_LEN];
    };
} CommAddr;

typedef enum EndpointLocType {
    ENDPOINT_LOC_TYPE_RESERVED = -1,
    ENDPOINT_LOC_TYPE_DEVICE = 0,
    ENDPOINT_LOC_TYPE_HOST = 1,
} EndpointLocType;

typedef struct EndpointLoc {
    EndpointLocType locType;
    union {
        uint8_t raws[60];
        struct {
            uint32_t devPhyId;
            uint32_t superDevId;
            uint32_t serverIdx;
            uint32_t superPodIdx;
        } device;
        struct {
            uint32_t id;
        } host;
    };
} EndpointLoc;

typedef struct EndpointDesc {
    CommProtocol protocol;
    CommAddr commAddr;
    EndpointLoc loc;
    union {
        uint8_t raws[52];
    };
} EndpointDesc;

static inline HcommResult EndpointDescInit(EndpointDesc* endpoint, uint32_t num) {
    if (endpoint == NULL) {
        return 2; // HCCL_E_PTR
    }
    memset(endpoint, 0xff, num * sizeof *endpoint); // -1: protocol, address and location reserved
    return 0;
}

typedef enum CommMemType {
    COMM_MEM_TYPE_INVALID = -1,
    COMM_MEM_TYPE_DEVICE = 0,
    COMM_MEM_TYPE_HOST = 1,
} CommMemType;

typedef struct CommMem {
    CommMemType type;
    void* addr;
    uint64_t size;
} CommMem;

typedef enum HcommSocketRole {
    HCOMM_SOCKET_ROLE_RESERVED = -1,
    HCOMM_SOCKET_ROLE_CLIENT = 0,
    HCOMM_SOCKET_ROLE_SERVER = 1,
} HcommSocketRole;

typedef enum HcommEndpointFeatureType {
    HCOMM_ENDPOINT_FEATURE_INVALID = -1,
    HCOMM_ENDPOINT_FEATURE_NDA = 0,
} HcommEndpointFeatureType;

typedef enum HcommChannelConfigType {
    HCOMM_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0,
} HcommChannelConfigType;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCOMM_RES_DEFS_H
