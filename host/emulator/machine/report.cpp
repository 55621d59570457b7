#include "report.h"

#include "contract/contract.h"
#include "kernel_image.h"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>

namespace aivops::machine {

std::string hex(uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string describe_address(Address address) {
    MemorySpace& memory = memory_space();
    std::optional<uint32_t> owner = memory.owner(address);
    if (!owner) {
        return hex(address) + " (not device memory)";
    }
    std::string device = "device " + std::to_string(*owner) + ", ";
    if (std::optional<Range> range = memory.find(address)) {
        return hex(address) + " (" + device + "byte " + std::to_string(address - range->begin) + " of [" +
               hex(range->begin) + ", " + hex(range->end) + "))";
    }
    return hex(address) + " (" + device + memory.arena(*owner).describe(address) + ")";
}

std::string describe_place(const void* instruction) {
    Dl_info info;
    if (instruction == nullptr || dladdr(instruction, &info) == 0) {
        return instruction == nullptr ? "an unknown place" : hex(reinterpret_cast<uint64_t>(instruction));
    }
    std::string place;
    if (info.dli_sname != nullptr) {
        int status = 0;
        char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
        place = status == 0 ? readable : info.dli_sname;
        std::free(readable);
    }
    const void* from = info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase;
    place += "+" + hex(reinterpret_cast<uint64_t>(instruction) - reinterpret_cast<uint64_t>(from));
    const std::string line = KernelImage::source_line_of(instruction);
    return place + (line.empty() ? "" : " (" + line + ")");
}

const char* category_name(uint32_t category) {
    switch (category) {
    case AIVOPS_EMU_MEMCHECK:
        return "memcheck";
    case AIVOPS_EMU_RACECHECK:
        return "racecheck";
    case AIVOPS_EMU_INITCHECK:
        return "initcheck";
    case AIVOPS_EMU_SYNCCHECK:
        return "synccheck";
    case AIVOPS_EMU_DEADLOCK:
        return "deadlock";
    default:
        return "assert";
    }
}

} // namespace aivops::machine
