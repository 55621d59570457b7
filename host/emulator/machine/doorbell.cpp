#include "doorbell.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr uint32_t kYields = 100;
constexpr uint32_t kFirstSleepUs = 50;
constexpr uint32_t kLongestSleepUs = 1000;

} // namespace

void Doorbell::sleep(uint32_t epoch, uint32_t microseconds) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    timespec timeout{static_cast<time_t>(microseconds / 1000000), static_cast<long>(microseconds % 1000000) * 1000};
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&epoch_), FUTEX_WAIT, epoch, &timeout, nullptr, 0);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void Doorbell::wake() {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&epoch_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Doorbell& doorbell() {
    static Doorbell instance;
    return instance;
}

bool Backoff::wait(uint32_t epoch) {
    if (rounds_ < kYields) {
        ++rounds_;
        sched_yield();
        return false;
    }
    uint32_t doublings = std::min(rounds_ - kYields, 5u);
    ++rounds_;
    doorbell().sleep(epoch, std::min(kFirstSleepUs << doublings, kLongestSleepUs));
    return true;
}

} // namespace aivops::machine
