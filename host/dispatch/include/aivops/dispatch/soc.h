// From the name of a chip to the architecture that kernels are compiled for.
#ifndef AIVOPS_DISPATCH_SOC_H
#define AIVOPS_DISPATCH_SOC_H

#include <string_view>

namespace aivops {

namespace detail {

struct ArchitectureRow {
    const char* name;
    int npu_arch;
};

struct SocRow {
    const char* name;
    int npu_arch;
};

inline constexpr ArchitectureRow kArchitectures[] = {
#define AIVOPS_ARCHITECTURE(name, alias, npu_arch) {name, npu_arch},
#define AIVOPS_SOC(name, family, npu_arch, cube_cores, vector_cores, ub_bytes)
#include "aivops/socs.def"
#undef AIVOPS_ARCHITECTURE
#undef AIVOPS_SOC
};

inline constexpr SocRow kSocs[] = {
#define AIVOPS_ARCHITECTURE(name, alias, npu_arch)
#define AIVOPS_SOC(name, family, npu_arch, cube_cores, vector_cores, ub_bytes) {name, npu_arch},
#include "aivops/socs.def"
#undef AIVOPS_ARCHITECTURE
#undef AIVOPS_SOC
};

} // namespace detail

/// "dav-c220-vec" for "Ascend910B1"; null for a chip without vector cores that kernels are compiled for. Exact names
/// only: "Ascend910B" is a first generation chip.
inline const char* find_architecture(std::string_view soc) {
    for (const detail::SocRow& row : detail::kSocs) {
        if (soc == row.name) {
            for (const detail::ArchitectureRow& architecture : detail::kArchitectures) {
                if (architecture.npu_arch == row.npu_arch) {
                    return architecture.name;
                }
            }
        }
    }
    return nullptr;
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_SOC_H
