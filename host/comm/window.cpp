#include "window.h"

#include "aivops/kernel_binary/counted.h"

#include <aivops/window_layout.h>

#include <array>

namespace aivops {
namespace {

uint64_t bytes_of_lane(uint64_t bytes, uint32_t lanes, uint32_t ranks) {
    const uint64_t lane_bytes = bytes / kStages / lanes / kGrainBytes * kGrainBytes;
    // Operators that stage a part for every rank need one grain for each.
    const uint64_t least = uint64_t(ranks) * kGrainBytes;
    if (lane_bytes < least) {
        throw InvalidValueError("Communicator: window_bytes is " + std::to_string(bytes) + ", expected at least " +
                                std::to_string(least * kStages * lanes) + " for " +
                                kernel_binary::counted(ranks, "rank") + " with " +
                                kernel_binary::counted(lanes, "vector core") + " each");
    }
    return lane_bytes;
}

void clear(const Buffer& window) {
    window.slice(kLanesOffset, kControlEnd - kLanesOffset).fill(0);
}

} // namespace

Window::Window(Bootstrap& bootstrap, const Peers& peers, const Device& device, uint64_t bytes, uint32_t lanes)
    : shared_(bootstrap, peers,
              [&] {
                  const Buffer memory(device,
                                      kDataOffset + kStages * lanes * bytes_of_lane(bytes, lanes, peers.size()));
                  clear(memory); // before any peer can write to it
                  return memory;
              }),
      memory_(shared_.of(peers.rank())), abort_word_(memory_.slice(kAbortOffset, sizeof(uint32_t))) {
    const uint64_t lane_bytes = bytes_of_lane(bytes, lanes, peers.size());
    std::vector<uint64_t> header(kHeaderWindows + kMaxRanks);
    header[kHeaderRank] = peers.rank();
    header[kHeaderSize] = peers.size();
    header[kHeaderLaneBytes] = lane_bytes;
    header[kHeaderStageBytes] = lanes * lane_bytes;
    for (uint32_t rank = 0; rank < peers.size(); ++rank) {
        header[kHeaderWindows + rank] = reinterpret_cast<uint64_t>(shared_.of(rank).pointer());
    }
    const size_t header_bytes = header.size() * sizeof(uint64_t);
    memory_.slice(0, header_bytes).copy_from_host(header.data(), header_bytes);
}

void Window::reset() const {
    clear(memory_);
}

void Window::raise_abort() const {
    const uint32_t raised = 1;
    abort_word_.copy_from_host(&raised, sizeof(raised));
}

bool Window::is_aborted() const {
    uint32_t word = 0;
    abort_word_.copy_to_host(&word, sizeof(word));
    return word != 0;
}

void Window::write_reason(uint32_t rank, const std::string& reason) const {
    std::array<char, kReasonBytes> text{};
    reason.copy(text.data(), text.size() - 1);
    memory_.slice(kReasonsOffset + rank * kReasonBytes, kReasonBytes).copy_from_host(text.data(), text.size());
}

std::vector<std::byte> Window::read_control() const {
    std::vector<std::byte> control(kControlEnd);
    memory_.slice(0, control.size()).copy_to_host(control.data(), control.size());
    return control;
}

std::vector<std::byte> Window::read_records(uint32_t rank) const {
    std::vector<std::byte> records(kReportsOffset);
    shared_.of(rank).slice(0, records.size()).copy_to_host(records.data(), records.size());
    return records;
}

} // namespace aivops
