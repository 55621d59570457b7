// What is known to be done, by actor: what strict mode passes on wherever the program orders something. Most of it is
// shared and joined with itself, so it is never changed, and joins keep what they were given where they can.
#ifndef AIVOPS_MACHINE_KNOWLEDGE_H
#define AIVOPS_MACHINE_KNOWLEDGE_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace aivops::machine {

/// What the units of each vector core do: actors, which count it.
constexpr uint32_t kActorsPerCore = 5;

/// The latest epoch of each actor that is known to be done; nullptr knows nothing.
using Knowledge = std::shared_ptr<const std::vector<uint32_t>>;

/// Of no actor anything.
Knowledge nothing_known();
Knowledge join(const Knowledge& left, const Knowledge& right);

/// Joins what many tell, in one copy.
class Gathering {
  public:
    void add(const Knowledge& knowledge);
    /// Of neighbouring actors.
    void add(uint32_t first_actor, std::span<const uint32_t> epochs);
    /// All that has been added so far.
    Knowledge all();

  private:
    std::vector<uint32_t>& growing();

    Knowledge all_;                                  // but for
    std::shared_ptr<std::vector<uint32_t>> growing_; // which has more, when there is one
    Knowledge latest_;                               // of what was added: others often add the same
};

/// What is known to be done at a point that others wait for: the end of a stream, an event, a return to the host.
class Ordering {
  public:
    Knowledge known() const {
        std::lock_guard lock(mutex_);
        return known_;
    }
    void learn(const Knowledge& knowledge) {
        std::lock_guard lock(mutex_);
        known_ = join(known_, knowledge);
    }

  private:
    mutable std::mutex mutex_;
    Knowledge known_;
};

/// What the program has waited for, and so everything that it submits from then on comes after. One for all threads:
/// how they order one another is not seen.
Ordering& host_ordering();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_KNOWLEDGE_H
