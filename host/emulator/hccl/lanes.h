// Who may use the data queues of a communicator: each direction to each peer serves transfers in the order in which the
// program asked for them, whatever streams they are on.
#ifndef AIVOPS_EMULATOR_HCCL_LANES_H
#define AIVOPS_EMULATOR_HCCL_LANES_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace aivops::hccl {

enum class Direction : uint32_t { kOut, kIn };

class Lanes {
  public:
    explicit Lanes(uint32_t ranks) : queues_(2 * static_cast<size_t>(ranks)) {}

    /// A place in the queue of one direction to one peer, given up when it goes.
    class Place {
      public:
        Place(Lanes& lanes, uint32_t peer, Direction direction)
            : lanes_(&lanes), queue_(2 * static_cast<size_t>(peer) + static_cast<uint32_t>(direction)),
              number_(lanes.join(queue_)) {}
        ~Place() { leave(); }
        Place(Place&& other) noexcept
            : lanes_(std::exchange(other.lanes_, nullptr)), queue_(other.queue_), number_(other.number_) {}
        Place& operator=(Place&&) = delete;

        bool is_first() const { return lanes_ != nullptr && lanes_->is_first(queue_, number_); }
        void leave() {
            if (lanes_ != nullptr) {
                lanes_->leave(queue_, number_);
                lanes_ = nullptr;
            }
        }

      private:
        Lanes* lanes_;
        size_t queue_;
        uint64_t number_;
    };

    bool idle() {
        std::lock_guard lock(mutex_);
        return std::all_of(queues_.begin(), queues_.end(), [](const auto& queue) { return queue.empty(); });
    }

  private:
    uint64_t join(size_t queue) {
        std::lock_guard lock(mutex_);
        queues_[queue].push_back(++last_);
        return last_;
    }
    bool is_first(size_t queue, uint64_t number) {
        std::lock_guard lock(mutex_);
        return queues_[queue].front() == number;
    }
    void leave(size_t queue, uint64_t number) {
        std::lock_guard lock(mutex_);
        std::erase(queues_[queue], number);
    }

    std::mutex mutex_;
    std::vector<std::deque<uint64_t>> queues_;
    uint64_t last_ = 0;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_LANES_H
