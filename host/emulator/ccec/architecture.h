// The AIV architectures the emulated compiler knows, with the spellings and macros CANN gives them.
#ifndef AIVOPS_EMULATOR_CCEC_ARCHITECTURE_H
#define AIVOPS_EMULATOR_CCEC_ARCHITECTURE_H

#include <array>
#include <string_view>

namespace aivops::ccec {

struct Architecture {
    std::string_view cce_name;     // --cce-aicore-arch=
    std::string_view npu_name;     // --npu-arch=
    std::string_view npu_number;   // __NPU_ARCH__
    std::string_view cce_number;   // __CCE_AICORE__
    std::string_view family_macro; // defined as 1
    std::string_view vector_macro; // defined as 1
};

inline constexpr std::array<Architecture, 2> kArchitectures{{
    {"dav-c220-vec", "dav-2201", "2201", "220", "__DAV_C220__", "__DAV_C220_VEC__"},
    {"dav-c310-vec", "dav-3510", "3510", "310", "__DAV_C310__", "__DAV_C310_VEC__"},
}};

} // namespace aivops::ccec

#endif
