#include "memory.h"

#include "aivops/kernel_binary/counted.h"
#include "doorbell.h"
#include "race_check.h"
#include "settings.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kReturnToSystem = 1 << 20; // freed memory from this size on goes back to the system at once
constexpr size_t kRememberedFrees = 1024;
constexpr int kPoison = 0xcb;

uint64_t page_bytes() {
    static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

uint64_t round_up(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

void* pointer(Address address) {
    return reinterpret_cast<void*>(address);
}

[[noreturn]] void cannot_start(const char* what) {
    std::fprintf(stderr, "aivops emulator: %s: %s; set AIVOPS_EMU_DEVICES or AIVOPS_EMU_MEMORY lower\n", what,
                 std::strerror(errno));
    std::abort();
}

std::string hex(Address address) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

} // namespace

Arena::Arena(Range slot, uint64_t capacity) : slot_(slot), capacity_(capacity) {
    // Sealed, so that those who import it need not fear that it shrinks under their hands.
    descriptor_ = memfd_create("aivops-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(slot.size())) != 0 ||
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        cannot_start("the shared memory of a device cannot be made");
    }
    if (mmap(pointer(slot.begin), slot.size(), PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor_, 0) ==
        MAP_FAILED) {
        cannot_start("the memory of a device cannot be mapped");
    }
    free_pages_[slot.begin] = slot.size();
}

std::optional<Range> Arena::take_pages(uint64_t bytes) {
    for (auto free = free_pages_.begin(); free != free_pages_.end(); ++free) {
        if (free->second < bytes) {
            continue;
        }
        Range taken{free->first, free->first + bytes};
        uint64_t rest = free->second - bytes;
        free_pages_.erase(free);
        if (rest != 0) {
            free_pages_[taken.end] = rest;
        }
        return taken;
    }
    return std::nullopt;
}

void* Arena::allocate(uint64_t bytes, uint64_t asked) {
    const uint64_t page = page_bytes();
    if (bytes > capacity_) {
        return nullptr;
    }
    const uint64_t backed = round_up(bytes, page);
    std::unique_lock lock(mutex_);
    if (backed > capacity_ - used_.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    std::optional<Range> pages = take_pages(backed + page);
    if (!pages) {
        return nullptr;
    }
    Range usable{pages->begin, pages->begin + backed};
    off_t offset = static_cast<off_t>(usable.begin - slot_.begin);
    if (fallocate(descriptor_, 0, offset, static_cast<off_t>(backed)) != 0 ||
        mprotect(pointer(usable.begin), backed, PROT_READ | PROT_WRITE) != 0) {
        free_pages_[pages->begin] = pages->size();
        return nullptr;
    }
    // The end meets the guard page, so the first byte too many is caught; the start keeps the promised alignment.
    Address begin = usable.end - round_up(bytes, kAlignment);
    std::memset(pointer(usable.begin), kPoison, backed);
    allocations_[begin] = {{begin, begin + bytes}, asked, usable};
    uint64_t used = used_.fetch_add(backed, std::memory_order_relaxed) + backed;
    peak_.store(std::max(peak_.load(std::memory_order_relaxed), used), std::memory_order_relaxed);
    lock.unlock();
    // Without the lock: the detector has its own, and asks for allocations under it when it reports.
    if (settings().late) {
        forget_accesses(usable);
    }
    return pointer(begin);
}

void Arena::give_back(Allocations::iterator found) {
    Allocation allocation = found->second;
    allocations_.erase(found);
    const Range& pages = allocation.pages;
    mprotect(pointer(pages.begin), pages.size(), PROT_NONE);
    if (pages.size() >= kReturnToSystem) {
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(pages.begin - slot_.begin), static_cast<off_t>(pages.size()));
    }
    used_.fetch_sub(pages.size(), std::memory_order_relaxed);
    freed_.push_back(allocation.range);
    if (freed_.size() > kRememberedFrees) {
        freed_.pop_front();
    }
    Address begin = pages.begin;
    uint64_t length = pages.size() + page_bytes();
    auto next = free_pages_.lower_bound(begin);
    if (next != free_pages_.end() && next->first == begin + length) {
        length += next->second;
        next = free_pages_.erase(next);
    }
    if (next != free_pages_.begin()) {
        auto previous = std::prev(next);
        if (previous->first + previous->second == begin) {
            previous->second += length;
            return;
        }
    }
    free_pages_[begin] = length;
}

bool Arena::release(void* user) {
    std::unique_lock lock(mutex_);
    auto found = allocations_.find(reinterpret_cast<Address>(user));
    if (found == allocations_.end()) {
        return false;
    }
    give_back(found);
    lock.unlock();
    memory_space().invalidate();
    return true;
}

void Arena::release_all() {
    std::unique_lock lock(mutex_);
    while (!allocations_.empty()) {
        give_back(allocations_.begin());
    }
    lock.unlock();
    memory_space().invalidate();
}

std::optional<Range> Arena::find(Address address) const {
    std::shared_lock lock(mutex_);
    auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin()) {
        return std::nullopt;
    }
    const Range& range = std::prev(next)->second.range;
    return address < range.end ? std::optional(range) : std::nullopt;
}

Range Arena::without_padding(Address address) const {
    std::shared_lock lock(mutex_);
    auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin() || address >= std::prev(next)->second.range.end) {
        return {};
    }
    const Allocation& allocation = std::prev(next)->second;
    return {allocation.range.begin, allocation.range.begin + allocation.asked};
}

std::string Arena::describe(Address address) const {
    std::shared_lock lock(mutex_);
    for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
        if (freed->contains(address, 1)) {
            return "in freed memory [" + hex(freed->begin) + ", " + hex(freed->end) + ")";
        }
    }
    auto next = allocations_.upper_bound(address);
    if (next != allocations_.begin()) {
        const Range& range = std::prev(next)->second.range;
        return kernel_binary::counted(address - range.end, "byte") + " behind the end of the allocation [" +
               hex(range.begin) + ", " + hex(range.end) + ")";
    }
    return "in no allocation";
}

MemorySpace::MemorySpace(uint32_t devices, uint64_t capacity) : devices_(devices) {
    // Guard pages and fragmentation cost address space, not memory, so a slot is far larger than what it may hold.
    slot_bytes_ = std::bit_ceil(std::max<uint64_t>(capacity * 4, 1ull << 32));
    void* base = mmap(nullptr, slot_bytes_ * devices, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        cannot_start("no address range for the memory of the devices");
    }
    all_ = {reinterpret_cast<Address>(base), reinterpret_cast<Address>(base) + slot_bytes_ * devices};
    arenas_ = new Arena*[devices];
    for (uint32_t device = 0; device < devices; ++device) {
        Address begin = all_.begin + slot_bytes_ * device;
        arenas_[device] = new Arena({begin, begin + slot_bytes_}, capacity);
    }
}

std::optional<uint32_t> MemorySpace::owner(Address address) const {
    if (all_.contains(address, 1)) {
        return static_cast<uint32_t>((address - all_.begin) / slot_bytes_);
    }
    std::shared_lock lock(imports_mutex_);
    auto next = imports_.upper_bound(address);
    if (next != imports_.begin() && std::prev(next)->second.range.contains(address, 1)) {
        return std::prev(next)->second.owner;
    }
    return std::nullopt;
}

std::optional<Range> MemorySpace::find(Address address) const {
    if (all_.contains(address, 1)) {
        return arenas_[(address - all_.begin) / slot_bytes_]->find(address);
    }
    std::shared_lock lock(imports_mutex_);
    auto next = imports_.upper_bound(address);
    if (next != imports_.begin() && std::prev(next)->second.range.contains(address, 1)) {
        return std::prev(next)->second.range;
    }
    return std::nullopt;
}

std::shared_ptr<Doorbell> MemorySpace::doorbell_of(Address address) const {
    if (all_.contains(address, 1)) {
        return nullptr;
    }
    std::shared_lock lock(imports_mutex_);
    auto next = imports_.upper_bound(address);
    if (next != imports_.begin() && std::prev(next)->second.range.contains(address, 1)) {
        return std::prev(next)->second.doorbell;
    }
    return nullptr;
}

void MemorySpace::ring(Address address) const {
    ring_for_memory_of(doorbell_of(address));
}

void MemorySpace::add_import(const Import& import) {
    std::unique_lock lock(imports_mutex_);
    imports_[import.range.begin] = import;
    import_count_.store(imports_.size(), std::memory_order_relaxed);
}

bool MemorySpace::remove_import(Address begin) {
    std::unique_lock lock(imports_mutex_);
    bool removed = imports_.erase(begin) != 0;
    import_count_.store(imports_.size(), std::memory_order_relaxed);
    lock.unlock();
    invalidate();
    return removed;
}

MemorySpace& memory_space() {
    // Never destroyed: device memory may be named until the very end of the process.
    static MemorySpace& instance = *new MemorySpace(settings().devices, settings().memory_bytes);
    return instance;
}

} // namespace aivops::machine
