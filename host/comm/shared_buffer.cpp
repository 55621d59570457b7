#include "shared_buffer.h"

#include "exchange.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace aivops {
namespace {

// What aclrtIpcMemGetExportKey writes, the terminator included; empty where there is none.
using Key = std::array<char, 65>;

// What a rank tells of its buffer.
struct Offer {
    uint64_t address; // in its process
    uint64_t bytes;
    Key key;
};

struct Place {
    void* address = nullptr; // for this rank's device
    uint64_t bytes = 0;
    Key imported_key{};
};

Key export_key(const Buffer& buffer, const Peers& peers) {
    const Device& device = buffer.device();
    const auto get_key = device.toolkit().require(device.acl().aclrtIpcMemGetExportKey, "aclrtIpcMemGetExportKey");
    device.toolkit().require(device.acl().aclrtDeviceGetBareTgid, "aclrtDeviceGetBareTgid");
    const auto allow = device.toolkit().require(device.acl().aclrtIpcMemSetImportPid, "aclrtIpcMemSetImportPid");
    std::vector<int32_t> importers;
    for (uint32_t rank = 0; rank < peers.size(); ++rank) {
        if (!peers.is_here(rank)) {
            importers.push_back(peers[rank].bare_process);
        }
    }
    const ContextGuard guard(device);
    Key key{};
    check(device.acl(),
          get_key(buffer.pointer(), buffer.bytes(), key.data(), key.size(), ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT),
          "aclrtIpcMemGetExportKey", [&] { return buffer.describe(); });
    check(device.acl(), allow(key.data(), importers.data(), importers.size()), "aclrtIpcMemSetImportPid",
          [&] { return buffer.describe(); });
    return key;
}

void close_key(const Device& device, const Key& key) {
    const auto close = device.toolkit().require(device.acl().aclrtIpcMemClose, "aclrtIpcMemClose");
    const ContextGuard guard(device);
    check(device.acl(), close(key.data()), "aclrtIpcMemClose", [&] { return device.describe(); });
}

} // namespace

struct SharedBuffer::State {
    State(const Buffer& own, const Peers& peers) : own(own), rank(peers.rank()), places(peers.size()) {
        if (!peers.are_all_here()) {
            key = export_key(own, peers);
        }
    }

    ~State() {
        if (detail::is_forked_child()) {
            return;
        }
        try {
            close_imports();
        } catch (const Error&) {
            // The device is gone, and the imports with it.
        }
        if (is_exported()) {
            new Buffer(own); // see SharedBuffer::end()
        }
    }

    State(const State&) = delete;
    State& operator=(const State&) = delete;

    bool is_exported() const { return key[0] != '\0'; }

    std::string offer() const {
        const Offer offer{reinterpret_cast<uint64_t>(own.pointer()), own.bytes(), key};
        return {reinterpret_cast<const char*>(&offer), sizeof offer};
    }

    void import(uint32_t peer, const std::string& offered, bool is_here) {
        Offer offer;
        std::memcpy(&offer, offered.data(), sizeof offer);
        Place& place = places[peer];
        place.bytes = offer.bytes;
        if (is_here) {
            place.address = reinterpret_cast<void*>(offer.address);
            return;
        }
        const Device& device = own.device();
        const auto import_key = device.toolkit().require(device.acl().aclrtIpcMemImportByKey, "aclrtIpcMemImportByKey");
        const ContextGuard guard(device);
        check(device.acl(), import_key(&place.address, offer.key.data(), ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS),
              "aclrtIpcMemImportByKey", [&] { return "Communicator: memory of rank " + std::to_string(peer); });
        place.imported_key = offer.key;
    }

    void close_imports() {
        for (Place& place : places) {
            if (const Key imported = std::exchange(place.imported_key, {}); imported[0] != '\0') {
                place.address = nullptr;
                close_key(own.device(), imported);
            }
        }
    }

    void close_export() {
        if (const Key exported = std::exchange(key, {}); exported[0] != '\0') {
            close_key(own.device(), exported);
        }
    }

    Buffer own;
    const uint32_t rank;
    std::vector<Place> places;
    Key key{};
    std::atomic<const char*> withdrawn{nullptr}; // why the places of others are no more
};

SharedBuffer::SharedBuffer(Bootstrap& bootstrap, const Peers& peers, const std::function<Buffer()>& provide) {
    const std::vector<std::string> offers = exchange(bootstrap, [&] {
        state_ = std::make_shared<State>(provide(), peers);
        return state_->offer();
    });
    exchange(bootstrap, [&]() -> std::string {
        for (uint32_t rank = 0; rank < peers.size(); ++rank) {
            state_->import(rank, offers[rank], peers.is_here(rank));
        }
        return {};
    });
}

Buffer SharedBuffer::of(uint32_t rank) const {
    const Place& place = state_->places.at(rank);
    const auto* withdrawn = rank != state_->rank ? &state_->withdrawn : nullptr;
    return Buffer::borrow(state_->own.device(), place.address, place.bytes, state_, withdrawn);
}

void SharedBuffer::withdraw(const char* reason) const {
    state_->withdrawn.store(reason, std::memory_order_release);
}

void SharedBuffer::end(Bootstrap& bootstrap) const {
    // In this order for CANN: every import of some memory is closed before its export.
    exchange(bootstrap, [this]() -> std::string {
        state_->close_imports();
        return {};
    });
    state_->close_export();
}

} // namespace aivops
