#include "doorbell.h"

#include "ipc_offers.h"
#include "machine.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

// Both: more turns only take time from those that are waited for, where ranks outnumber cores; and where they do not,
// turns are short, and who sleeps is late for what comes next, so that the others sleep then.
constexpr uint32_t kYields = 20;
constexpr int64_t kYieldNs = 100 * 1000;
constexpr uint32_t kFirstSleepUs = 50;
constexpr uint32_t kLongestSleepUs = 1000;
constexpr size_t kBytes = 4096; // of the file; the words come first

} // namespace

// Sealed, so that those who map it need not fear that it shrinks under their hands.
Doorbell::Doorbell() : descriptor_(memfd_create("aivops-doorbell", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    void* memory = MAP_FAILED;
    if (descriptor_ >= 0 && ftruncate(descriptor_, kBytes) == 0 &&
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
        memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    }
    if (memory == MAP_FAILED) {
        std::fprintf(stderr, "aivops emulator: no shared memory for a doorbell: %s\n", std::strerror(errno));
        std::abort();
    }
    words_ = static_cast<Words*>(memory);
}

Doorbell::Doorbell(int descriptor) {
    struct stat file{};
    const int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &file) != 0 ||
        file.st_size < static_cast<off_t>(kBytes)) {
        throw IpcError("what came as another process's doorbell is none");
    }
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) {
        throw IpcError(std::string("another process's doorbell cannot be mapped: ") + std::strerror(errno));
    }
    words_ = static_cast<Words*>(memory);
}

Doorbell::~Doorbell() {
    munmap(words_, kBytes);
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

void Doorbell::sleep(uint32_t epoch, uint32_t microseconds) {
    words_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    timespec timeout{static_cast<time_t>(microseconds / 1000000), static_cast<long>(microseconds % 1000000) * 1000};
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&words_->epoch), FUTEX_WAIT, epoch, &timeout, nullptr, 0);
    words_->sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void Doorbell::wake() {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&words_->epoch), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Doorbell& doorbell() {
    // Never destroyed: workers may still run while the process ends.
    static Doorbell& instance = *new Doorbell;
    return instance;
}

void ring_for_memory_of(const std::shared_ptr<Doorbell>& other) {
    doorbell().ring();
    if (other) {
        other->ring();
    }
}

bool Backoff::still_yields() {
    if (rounds_ == 0) {
        began_ns_ = now_ns();
    }
    return rounds_ < kYields || (rounds_ == kYields && now_ns() - began_ns_ < kYieldNs);
}

bool Backoff::wait(uint32_t epoch) {
    if (still_yields()) {
        rounds_ = std::min(rounds_ + 1, kYields);
        sched_yield();
        return false;
    }
    const uint32_t doublings = std::min(rounds_ - kYields, 5u);
    ++rounds_;
    doorbell().sleep(epoch, std::min(kFirstSleepUs << doublings, kLongestSleepUs));
    return true;
}

} // namespace aivops::machine
