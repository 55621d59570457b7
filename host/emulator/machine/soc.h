// The SoCs that can be emulated: names as CANN reports them, cores, sizes and the vector architecture.
#ifndef AIVOPS_MACHINE_SOC_H
#define AIVOPS_MACHINE_SOC_H

#include <cstdint>
#include <string>
#include <string_view>

namespace aivops::machine {

struct Soc {
    std::string_view name;
    uint32_t npu_arch; // 2201 or 3510
    std::string_view architecture;
    uint32_t cube_cores;
    uint32_t vector_cores;
    uint32_t ub_bytes; // physical, per vector core
    uint64_t l2_bytes;
};

/// By exact name: a prefix would take the first generation's "Ascend910B" for an Ascend910B1. nullptr when unknown.
const Soc* find_soc(std::string_view name);

/// Every name, comma separated, for error messages.
std::string soc_names();

/// The SoC of this process's devices.
const Soc& soc();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_SOC_H
