// What libhccl.so needs of libacl_rt.so beyond ACL: there is one machine per process, and it lives in libacl_rt.so.
// Both libraries are built together; nobody else may use this.
#ifndef AIVOPS_EMULATOR_ACL_LIBRARY_INTERFACE_H
#define AIVOPS_EMULATOR_ACL_LIBRARY_INTERFACE_H

#include "acl/acl.h"
#include "machine/ipc_offers.h"
#include "machine/memory.h"
#include "machine/task.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace aivops::machine {
class Ordering;
}

namespace aivops::acl::library_interface {

#pragma GCC visibility push(default)

/// Keeps the message for aclGetRecentErrMsg of the calling thread.
void report(const std::string& message);

/// The device of the calling thread's context.
std::optional<uint32_t> current_device();
uint32_t device_count();

/// Where the tasks of one communicator in this process meet: what one of them knows to be done when it begins, the
/// others know when they are done. For the detector of races.
std::shared_ptr<machine::Ordering> make_meeting();

/// Runs `task` in stream order. `device` is what the stream's must be. 0, or the ACL code of what is wrong.
aclError submit(const char* function, aclrtStream stream, uint32_t device, std::unique_ptr<machine::Task> task,
                std::shared_ptr<machine::Ordering> meeting);

/// Device memory, poisoned; nullptr when there is not that much left.
void* allocate(uint32_t device, uint64_t bytes);
void release(uint32_t device, void* memory);
/// The allocation or import around an address.
std::optional<machine::Range> find_memory(machine::Address address);
std::optional<uint32_t> owner_of(machine::Address address);

/// Lets kernels of `device` touch memory of `peer`.
void allow_peer(uint32_t device, uint32_t peer);

/// Wakes whoever waits for memory to change.
void ring_doorbell();

/// Memory of other processes, as machine/ipc_memory.h has it.
std::string export_memory(machine::Address address, uint64_t bytes);
machine::Address import_memory(const std::string& key);
void close_memory(const std::string& key);

/// Any descriptor under a key, as machine/ipc_offers.h has it.
std::string offer(int descriptor, const machine::IpcDescription& description);
bool allow(const std::string& key, std::span<const pid_t> processes);
void withdraw(const std::string& key);
machine::IpcReceived fetch(const std::string& key);

#pragma GCC visibility pop

} // namespace aivops::acl::library_interface

#endif // AIVOPS_EMULATOR_ACL_LIBRARY_INTERFACE_H
