// The word that every change someone may wait for rings: a GM write, a finished task, a recorded event.
// Waiters read it, look at what they wait for, and sleep only while it has not been rung since. It lies in memory that
// others can map, so that a process which writes into another one's device memory rings there.
#ifndef AIVOPS_MACHINE_DOORBELL_H
#define AIVOPS_MACHINE_DOORBELL_H

#include <atomic>
#include <cstdint>
#include <memory>

namespace aivops::machine {

class Doorbell {
  public:
    /// A new one, of this process.
    Doorbell();
    /// That of another process: what `descriptor` stands for, which stays the caller's. Throws IpcError.
    explicit Doorbell(int descriptor);
    ~Doorbell();
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    uint32_t read() const { return words_->epoch.load(std::memory_order_acquire); }

    void ring() {
        words_->epoch.fetch_add(1, std::memory_order_seq_cst);
        if (words_->sleepers.load(std::memory_order_seq_cst) != 0) {
            wake();
        }
    }

    /// Sleeps until the bell is rung, `microseconds` have passed, or at once when it was rung since `epoch` was read.
    void sleep(uint32_t epoch, uint32_t microseconds);

    /// Of a new one: what others need to map it.
    int descriptor() const { return descriptor_; }

  private:
    struct Words {
        std::atomic<uint32_t> epoch;
        std::atomic<uint32_t> sleepers;
    };

    void wake();

    int descriptor_ = -1;
    Words* words_;
};

/// The doorbell of this process.
Doorbell& doorbell();
/// Memory has changed: for the threads of this process, which may wait for any, and of the process whose memory it is
/// and whose doorbell that is, if it is another one.
void ring_for_memory_of(const std::shared_ptr<Doorbell>& other);

/// Yields a while, then sleeps on the doorbell, and never spins. One per waiting loop.
class Backoff {
  public:
    void reset() { rounds_ = 0; }

    /// True when it slept, so that what the doorbell cannot tell (time, say) deserves another look.
    bool wait(uint32_t epoch);

  private:
    bool still_yields();

    uint32_t rounds_ = 0;
    int64_t began_ns_ = 0;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_DOORBELL_H
