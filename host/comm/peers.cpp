#include "peers.h"

#include "aivops/kernel_binary/counted.h"
#include "exchange.h"
#include "process.h"

#include <aivops/dispatch/stream.h>
#include <aivops/window_layout.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>

namespace aivops {
namespace {

// How a rank introduces itself. The first member tells versions apart, whatever follows in them.
struct Introduction {
    std::array<char, 16> version;
    std::array<char, 32> soc;
    uint32_t rank;
    uint32_t size;
    uint64_t window_bytes;
    uint32_t blocks;
    Peer peer;
};

template <size_t Size>
void write_text(std::array<char, Size>& field, const std::string& text) {
    field.fill('\0');
    text.copy(field.data(), Size - 1);
}

template <size_t Size>
std::string read_text(const std::array<char, Size>& field) {
    return {field.data(), strnlen(field.data(), Size)};
}

std::string introduce(const Bootstrap& bootstrap, const Device& device, const Terms& terms) {
    const uint32_t size = bootstrap.size();
    if (size == 0 || size > kMaxRanks || bootstrap.rank() >= size) {
        throw InvalidValueError("Communicator: rank " + std::to_string(bootstrap.rank()) + " of " +
                                kernel_binary::counted(size, "rank") + ", expected 1 to " + std::to_string(kMaxRanks) +
                                " of them, numbered from 0");
    }
    device.effective_timeout(terms.timeout); // refuses what the device cannot count
    Introduction self{};
    write_text(self.version, AIVOPS_VERSION);
    write_text(self.soc, device.soc_name());
    self.rank = bootstrap.rank();
    self.size = size;
    self.window_bytes = terms.window_bytes;
    self.blocks = terms.blocks;
    self.peer.process = getpid();
    self.peer.started = start_of_process(getpid()).value_or(0);
    self.peer.identity = process_identity();
    self.peer.device = device.id();
    self.peer.vector_cores = Stream(device).vector_cores();
    if (device.acl().aclrtDeviceGetBareTgid != nullptr) { // needed between processes only
        const ContextGuard guard(device);
        check(device.acl(), device.acl().aclrtDeviceGetBareTgid(&self.peer.bare_process), "aclrtDeviceGetBareTgid",
              [&] { return device.describe(); });
    }
    return {reinterpret_cast<const char*>(&self), sizeof self};
}

[[noreturn]] void refuse(size_t rank, const std::string& has, const std::string& first_has) {
    throw InvalidValueError("Communicator: rank " + std::to_string(rank) + " has " + has + ", rank 0 has " + first_has +
                            "; all ranks must have the same");
}

std::vector<Introduction> read_introductions(const std::vector<std::string>& told) {
    std::vector<Introduction> all(told.size());
    const auto version_of = [&](size_t rank) {
        std::array<char, 16> version{};
        told[rank].copy(version.data(), version.size());
        return read_text(version);
    };
    for (size_t rank = 0; rank < told.size(); ++rank) {
        if (version_of(rank) != version_of(0)) {
            refuse(rank, "AivOps " + version_of(rank), "AivOps " + version_of(0));
        }
        if (told[rank].size() != sizeof(Introduction)) {
            refuse(rank, "another build of AivOps " + version_of(rank), "this one");
        }
        std::memcpy(&all[rank], told[rank].data(), sizeof(Introduction));
    }
    return all;
}

void require_agreement(const std::vector<Introduction>& all) {
    const Introduction& first = all.front();
    for (size_t rank = 0; rank < all.size(); ++rank) {
        const Introduction& other = all[rank];
        if (other.rank != rank || other.size != all.size()) {
            throw InvalidValueError("Bootstrap: what is rank " + std::to_string(rank) + " of " +
                                    std::to_string(all.size()) + " by the order of all_gather() says that it is rank " +
                                    std::to_string(other.rank) + " of " + std::to_string(other.size));
        }
        if (read_text(other.soc) != read_text(first.soc)) {
            refuse(rank, "chip " + read_text(other.soc), read_text(first.soc));
        }
        if (other.window_bytes != first.window_bytes) {
            refuse(rank, "window_bytes " + std::to_string(other.window_bytes), std::to_string(first.window_bytes));
        }
        if (other.blocks != first.blocks) {
            refuse(rank, "blocks " + std::to_string(other.blocks), std::to_string(first.blocks));
        }
        for (size_t lower = 0; lower < rank; ++lower) {
            if (all[lower].peer.device == other.peer.device) {
                throw InvalidValueError("Communicator: ranks " + std::to_string(lower) + " and " +
                                        std::to_string(rank) + " both use device " + std::to_string(other.peer.device) +
                                        "; every rank needs a device of its own");
            }
        }
    }
}

} // namespace

Peers::Peers(Bootstrap& bootstrap, const Device& device, const Terms& terms) : rank_(bootstrap.rank()) {
    const std::vector<Introduction> introductions =
        read_introductions(exchange(bootstrap, [&] { return introduce(bootstrap, device, terms); }));
    require_agreement(introductions);
    for (const Introduction& introduction : introductions) {
        all_.push_back(introduction.peer);
    }
    // Looked at here, while every process is known to live: it waits for this one in the exchange.
    exchange(bootstrap, [&]() -> std::string {
        for (uint32_t rank = 0; rank < size(); ++rank) {
            if (has_ended(rank)) {
                throw InvalidValueError("Communicator: rank " + std::to_string(rank_) + " cannot see " +
                                        describe(rank) +
                                        "; the processes of all ranks must share one process namespace (/proc)");
            }
        }
        return {};
    });
}

uint32_t Peers::vector_cores() const {
    return std::min_element(all_.begin(), all_.end(),
                            [](const Peer& left, const Peer& right) { return left.vector_cores < right.vector_cores; })
        ->vector_cores;
}

bool Peers::are_all_here() const {
    return std::all_of(all_.begin(), all_.end(),
                       [this](const Peer& peer) { return peer.identity == all_[rank_].identity; });
}

bool Peers::has_ended(uint32_t rank) const {
    return !is_here(rank) && start_of_process(all_[rank].process) != all_[rank].started;
}

std::string Peers::describe(uint32_t rank) const {
    return "rank " + std::to_string(rank) + " (process " + std::to_string(all_[rank].process) + ")";
}

} // namespace aivops
