// Device memory of other processes: exported and imported by key, and the peers whose death must end waits here.
#ifndef AIVOPS_MACHINE_IPC_MEMORY_H
#define AIVOPS_MACHINE_IPC_MEMORY_H

#include "memory.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

namespace aivops::machine {

/// Offers [address, address + bytes), a part of one allocation of this process. Throws IpcError.
std::string export_memory(Address address, uint64_t bytes, bool everyone);

struct ImportedMemory {
    Address address;
    uint32_t owner; // device
};

/// Maps what `key` offers; every call makes a mapping of its own, except for memory of this very process, which is
/// where it is. Throws IpcError.
ImportedMemory import_memory(const std::string& key);

/// Ends the oldest import of `key` here, or else the export of it. False when it is neither.
bool close_memory(const std::string& key);

/// "rank 2 (process 17) has ended" for every process that has, without closing what it shared with this one: those that
/// end because another one did come soon after it. Asks the kernel now and then only, so it may be called often.
std::optional<std::string> describe_ended_peers();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_IPC_MEMORY_H
