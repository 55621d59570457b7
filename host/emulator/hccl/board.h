// The memory that all ranks of a communicator share: who they are, how they fare, and queues between each two of them.
// It is anonymous, goes from the root to whoever knows the key, and is gone with the last process that maps it.
#ifndef AIVOPS_EMULATOR_HCCL_BOARD_H
#define AIVOPS_EMULATOR_HCCL_BOARD_H

#include "ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace aivops::machine {
class Ordering;
}

namespace aivops::hccl {

constexpr uint32_t kMostRanks = 256; // of one machine

enum class SlotState : uint32_t { kEmpty, kClaimed, kJoined, kLeft };

/// What a rank says of itself.
struct Member {
    int32_t process;
    uint32_t device;
    uint64_t process_identity; // random; tells processes apart that see different process ids
    uint64_t settings;         // digest of what must be equal everywhere
    char name[128];            // of the communicator, empty when the library chooses
    char soc[32];
};

struct alignas(64) Slot {
    std::atomic<SlotState> state;
    std::atomic<uint32_t> failed; // 1 when `failure` is written
    Member member;
    char failure[512];
};

class Board {
  public:
    /// New memory, offered under key().
    static std::shared_ptr<Board> create();
    /// The memory behind a key; one object per process, however many ranks it has.
    static std::shared_ptr<Board> open(const std::string& key);

    ~Board();
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    const std::string& key() const { return key_; }
    /// A name for the communicator that no other one has.
    std::string generated_name() const;

    /// The first one decides how many ranks there are; throws when `ranks` is another number.
    void agree_on_size(uint32_t ranks);
    uint32_t size() const { return size_; }

    Slot& slot(uint32_t rank) const;
    enum class Queue { kMessages, kData };
    Ring ring(Queue queue, uint32_t from, uint32_t to) const;

    /// Where the operations of this process's ranks meet.
    const std::shared_ptr<machine::Ordering>& meeting() const { return meeting_; }

    /// Lets others see when this process ends.
    void hold_place(uint32_t rank);
    void leave_place(uint32_t rank);

    /// "rank 2 failed: …" when it did.
    std::optional<std::string> failure_of(uint32_t rank) const;
    /// "rank 2 (process 17) has ended" when it has, without destroying its communicator; or its failure.
    std::optional<std::string> breakdown_of(uint32_t rank) const;
    /// Why nothing more will come from `rank`: it failed, its process has ended, or it destroyed its communicator. What
    /// it sent before is there by the time this is known.
    std::optional<std::string> end_of(uint32_t rank) const;

    /// For waits in host calls: read, look, then sleep until someone rings or `milliseconds` have passed.
    uint32_t bell() const;
    void ring_bell();
    void sleep(uint32_t bell, uint32_t milliseconds) const;

    /// Nobody else may come in.
    void close_entrance();

  private:
    struct Header;

    Board(std::string key, int descriptor, bool owner);
    void map(uint64_t bytes);

    std::string key_;
    int descriptor_;
    std::atomic<bool> owner_; // of the offer; the ranks of a process share a board
    std::shared_ptr<machine::Ordering> meeting_;
    std::mutex mutex_;
    Header* header_ = nullptr;
    std::byte* base_ = nullptr;
    uint64_t mapped_ = 0;
    uint32_t size_ = 0;
};

uint64_t process_identity();

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_BOARD_H
