#include "local_group.h"

#include <aivops/window_layout.h>

#include <algorithm>

namespace aivops {
namespace {

uint32_t lanes_of(const std::vector<Device>& devices) {
    uint32_t lanes = kMaxLanes;
    for (const Device& device : devices) {
        lanes = std::min(lanes, Stream(device).vector_cores());
    }
    return lanes;
}

} // namespace

LocalGroup::LocalGroup(const std::vector<Device>& devices, uint64_t window_bytes, uint32_t blocks,
                       const Timeout& timeout, const KernelSet& kernels) {
    state_.size = static_cast<uint32_t>(devices.size());
    if (devices.empty() || devices.size() > kMaxRanks) {
        throw InvalidValueError("LocalGroup: " + std::to_string(devices.size()) + " ranks, expected 1 to " +
                                std::to_string(kMaxRanks));
    }
    state_.lanes = lanes_of(devices);
    if (blocks > state_.lanes) {
        throw InvalidValueError("LocalGroup: " + std::to_string(blocks) + " blocks, but a device has " +
                                std::to_string(state_.lanes) + " vector cores for them to run at the same time");
    }
    state_.blocks = blocks;
    devices.front().effective_timeout(timeout); // refuses what the device cannot count
    state_.timeout = timeout;
    state_.kernels = &kernels;
    enable_peer_access(devices);
    std::vector<uint64_t> windows;
    for (uint32_t rank = 0; rank < state_.size; ++rank) {
        communicators_.push_back(std::make_unique<Communicator>(devices[rank], rank, window_bytes, state_));
        windows.push_back(communicators_.back()->window().address());
    }
    for (const auto& communicator : communicators_) {
        communicator->window().introduce(communicator->rank(), windows);
    }
}

void LocalGroup::abort(const std::string& reason) {
    {
        const std::lock_guard<std::mutex> lock(state_.mutex);
        if (state_.failed) {
            return;
        }
        state_.reason = reason;
        state_.failed = true;
    }
    for (const auto& communicator : communicators_) {
        communicator->window().raise_abort();
    }
}

void LocalGroup::recover() {
    for (const auto& communicator : communicators_) {
        communicator->window().reset();
    }
    const std::lock_guard<std::mutex> lock(state_.mutex);
    state_.reason.clear();
    state_.failed = false;
}

void LocalGroup::enable_peer_access(const std::vector<Device>& devices) const {
    for (const Device& device : devices) {
        const ContextGuard guard(device);
        const auto enable =
            device.toolkit().require(device.acl().aclrtDeviceEnablePeerAccess, "aclrtDeviceEnablePeerAccess");
        for (const Device& peer : devices) {
            if (peer != device) {
                check(device.acl(), enable(peer.id(), 0), "aclrtDeviceEnablePeerAccess", [&] {
                    return "LocalGroup: device " + std::to_string(device.id()) + " towards device " +
                           std::to_string(peer.id());
                });
            }
        }
    }
}

} // namespace aivops
