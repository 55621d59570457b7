// What went wrong and how it is said. A report names kernel, device, block, place and what to look at.
#ifndef AIVOPS_MACHINE_REPORT_H
#define AIVOPS_MACHINE_REPORT_H

#include "memory.h"

#include <cstdint>
#include <string>

namespace aivops::machine {

struct Failure {
    int code = 0; // of the ACL_ERROR_RT family
    std::string message;
};

std::string hex(uint64_t value);

/// "0x… (device 2, byte 64 of [0x…, 0x…))", or what is known of an address outside any allocation.
std::string describe_address(Address address);

/// "function+0x12 (file.asc:34)", as far as the binary's symbols and line table tell.
std::string describe_place(const void* instruction);

const char* category_name(uint32_t category);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_REPORT_H
