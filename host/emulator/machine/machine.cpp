#include "machine.h"

#include "doorbell.h"
#include "settings.h"

#include <algorithm>
#include <ctime>

namespace aivops::machine {

Machine::Machine() {
    for (uint32_t index = 0; index < settings().devices; ++index) {
        devices_.push_back(std::make_unique<Device>(index));
    }
}

uint64_t Machine::progress() const {
    uint64_t all = 0;
    for (const std::unique_ptr<Device>& device : devices_) {
        all += device->progress().load(std::memory_order_relaxed);
    }
    return all;
}

bool Machine::others_run(uint32_t device) const {
    constexpr int64_t kLookNs = 1000 * 1000; // longer than a look at a flag takes
    return std::any_of(devices_.begin(), devices_.end(), [device](const std::unique_ptr<Device>& other) {
        const Block* block = other->running();
        const uint64_t switches = other->switches();
        bool runs = block != nullptr && other->index() != device;
        for (const int64_t until = now_ns() + kLookNs; runs && now_ns() < until;) {
            runs = other->running() == block && other->switches() == switches;
        }
        return runs;
    });
}

bool Machine::drive(uint32_t first, const std::function<bool()>& done, int64_t timeout_ms) {
    if (done()) {
        return true;
    }
    const int64_t deadline = timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * 1000000;
    Device& own = device(first);
    own.drivers().fetch_add(1);
    Backoff backoff;
    bool met = false;
    while (true) {
        const uint32_t epoch = doorbell().read();
        if (done()) {
            met = true;
            break;
        }
        if (own.has_work() && own.advance()) {
            backoff.reset();
            continue;
        }
        // What it waits for may be on another device that nobody drives: peers of a collective, say.
        bool helped = false;
        for (uint32_t step = 1; step < device_count(); ++step) {
            Device& other = device((first + step) % device_count());
            if (other.has_work()) {
                if (done()) {
                    break;
                }
                helped |= other.advance();
            }
        }
        if (helped) {
            backoff.reset();
            continue;
        }
        if (now_ns() >= deadline) {
            met = done();
            break;
        }
        backoff.wait(epoch);
    }
    own.drivers().fetch_sub(1);
    return met;
}

Machine& machine() {
    // Never destroyed: workers may still run while the process ends.
    static Machine& instance = *new Machine;
    return instance;
}

int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

} // namespace aivops::machine
