#include "window.h"

#include <aivops/window_layout.h>

namespace aivops {
namespace {

uint64_t bytes_of_lane(uint64_t bytes, uint32_t lanes, uint32_t ranks) {
    const uint64_t lane_bytes = bytes / kStages / lanes / kGrainBytes * kGrainBytes;
    // Operators that stage a part for every rank need one grain for each.
    const uint64_t least = uint64_t(ranks) * kGrainBytes;
    if (lane_bytes < least) {
        throw InvalidValueError("window_bytes is " + std::to_string(bytes) + ", expected at least " +
                                std::to_string(least * kStages * lanes) + " for " + std::to_string(ranks) +
                                " ranks with " + std::to_string(lanes) + " vector cores each");
    }
    return lane_bytes;
}

} // namespace

Window::Window(const Device& device, uint64_t bytes, uint32_t lanes, uint32_t ranks)
    : lanes_(lanes), lane_bytes_(bytes_of_lane(bytes, lanes, ranks)),
      memory_(device, kDataOffset + kStages * lanes * lane_bytes_) {
    reset();
}

void Window::introduce(uint32_t rank, std::span<const uint64_t> windows) const {
    std::vector<uint64_t> header(kHeaderWindows + kMaxRanks);
    header[kHeaderRank] = rank;
    header[kHeaderSize] = windows.size();
    header[kHeaderLaneBytes] = lane_bytes_;
    header[kHeaderStageBytes] = lanes_ * lane_bytes_;
    std::copy(windows.begin(), windows.end(), header.begin() + kHeaderWindows);
    const size_t bytes = header.size() * sizeof(uint64_t);
    memory_.slice(0, bytes).copy_from_host(header.data(), bytes);
}

void Window::reset() const {
    memory_.slice(kLanesOffset, kControlEnd - kLanesOffset).fill(0);
}

void Window::raise_abort() const {
    const uint32_t raised = 1;
    memory_.slice(kAbortOffset, sizeof(raised)).copy_from_host(&raised, sizeof(raised));
}

bool Window::is_aborted() const {
    uint32_t word = 0;
    memory_.slice(kAbortOffset, sizeof(word)).copy_to_host(&word, sizeof(word));
    return word != 0;
}

std::vector<std::byte> Window::read_control() const {
    std::vector<std::byte> control(kControlEnd);
    memory_.slice(0, control.size()).copy_to_host(control.data(), control.size());
    return control;
}

} // namespace aivops
