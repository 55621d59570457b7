#include "mail.h"

#include "error.h"

#include <algorithm>
#include <cstring>

namespace aivops::hccl {
namespace {

struct MessageHeader {
    uint32_t kind;
    uint32_t bytes;
};

constexpr uint32_t kMostBytes = 1 << 20;

} // namespace

Mail::Mail(std::shared_ptr<Board> board, uint32_t rank)
    : board_(std::move(board)), rank_(rank), peers_(board_->size()) {
}

void Mail::send(uint32_t to, MessageKind kind, const MessageBytes& content) {
    MessageHeader header{static_cast<uint32_t>(kind), static_cast<uint32_t>(content.size())};
    std::deque<std::byte>& outgoing = peers_[to].outgoing;
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    outgoing.insert(outgoing.end(), bytes, bytes + sizeof header);
    outgoing.insert(outgoing.end(), content.begin(), content.end());
}

std::optional<MessageBytes> Mail::take(uint32_t from, MessageKind kind) {
    std::deque<Arrived>& arrived = peers_[from].arrived;
    auto found = std::find_if(arrived.begin(), arrived.end(), [&](const Arrived& one) { return one.kind == kind; });
    if (found == arrived.end()) {
        return std::nullopt;
    }
    MessageBytes content = std::move(found->content);
    arrived.erase(found);
    return content;
}

void Mail::receive(uint32_t from) {
    Ring ring = board_->ring(Board::Queue::kMessages, from, rank_);
    MessageBytes& incoming = peers_[from].incoming;
    while (true) {
        uint64_t needed = sizeof(MessageHeader);
        MessageHeader header{};
        if (incoming.size() >= needed) {
            std::memcpy(&header, incoming.data(), sizeof header);
            require(header.bytes <= kMostBytes, HCCL_E_INTERNAL,
                    "rank " + std::to_string(from) + " sent a message that cannot be one");
            needed += header.bytes;
        }
        if (incoming.size() == needed) {
            peers_[from].arrived.push_back(
                {static_cast<MessageKind>(header.kind), {incoming.begin() + sizeof header, incoming.end()}});
            incoming.clear();
            continue;
        }
        const uint64_t had = incoming.size();
        incoming.resize(needed);
        const uint64_t got = ring.get(incoming.data() + had, needed - had);
        incoming.resize(had + got);
        if (got == 0) {
            return;
        }
        board_->ring_bell();
    }
}

bool Mail::move() {
    bool all_sent = true;
    for (uint32_t peer = 0; peer < peers_.size(); ++peer) {
        if (peer == rank_) {
            continue;
        }
        receive(peer);
        std::deque<std::byte>& outgoing = peers_[peer].outgoing;
        if (!outgoing.empty()) {
            Ring ring = board_->ring(Board::Queue::kMessages, rank_, peer);
            MessageBytes chunk(outgoing.begin(), outgoing.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(
                                                                        outgoing.size(), ring.capacity())));
            const uint64_t put = ring.put(chunk.data(), chunk.size());
            outgoing.erase(outgoing.begin(), outgoing.begin() + static_cast<ptrdiff_t>(put));
            if (put != 0) {
                board_->ring_bell();
            }
            all_sent &= outgoing.empty();
        }
    }
    return all_sent;
}

} // namespace aivops::hccl
