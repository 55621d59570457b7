// The word that every change someone may wait for rings: a GM write, a finished task, a recorded event.
// Waiters read it, look at what they wait for, and sleep only while it has not been rung since.
#ifndef AIVOPS_MACHINE_DOORBELL_H
#define AIVOPS_MACHINE_DOORBELL_H

#include <atomic>
#include <cstdint>

namespace aivops::machine {

class Doorbell {
  public:
    uint32_t read() const { return epoch_.load(std::memory_order_acquire); }

    void ring() {
        epoch_.fetch_add(1, std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_seq_cst) != 0) {
            wake();
        }
    }

    /// Sleeps until the bell is rung, `microseconds` have passed, or at once when it was rung since `epoch` was read.
    void sleep(uint32_t epoch, uint32_t microseconds);

  private:
    void wake();

    std::atomic<uint32_t> epoch_{0};
    std::atomic<uint32_t> sleepers_{0};
};

/// The doorbell of this process.
Doorbell& doorbell();

/// Yields a while, then sleeps on the doorbell, and never spins. One per waiting loop.
class Backoff {
  public:
    void reset() { rounds_ = 0; }

    /// True when it slept, so that what the doorbell cannot tell (time, say) deserves another look.
    bool wait(uint32_t epoch);

  private:
    uint32_t rounds_ = 0;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_DOORBELL_H
