#include "settings.h"

#include "environment.h"
#include "error.h"
#include "hccl/hccl_comm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace aivops::hccl {
namespace {

struct ConfigHeader {
    size_t size;
    uint32_t magic;
    uint32_t version;
};

// By the number in a config: HcclOpExpansionMode. 0 stands for what the environment says.
constexpr std::array<int32_t, 7> kExpansionModes = {HCCL_OP_EXPANSION_MODE_INVALID,  HCCL_OP_EXPANSION_MODE_HOST,
                                                    HCCL_OP_EXPANSION_MODE_AI_CPU,   HCCL_OP_EXPANSION_MODE_AIV,
                                                    HCCL_OP_EXPANSION_AIV_ONLY,      HCCL_OP_EXPANSION_MODE_CCU_MS,
                                                    HCCL_OP_EXPANSION_MODE_CCU_SCHED};

HcclCommConfig whole(const HcclCommConfig& given) {
    ConfigHeader header;
    std::memcpy(&header, given.reserved, sizeof header);
    require(header.magic == HCCL_COMM_CONFIG_MAGIC_WORD && header.size >= sizeof given.reserved, HCCL_E_PARA,
            "the config was not initialised; call HcclCommConfigInit first");
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    std::memcpy(&config, &given, std::min(header.size, sizeof config));
    return config;
}

} // namespace

uint64_t Settings::digest() const {
    uint64_t digest = buffer_bytes;
    for (uint64_t part : {static_cast<uint64_t>(expansion_mode), static_cast<uint64_t>(execution_seconds)}) {
        digest = digest * 0x9e3779b97f4a7c15 + part;
    }
    for (char letter : name) {
        digest = digest * 0x9e3779b97f4a7c15 + static_cast<unsigned char>(letter);
    }
    return digest;
}

Settings read_settings(const HcclCommConfig* given) {
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    if (given != nullptr) {
        config = whole(*given);
    }
    require(config.hcclBufferSize != 0, HCCL_E_PARA, "hcclBufferSize is 0; at least 1 (MB)");
    require(config.hcclOpExpansionMode < kExpansionModes.size(), HCCL_E_PARA,
            "hcclOpExpansionMode is " + std::to_string(config.hcclOpExpansionMode) + "; at most 6");
    require(memchr(config.hcclCommName, '\0', sizeof config.hcclCommName) != nullptr, HCCL_E_PARA,
            "hcclCommName has no terminator");
    const uint64_t megabytes = config.hcclBufferSize == UINT32_MAX ? buffer_megabytes() : config.hcclBufferSize;
    return {
        .buffer_bytes = 2 * megabytes << 20,
        .name = config.hcclCommName,
        .expansion_mode =
            config.hcclOpExpansionMode == 0 ? expansion_mode() : kExpansionModes[config.hcclOpExpansionMode],
        .execution_seconds =
            config.hcclExecTimeOut < 0 ? execution_seconds() : static_cast<uint32_t>(config.hcclExecTimeOut),
    };
}

} // namespace aivops::hccl
