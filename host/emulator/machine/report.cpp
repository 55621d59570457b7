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

Place locate(const void* instruction) {
    Dl_info info;
    if (dladdr(instruction, &info) == 0) {
        return {hex(reinterpret_cast<uint64_t>(instruction)), 0, {}};
    }
    Place place;
    if (info.dli_sname != nullptr) {
        int status = 0;
        char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
        place.function = status == 0 ? readable : info.dli_sname;
        std::free(readable);
    }
    const void* from = info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase;
    place.offset = reinterpret_cast<uint64_t>(instruction) - reinterpret_cast<uint64_t>(from);
    place.line = KernelImage::source_line_of(instruction);
    return place;
}

std::string describe_place(const void* instruction) {
    if (instruction == nullptr) {
        return "an unknown place";
    }
    const Place place = locate(instruction);
    return place.function + (place.offset != 0 ? "+" + hex(place.offset) : "") +
           (place.line.empty() ? "" : " (" + place.line + ")");
}

std::string Finding::text() const {
    return std::string(category) + ": " + message + (place != nullptr ? "; at " + describe_place(place) : "");
}

std::string Scene::text() const {
    return "kernel " + kernel + " on device " + std::to_string(device) +
           (blocks != 0 ? ": block " + std::to_string(block) + " of " + std::to_string(blocks) : "");
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
