// The topology of one emulated server: which ranks are linked, by what. There is one layer that links anything.
#ifndef AIVOPS_EMULATOR_HCCL_RANK_GRAPH_H
#define AIVOPS_EMULATOR_HCCL_RANK_GRAPH_H

#include "hccl/hccl_rank_graph.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aivops::hccl {

enum class Family { kA2, kA3, kA5 };

Family family_of_soc();

/// How kernels of a device reach the memory of another one; nothing where they cannot.
std::optional<CommProtocol> protocol_between(Family family, uint32_t device, uint32_t other);

/// Whether the protocol is one that kernels load and store over.
bool is_load_store(CommProtocol protocol);

class RankGraph {
  public:
    /// `devices` by rank.
    explicit RankGraph(std::vector<uint32_t> devices);

    // Lists stay where they are as long as the communicator.
    std::vector<uint32_t>& layers() { return layers_; }
    std::vector<uint32_t>& ranks(uint32_t layer);
    std::vector<uint32_t>& instance_sizes(uint32_t layer);
    CommTopo topology(uint32_t layer) const;
    std::vector<CommLink>& links(uint32_t layer, uint32_t source, uint32_t destination);

  private:
    void check_layer(uint32_t layer) const;
    EndpointDesc endpoint(uint32_t rank, CommProtocol protocol) const;

    const Family family_;
    const std::vector<uint32_t> devices_;
    std::vector<uint32_t> layers_{0};
    std::vector<uint32_t> ranks_;
    std::vector<uint32_t> instance_sizes_;
    std::mutex mutex_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<CommLink>> links_;
    std::vector<CommLink> none_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_RANK_GRAPH_H
