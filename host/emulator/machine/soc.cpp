#include "soc.h"

#include "settings.h"

namespace aivops::machine {
namespace {

struct Family {
    uint32_t npu_arch;
    std::string_view architecture;
    uint32_t ub_bytes;
    uint64_t l2_bytes;
};

constexpr Family kA2{2201, "dav-c220-vec", 192 * 1024, 192ull << 20};
constexpr Family kA5{3510, "dav-c310-vec", 256 * 1024, 128ull << 20};

constexpr Soc make(std::string_view name, const Family& family, uint32_t cube_cores) {
    // Every SoC here pairs one cube core with two vector cores.
    return {name, family.npu_arch, family.architecture, cube_cores, cube_cores * 2, family.ub_bytes, family.l2_bytes};
}

constexpr Soc kSocs[] = {
    make("Ascend910B1", kA2, 24),       make("Ascend910B2", kA2, 24),       make("Ascend910B2C", kA2, 24),
    make("Ascend910B3", kA2, 20),       make("Ascend910B4", kA2, 20),       make("Ascend910B4-1", kA2, 20),
    make("Ascend910_9381", kA2, 24),    make("Ascend910_9382", kA2, 24),    make("Ascend910_9391", kA2, 24),
    make("Ascend910_9392", kA2, 24),    make("Ascend910_9362", kA2, 20),    make("Ascend910_9363", kA2, 20),
    make("Ascend910_9372", kA2, 20),    make("Ascend950PR_9599", kA5, 36),  make("Ascend950DT_9591", kA5, 36),
    make("Ascend950DT_9592", kA5, 36),  make("Ascend950DT_9595", kA5, 36),  make("Ascend950DT_9596", kA5, 36),
    make("Ascend950DT_95A1", kA5, 36),  make("Ascend950DT_95A2", kA5, 36),  make("Ascend950PR_9589", kA5, 32),
    make("Ascend950PR_958b", kA5, 32),  make("Ascend950DT_9581", kA5, 32),  make("Ascend950DT_9582", kA5, 32),
    make("Ascend950DT_9583", kA5, 32),  make("Ascend950DT_9584", kA5, 32),  make("Ascend950DT_9585", kA5, 32),
    make("Ascend950DT_9586", kA5, 32),  make("Ascend950DT_9587", kA5, 32),  make("Ascend950DT_9588", kA5, 32),
    make("Ascend950DT_9581x", kA5, 32), make("Ascend950DT_9582x", kA5, 32), make("Ascend950PR_9579", kA5, 28),
    make("Ascend950PR_957b", kA5, 28),  make("Ascend950PR_957bx", kA5, 28), make("Ascend950PR_957c", kA5, 28),
    make("Ascend950PR_957d", kA5, 28),  make("Ascend950DT_9571", kA5, 28),  make("Ascend950DT_9572", kA5, 28),
    make("Ascend950DT_9573", kA5, 28),  make("Ascend950DT_9574", kA5, 28),  make("Ascend950DT_9575", kA5, 28),
    make("Ascend950DT_9576", kA5, 28),  make("Ascend950DT_9577", kA5, 28),  make("Ascend950DT_9578", kA5, 28),
    make("Ascend950DT_950x", kA5, 8),   make("Ascend950DT_950y", kA5, 4),   make("Ascend950PR_950z", kA5, 4),
    make("Ascend350_354f", kA5, 14),    make("Ascend350_355e", kA5, 16),
};

} // namespace

const Soc* find_soc(std::string_view name) {
    for (const Soc& soc : kSocs) {
        if (soc.name == name) {
            return &soc;
        }
    }
    return nullptr;
}

std::string soc_names() {
    std::string names;
    for (const Soc& soc : kSocs) {
        names += (names.empty() ? "" : ", ") + std::string(soc.name);
    }
    return names;
}

const Soc& soc() {
    static const Soc& instance = *find_soc(settings().soc);
    return instance;
}

} // namespace aivops::machine
