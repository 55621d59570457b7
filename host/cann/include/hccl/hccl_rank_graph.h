// The topology as a communicator sees it: layers, their ranks, links and endpoints.
// Lists belong to the library; the next call on the communicator may overwrite them.
#ifndef HCCL_HCCL_RANK_GRAPH_H
#define HCCL_HCCL_RANK_GRAPH_H

#include "hccl/hccl_types.h"
#include "hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CommTopo {
    COMM_TOPO_RESERVED = -1,
    COMM_TOPO_CLOS = 0,
    COMM_TOPO_1DMESH = 1,
    COMM_TOPO_910_93 = 2,
    COMM_TOPO_310P = 3,
    COMM_TOPO_A2AXSERVER = 4,
    COMM_TOPO_CUSTOM = 5,
} CommTopo;

typedef enum HcclHeterogMode {
    HCCL_HETEROG_MODE_INVALID = -1,
    HCCL_HETEROG_MODE_HOMOGENEOUS = 0,
    HCCL_HETEROG_MODE_MIX_A2_A3 = 1,
} HcclHeterogMode;

typedef enum EndpointAttr {
    ENDPOINT_ATTR_INVALID = -1,
    ENDPOINT_ATTR_BW_COEFF = 0,
    ENDPOINT_ATTR_DIE_ID = 1,
    ENDPOINT_ATTR_LOCATION = 2,
} EndpointAttr;

#define COMM_LINK_MAGIC_WORD 0x0f0e0f0fU
#define COMM_LINK_VERSION 1U

typedef struct CommLink {
    CommAbiHeader header;
    EndpointDesc srcEndpointDesc;
    EndpointDesc dstEndpointDesc;
    union {
        uint8_t raws[128];
        __extension__ struct {
            CommProtocol linkProtocol;
            uint8_t hop;
        };
    } linkAttr;
} CommLink;

static inline HcclResult CommLinkInit(CommLink* commLink, uint32_t linkNum) {
    CommAbiHeader header = {COMM_LINK_VERSION, COMM_LINK_MAGIC_WORD, sizeof(CommLink), 0};
    if (commLink == NULL) {
        return HCCL_E_PTR;
    }
    memset(commLink, 0xff, linkNum * sizeof *commLink);
    for (uint32_t i = 0; i < linkNum; ++i) {
        commLink[i].header = header;
        commLink[i].linkAttr.hop = 1;
    }
    return HCCL_SUCCESS;
}

/// The layers that this rank is part of.
HcclResult HcclRankGraphGetLayers(HcclComm comm, uint32_t** netLayers, uint32_t* netLayerNum);
HcclResult HcclRankGraphGetRanksByLayer(HcclComm comm, uint32_t netLayer, uint32_t** ranks, uint32_t* rankNum);
HcclResult HcclRankGraphGetRankSizeByLayer(HcclComm comm, uint32_t netLayer, uint32_t* rankNum);
HcclResult HcclRankGraphGetTopoTypeByLayer(HcclComm comm, uint32_t netLayer, CommTopo* topoType);
HcclResult HcclRankGraphGetInstSizeListByLayer(HcclComm comm, uint32_t netLayer, uint32_t** instSizeList,
                                               uint32_t* listSize);

/// No link between two ranks is a success with *linkNum 0.
HcclResult HcclRankGraphGetLinks(HcclComm comm, uint32_t netLayer, uint32_t srcRank, uint32_t dstRank, CommLink** links,
                                 uint32_t* linkNum);

/// Instances and endpoints; experimental.
HcclResult HcclRankGraphGetTopoInstsByLayer(HcclComm comm, uint32_t netLayer, uint32_t** topoInsts,
                                            uint32_t* topoInstNum);
HcclResult HcclRankGraphGetTopoType(HcclComm comm, uint32_t netLayer, uint32_t topoInstId, CommTopo* topoType);
HcclResult HcclRankGraphGetRanksByTopoInst(HcclComm comm, uint32_t netLayer, uint32_t topoInstId, uint32_t** ranks,
                                           uint32_t* rankNum);
HcclResult HcclRankGraphGetEndpointNum(HcclComm comm, uint32_t layer, uint32_t topoInstId, uint32_t* num);
HcclResult HcclRankGraphGetEndpointDesc(HcclComm comm, uint32_t layer, uint32_t topoInstId, uint32_t* descNum,
                                        EndpointDesc* endpointDesc);
HcclResult HcclRankGraphGetEndpointInfo(HcclComm comm, uint32_t rankId, const EndpointDesc* endpointDesc,
                                        EndpointAttr endpointAttr, uint32_t infoLen, void* info);
HcclResult HcclGetHeterogMode(HcclComm comm, HcclHeterogMode* mode);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // HCCL_HCCL_RANK_GRAPH_H
