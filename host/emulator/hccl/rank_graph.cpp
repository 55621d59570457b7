#include "rank_graph.h"

#include "acl/acl.h"
#include "error.h"

#include <numeric>
#include <string_view>

namespace aivops::hccl {
namespace {

constexpr uint32_t kA2Mesh = 8; // devices that are linked each to each
constexpr uint32_t kA3Dies = 2; // of one card
constexpr uint32_t kHighestLayer = 2;

} // namespace

Family family_of_soc() {
    const std::string_view soc = aclrtGetSocName();
    if (soc.starts_with("Ascend910B")) {
        return Family::kA2;
    }
    return soc.starts_with("Ascend910_93") ? Family::kA3 : Family::kA5;
}

std::optional<CommProtocol> protocol_between(Family family, uint32_t device, uint32_t other) {
    switch (family) {
    case Family::kA2:
        if (device / kA2Mesh == other / kA2Mesh) {
            return COMM_PROTOCOL_HCCS;
        }
        return device % kA2Mesh == other % kA2Mesh ? std::optional(COMM_PROTOCOL_PCIE) : std::nullopt;
    case Family::kA3:
        return device / kA3Dies == other / kA3Dies && device != other ? COMM_PROTOCOL_SIO : COMM_PROTOCOL_HCCS;
    case Family::kA5:
        return COMM_PROTOCOL_UB_MEM;
    }
    return std::nullopt;
}

bool is_load_store(CommProtocol protocol) {
    return protocol == COMM_PROTOCOL_HCCS || protocol == COMM_PROTOCOL_HCCS_ONLY || protocol == COMM_PROTOCOL_SIO ||
           protocol == COMM_PROTOCOL_UB_MEM;
}

RankGraph::RankGraph(std::vector<uint32_t> devices)
    : family_(family_of_soc()), devices_(std::move(devices)), ranks_(devices_.size()),
      instance_sizes_{static_cast<uint32_t>(devices_.size())} {
    std::iota(ranks_.begin(), ranks_.end(), 0);
}

void RankGraph::check_layer(uint32_t layer) const {
    require(layer == 0, HCCL_E_PARA,
            "there is no layer " + std::to_string(layer) + ": the ranks of one server are on layer 0");
}

std::vector<uint32_t>& RankGraph::ranks(uint32_t layer) {
    check_layer(layer);
    return ranks_;
}

std::vector<uint32_t>& RankGraph::instance_sizes(uint32_t layer) {
    check_layer(layer);
    return instance_sizes_;
}

CommTopo RankGraph::topology(uint32_t layer) const {
    check_layer(layer);
    return family_ == Family::kA3 ? COMM_TOPO_910_93 : COMM_TOPO_1DMESH;
}

EndpointDesc RankGraph::endpoint(uint32_t rank, CommProtocol protocol) const {
    EndpointDesc endpoint;
    EndpointDescInit(&endpoint, 1);
    endpoint.protocol = protocol;
    endpoint.commAddr.type = COMM_ADDR_TYPE_ID;
    endpoint.commAddr.id = devices_[rank];
    endpoint.loc.locType = ENDPOINT_LOC_TYPE_DEVICE;
    endpoint.loc.device = {devices_[rank], devices_[rank], 0, 0};
    return endpoint;
}

std::vector<CommLink>& RankGraph::links(uint32_t layer, uint32_t source, uint32_t destination) {
    require(layer <= kHighestLayer, HCCL_E_PARA, "there is no layer " + std::to_string(layer) + "; at most 2");
    for (uint32_t rank : {source, destination}) {
        require(rank < devices_.size(), HCCL_E_PARA,
                "there is no rank " + std::to_string(rank) + " of " + std::to_string(devices_.size()));
    }
    if (layer != 0 || source == destination) {
        return none_;
    }
    std::lock_guard lock(mutex_);
    auto [entry, is_new] = links_.try_emplace({source, destination});
    std::optional<CommProtocol> protocol = protocol_between(family_, devices_[source], devices_[destination]);
    if (is_new && protocol) {
        CommLink link;
        CommLinkInit(&link, 1);
        link.srcEndpointDesc = endpoint(source, *protocol);
        link.dstEndpointDesc = endpoint(destination, *protocol);
        link.linkAttr.linkProtocol = *protocol;
        entry->second.push_back(link);
    }
    return entry->second;
}

} // namespace aivops::hccl
