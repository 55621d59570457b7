// Topology queries of hccl_rank_graph.h.
#include "communicator.h"
#include "error.h"
#include "hccl/hccl_rank_graph.h"

using namespace aivops::hccl;

namespace {

// A list that stays the library's.
template <typename T>
void hand_out(std::vector<T>& list, T** items, uint32_t* count) {
    *items = list.data();
    *count = static_cast<uint32_t>(list.size());
}

} // namespace

HcclResult HcclRankGraphGetLayers(HcclComm comm, uint32_t** netLayers, uint32_t* netLayerNum) {
    return guarded("HcclRankGraphGetLayers", [&] {
        require_pointer(netLayers, "netLayers");
        require_pointer(netLayerNum, "netLayerNum");
        hand_out(handles::find(comm)->graph().layers(), netLayers, netLayerNum);
    });
}

HcclResult HcclRankGraphGetRanksByLayer(HcclComm comm, uint32_t netLayer, uint32_t** ranks, uint32_t* rankNum) {
    return guarded("HcclRankGraphGetRanksByLayer", [&] {
        require_pointer(ranks, "ranks");
        require_pointer(rankNum, "rankNum");
        hand_out(handles::find(comm)->graph().ranks(netLayer), ranks, rankNum);
    });
}

HcclResult HcclRankGraphGetRankSizeByLayer(HcclComm comm, uint32_t netLayer, uint32_t* rankNum) {
    return guarded("HcclRankGraphGetRankSizeByLayer", [&] {
        require_pointer(rankNum, "rankNum");
        *rankNum = static_cast<uint32_t>(handles::find(comm)->graph().ranks(netLayer).size());
    });
}

HcclResult HcclRankGraphGetTopoTypeByLayer(HcclComm comm, uint32_t netLayer, CommTopo* topoType) {
    return guarded("HcclRankGraphGetTopoTypeByLayer", [&] {
        require_pointer(topoType, "topoType");
        *topoType = handles::find(comm)->graph().topology(netLayer);
    });
}

HcclResult HcclRankGraphGetInstSizeListByLayer(HcclComm comm, uint32_t netLayer, uint32_t** instSizeList,
                                               uint32_t* listSize) {
    return guarded("HcclRankGraphGetInstSizeListByLayer", [&] {
        require_pointer(instSizeList, "instSizeList");
        require_pointer(listSize, "listSize");
        hand_out(handles::find(comm)->graph().instance_sizes(netLayer), instSizeList, listSize);
    });
}

HcclResult HcclRankGraphGetLinks(HcclComm comm, uint32_t netLayer, uint32_t srcRank, uint32_t dstRank, CommLink** links,
                                 uint32_t* linkNum) {
    return guarded("HcclRankGraphGetLinks", [&] {
        require_pointer(links, "links");
        require_pointer(linkNum, "linkNum");
        hand_out(handles::find(comm)->graph().links(netLayer, srcRank, dstRank), links, linkNum);
    });
}

HcclResult HcclGetHeterogMode(HcclComm comm, HcclHeterogMode* mode) {
    return guarded("HcclGetHeterogMode", [&] {
        require_pointer(mode, "mode");
        handles::find(comm);
        *mode = HCCL_HETEROG_MODE_HOMOGENEOUS;
    });
}
