// What went wrong and how it is said: a report names kernel, device, block, place and what to look at. Everything that
// a check finds comes through here, and so into the process's report file as well.
#ifndef AIVOPS_MACHINE_REPORT_H
#define AIVOPS_MACHINE_REPORT_H

#include "memory.h"

#include <cstdint>
#include <string>

namespace aivops::machine {

// Findings that no instruction raises: the categories of the contract are the kernel's, these the machine's.
constexpr const char* kTimeoutCategory = "timeout"; // nothing moved for as long as the launch allows, and it might yet
constexpr const char* kLaunchCategory = "launch";   // what was launched, or how, cannot be right
constexpr const char* kPeerCategory = "peer";       // another process has ended

struct Failure {
    int code = 0; // of the ACL_ERROR_RT family
    std::string message;
};

struct Access;

/// What a check found, before it is put into words.
struct Finding {
    int code = 0;                   // what the next synchronisation returns
    const char* category = nullptr; // "memcheck", ...
    std::string message;            // without the names of kernel, block and place
    const void* place = nullptr;    // the return address into the kernel; nullptr = the launch as a whole
    const Access* other = nullptr;  // of a race: the access before this one

    /// "racecheck: …; at kernel+0x12 (file.asc:34)".
    std::string text() const;
};

/// What kernel, and which of its blocks, a finding is about.
struct Scene {
    const std::string& kernel;
    uint32_t device = 0;
    uint64_t launch = 0; // in the order in which the process began them, from 1
    uint32_t block = 0;
    uint32_t blocks = 0; // 0 = the launch as a whole

    /// "kernel copy on device 0: block 3 of 8".
    std::string text() const;
};

// A place in a kernel, as far as the binary's symbols and line table tell.
struct Place {
    std::string function; // or the address, where there is no symbol
    uint64_t offset = 0;
    std::string line; // "/path/file.asc:34"; empty without -g
};

Place locate(const void* instruction);

std::string hex(uint64_t value);

/// "0x… (device 2, byte 64 of [0x…, 0x…))", or what is known of an address outside any allocation.
std::string describe_address(Address address);

/// "function+0x12 (file.asc:34)".
std::string describe_place(const void* instruction);

const char* category_name(uint32_t category);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_REPORT_H
