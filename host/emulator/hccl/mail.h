// Messages between the ranks of a communicator: what they tell each other when they build channels or split.
// Of any size, in order between two ranks; the receiver picks them by kind.
#ifndef AIVOPS_EMULATOR_HCCL_MAIL_H
#define AIVOPS_EMULATOR_HCCL_MAIL_H

#include "board.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace aivops::hccl {

enum class MessageKind : uint32_t { kChannel = 1, kSplit = 2 };

using MessageBytes = std::vector<std::byte>;

class Mail {
  public:
    Mail(std::shared_ptr<Board> board, uint32_t rank);

    /// Queues a message; `move` carries it away.
    void send(uint32_t to, MessageKind kind, const MessageBytes& content);

    /// The oldest message of this kind that has arrived as a whole.
    std::optional<MessageBytes> take(uint32_t from, MessageKind kind);

    /// Moves what can be moved. True when everything sent so far is on its way.
    bool move();

  private:
    struct Arrived {
        MessageKind kind;
        MessageBytes content;
    };
    struct Peer {
        std::deque<std::byte> outgoing;
        MessageBytes incoming; // of a message that is not whole yet, its header included
        std::deque<Arrived> arrived;
    };

    void receive(uint32_t from);

    std::shared_ptr<Board> board_;
    uint32_t rank_;
    std::vector<Peer> peers_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_MAIL_H
