#include "failure.h"

#include "types.h"

#include <aivops/window_layout.h>

#include <array>
#include <charconv>
#include <cstring>

namespace aivops {
namespace {

uint32_t word(ControlArea control, uint64_t offset, uint32_t index) {
    uint32_t value;
    std::memcpy(&value, control.data() + offset + index * sizeof(value), sizeof(value));
    return value;
}

uint64_t two_words(ControlArea control, uint64_t offset, uint32_t index) {
    return word(control, offset, index) | uint64_t(word(control, offset, index + 1)) << 32;
}

uint64_t flag_offset(uint32_t lane, uint32_t tag, uint32_t peer) {
    return kFlagsOffset + uint64_t(lane) * kFlagLaneBytes + tag % kStages * kFlagRowBytes + peer * kFlagBytes;
}

Stop stop_at(ControlArea control, Stop::Kind kind, uint32_t lane, uint32_t peer, uint64_t flag, uint32_t tag,
             uint64_t fingerprint) {
    return Stop{kind,        lane,
                peer,        flag,
                tag,         word(control, flag, kWordTag),
                fingerprint, two_words(control, flag, kWordFingerprint)};
}

std::string in_hex(uint64_t value) {
    std::array<char, 16> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

} // namespace

std::optional<Stop> find_other_call(ControlArea control, const Stop& stopped, uint32_t ranks) {
    if (call_of(stopped.own_fingerprint).operation == Operator::kSendRecv) {
        return std::nullopt; // its tags are those of a channel
    }
    for (uint32_t peer = 0; peer < ranks; ++peer) {
        const uint64_t flag = flag_offset(stopped.lane, stopped.expected_tag, peer);
        const Stop stop = stop_at(control, Stop::Kind::kMismatch, stopped.lane, peer, flag, stopped.expected_tag,
                                  stopped.own_fingerprint);
        if (stop.found_tag == stop.expected_tag && stop.found_fingerprint != 0 &&
            stop.found_fingerprint != stop.own_fingerprint) {
            return stop;
        }
    }
    return std::nullopt;
}

std::optional<Stop> find_stop(ControlArea control, uint32_t ranks) {
    std::optional<Stop> aborted;
    for (uint32_t lane = 0; lane < kMaxLanes; ++lane) {
        const uint64_t report = kReportsOffset + uint64_t(lane) * kFlagBytes;
        const uint32_t kind = word(control, report, kReportKind);
        if (kind == 0) {
            continue;
        }
        Stop stop{Stop::Kind::kMismatch,
                  lane,
                  word(control, report, kReportPeer),
                  0,
                  word(control, report, kReportExpectedTag),
                  word(control, report, kReportFoundTag),
                  two_words(control, report, kReportOwnFingerprint),
                  two_words(control, report, kReportFoundFingerprint)};
        if (kind == kKindMismatch) {
            return stop;
        }
        if (kind == kKindUnregistered) {
            stop.kind = Stop::Kind::kUnregistered;
            return stop;
        }
        if (const std::optional<Stop> seen = find_other_call(control, stop, ranks)) {
            return seen;
        }
        if (!aborted) {
            stop.kind = Stop::Kind::kAborted;
            aborted = stop;
        }
    }
    return aborted;
}

std::optional<Stop> find_waiting(ControlArea control, std::span<const uint32_t> peers) {
    for (uint32_t lane = 0; lane < kMaxLanes; ++lane) {
        const uint64_t record = kLanesOffset + uint64_t(lane) * kFlagBytes;
        const uint32_t busy = word(control, record, kWordBusy);
        const uint32_t tag = word(control, record, kWordTag);
        const uint64_t fingerprint = two_words(control, record, kWordFingerprint);
        for (const uint32_t peer : peers) {
            Stop stop{};
            if (busy == kBusyWithAll && word(control, record, kWordPeer) != peer) {
                stop =
                    stop_at(control, Stop::Kind::kWaiting, lane, peer, flag_offset(lane, tag, peer), tag, fingerprint);
            } else if (busy == kBusyWithOne && word(control, record, kWordPeer) == peer) {
                stop = stop_at(control, Stop::Kind::kWaiting, lane, peer, word(control, record, kWordFlag),
                               word(control, record, kWordExpected), fingerprint);
            } else {
                continue;
            }
            if (static_cast<int32_t>(stop.found_tag - stop.expected_tag) < 0 || stop.found_fingerprint == 0) {
                return stop;
            }
        }
    }
    return std::nullopt;
}

std::optional<Stop> find_other_step(ControlArea control, ControlArea of_peer, uint32_t peer) {
    for (uint32_t lane = 0; lane < kMaxLanes; ++lane) {
        const uint64_t record = kLanesOffset + uint64_t(lane) * kFlagBytes;
        const uint64_t own = two_words(control, record, kWordFingerprint);
        const uint64_t other = two_words(of_peer, record, kWordFingerprint);
        if (word(control, record, kWordBusy) == 0 || word(of_peer, record, kWordBusy) == 0 || own == other ||
            word(control, record, kWordTag) != word(of_peer, record, kWordTag)) {
            continue;
        }
        if (call_of(own).operation != Operator::kSendRecv && call_of(other).operation != Operator::kSendRecv) {
            const uint32_t tag = word(control, record, kWordTag);
            return Stop{Stop::Kind::kMismatch, lane, peer, record, tag, tag, own, other};
        }
    }
    return std::nullopt;
}

std::vector<std::string> read_reasons(ControlArea control, uint32_t ranks) {
    std::vector<std::string> reasons;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const char* text = reinterpret_cast<const char*>(control.data() + kReasonsOffset + rank * kReasonBytes);
        reasons.emplace_back(text, strnlen(text, kReasonBytes));
    }
    return reasons;
}

void throw_mismatch(const Stop& stop, int rank) {
    const Call own = call_of(stop.own_fingerprint);
    const Call found = call_of(stop.found_fingerprint);
    throw CallMismatchError(std::string(name_of(own.operation)) + "(): rank " + std::to_string(rank) + " called " +
                                describe(own) + ", rank " + std::to_string(stop.peer) + " called " + describe(found) +
                                "; all ranks must make the same calls in the same order, with equal shapes and types",
                            rank, static_cast<int>(stop.peer));
}

void throw_unregistered(const Stop& stop, int rank) {
    const std::string peer = std::to_string(stop.peer);
    throw InvalidValueError(std::string(name_of(call_of(stop.own_fingerprint).operation)) + "(): rank " +
                            std::to_string(rank) + " was to read an array of rank " + peer +
                            " where it lies, but rank " + peer +
                            " has not registered it; register it there, or choose another algorithm");
}

void throw_peer_timeout(const Stop& stop, int rank, double seconds) {
    throw PeerTimeoutError(
        std::string(name_of(call_of(stop.own_fingerprint).operation)) + "(): rank " + std::to_string(rank) +
            " waited in vain for rank " + std::to_string(stop.peer) + " (" + std::to_string(seconds) + " s): block " +
            std::to_string(stop.lane) + " expected tag " + std::to_string(stop.expected_tag) + " in the flag at " +
            in_hex(stop.flag) + " of its window and found " + std::to_string(stop.found_tag) +
            "; see whether that rank made the same call, and raise timeout= if it may come this late",
        rank, static_cast<int>(stop.peer), static_cast<int>(stop.lane), stop.flag, stop.expected_tag, stop.found_tag);
}

} // namespace aivops
