// Names of machines and architectures, and how a binary says which one it is for.
#ifndef AIVOPS_KERNEL_BINARY_ARCHITECTURE_H
#define AIVOPS_KERNEL_BINARY_ARCHITECTURE_H

#include <cstdint>
#include <string_view>

namespace aivops::kernel_binary {

enum class Machine { kUnknown, kAscend, kEmulatedX86, kEmulatedArm };

constexpr std::uint16_t kMachineAscend = 0x1029;
constexpr std::uint16_t kMachineX86 = 62;
constexpr std::uint16_t kMachineArm = 183;

inline bool is_emulated(Machine machine) {
    return machine == Machine::kEmulatedX86 || machine == Machine::kEmulatedArm;
}

inline std::string_view machine_name(Machine machine) {
    switch (machine) {
    case Machine::kAscend:
        return "ascend";
    case Machine::kEmulatedX86:
        return "emulated-x86_64";
    case Machine::kEmulatedArm:
        return "emulated-aarch64";
    case Machine::kUnknown:
        break;
    }
    return "unknown";
}

inline Machine find_machine(std::string_view name) {
    for (const Machine machine : {Machine::kAscend, Machine::kEmulatedX86, Machine::kEmulatedArm}) {
        if (machine_name(machine) == name) {
            return machine;
        }
    }
    return Machine::kUnknown;
}

// Code of one generation does not run on another; A2 and A3 are one.
enum class Generation { kUnknown, kM200, kC220, kC310 };

inline Generation find_generation(std::string_view name) {
    struct Entry {
        std::string_view name;
        Generation generation;
    };
    constexpr Entry kNames[] = {
        {"dav-c220-vec", Generation::kC220}, {"dav-2201", Generation::kC220},     {"dav-c220", Generation::kC220},
        {"ascend910b", Generation::kC220},   {"ascend910_93", Generation::kC220}, {"dav-c310-vec", Generation::kC310},
        {"dav-3510", Generation::kC310},     {"dav-c310", Generation::kC310},     {"ascend950", Generation::kC310},
        {"dav-m200", Generation::kM200},     {"ascend310p", Generation::kM200},
    };
    for (const Entry& entry : kNames) {
        if (entry.name == name) {
            return entry.generation;
        }
    }
    return Generation::kUnknown;
}

struct Architecture {
    Generation generation = Generation::kUnknown;
    std::string_view name = "unknown";
};

// e_flags of an `ascend` binary. It names the generation; whether code is vector only is a hint.
inline Architecture architecture_of_flags(std::uint32_t flags) {
    switch (flags) {
    case 0x8a0000:
        return {Generation::kM200, "dav-m200"};
    case 0x930000:
        return {Generation::kC220, "dav-c220-vec"};
    case 0x940000:
        return {Generation::kC220, "dav-c220"};
    case 0x990000:
        return {Generation::kC310, "dav-c310-vec"};
    case 0x9a0000:
        return {Generation::kC310, "dav-c310"};
    default:
        return {};
    }
}

// npu_arch of an emulated binary's contract record.
inline Architecture architecture_of_npu(std::uint32_t npu_arch) {
    switch (npu_arch) {
    case 2201:
        return {Generation::kC220, "dav-c220-vec"};
    case 3510:
        return {Generation::kC310, "dav-c310-vec"};
    default:
        return {};
    }
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_ARCHITECTURE_H
