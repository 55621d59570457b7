// Device memory: one anonymous shared arena per device, all in one reserved range so that an address tells its owner.
// Every allocation ends at a page that nothing may touch, and freed memory becomes untouchable.
#ifndef AIVOPS_MACHINE_MEMORY_H
#define AIVOPS_MACHINE_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

namespace aivops::machine {

class Doorbell;

using Address = uint64_t;

/// Bytes from `begin` up to, and without, `end`.
struct Range {
    Address begin = 0;
    Address end = 0;

    uint64_t size() const { return end - begin; }
    bool contains(Address address, uint64_t bytes) const {
        return address >= begin && address <= end && bytes <= end - address;
    }
};

/// The memory of one device.
class Arena {
  public:
    Arena(Range slot, uint64_t capacity);

    /// 64-byte aligned, poisoned memory; nullptr when the device has not that much left. `asked` of the bytes are what
    /// the program asked for, the rest is padding.
    void* allocate(uint64_t bytes, uint64_t asked);
    void* allocate(uint64_t bytes) { return allocate(bytes, bytes); }

    /// False when `pointer` is not the start of an allocation.
    bool release(void* pointer);

    /// Releases everything, as a device reset does.
    void release_all();

    std::optional<Range> find(Address address) const;

    /// The allocation around an address, without its padding; empty when there is none.
    Range without_padding(Address address) const;

    /// For reports: what is known of an address that no allocation covers.
    std::string describe(Address address) const;

    uint64_t capacity() const { return capacity_; }
    uint64_t used() const { return used_.load(std::memory_order_relaxed); }
    uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
    int descriptor() const { return descriptor_; }
    Address base() const { return slot_.begin; }

  private:
    struct Allocation {
        Range range;    // what the user has
        uint64_t asked; // bytes of it that are no padding
        Range pages;    // what backs it, without the guard page
    };
    using Allocations = std::map<Address, Allocation>;

    std::optional<Range> take_pages(uint64_t bytes);
    void give_back(Allocations::iterator allocation);

    Range slot_;
    uint64_t capacity_;
    int descriptor_;
    std::atomic<uint64_t> used_{0};
    std::atomic<uint64_t> peak_{0};
    mutable std::shared_mutex mutex_;
    Allocations allocations_;                // by the first byte the user has
    std::map<Address, uint64_t> free_pages_; // start to length
    std::deque<Range> freed_;                // the latest ones, for reports
};

/// Memory of another process's device, mapped here.
struct Import {
    Range range;
    uint32_t owner;
    std::shared_ptr<Doorbell> doorbell; // of that process
};

/// All device memory that this process can reach.
class MemorySpace {
  public:
    explicit MemorySpace(uint32_t devices, uint64_t capacity);

    Arena& arena(uint32_t device) const { return *arenas_[device]; }

    /// The device that owns an address; nothing for host memory.
    std::optional<uint32_t> owner(Address address) const;

    /// The allocation (or import) around an address.
    std::optional<Range> find(Address address) const;

    /// Of the other process whose memory is imported there; null for this process's own.
    std::shared_ptr<Doorbell> doorbell_of(Address address) const;

    /// Tells those who wait for changes there that something was written at `address`.
    void ring(Address address) const;

    bool has_imports() const { return import_count_.load(std::memory_order_relaxed) != 0; }
    void add_import(const Import& import);
    bool remove_import(Address begin);

    /// Grows whenever a range goes away, so that callers may keep what `find` said until then.
    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    void invalidate() { generation_.fetch_add(1, std::memory_order_acq_rel); }

  private:
    Range all_;
    uint64_t slot_bytes_;
    uint32_t devices_;
    Arena** arenas_;
    std::atomic<uint32_t> generation_{1};
    mutable std::shared_mutex imports_mutex_;
    std::map<Address, Import> imports_;
    std::atomic<size_t> import_count_{0};
};

MemorySpace& memory_space();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_MEMORY_H
