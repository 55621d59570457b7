// Descriptors offered to other processes under keys: the way all memory leaves a process.
// A key is 64 hexadecimal digits: the name of this process's socket and a secret, 128 random bits each. Whoever asks
// proves who it is by the credentials of its connection; sockets live in the abstract namespace and leave no file.
#ifndef AIVOPS_MACHINE_IPC_OFFERS_H
#define AIVOPS_MACHINE_IPC_OFFERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <vector>

namespace aivops::machine {

constexpr size_t kIpcKeyDigits = 64;
constexpr size_t kIpcDescriptionBytes = 128;

class __attribute__((visibility("default"))) IpcError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What the owner tells about a descriptor; whoever receives it trusts none of it unchecked.
using IpcDescription = std::array<std::byte, kIpcDescriptionBytes>;

struct IpcReceived {
    int descriptor = -1; // the receiver's to close; -1 when this very process made the offer
    int owned = -1;      // then the descriptor that was offered
    pid_t owner = 0;
    IpcDescription description{};
};

/// Offers `descriptor`, which stays the caller's and open, and returns the key. Who may fetch it: processes of the same
/// user that `ipc_allow` names, or any of them when `everyone`.
std::string ipc_offer(int descriptor, const IpcDescription& description, bool everyone);

/// False when this process offers no such key.
bool ipc_allow(const std::string& key, std::span<const pid_t> processes);
bool ipc_withdraw(const std::string& key);
/// Whether another process has fetched an offer, and so may write to memory here.
bool ipc_shared();

/// Asks the owner for what it offers under `key`. Throws IpcError, which says who refused and why.
IpcReceived ipc_fetch(const std::string& key);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_IPC_OFFERS_H
