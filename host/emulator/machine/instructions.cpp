// The instructions that kernels call, with the checks that cost little. They act at once, in program order.
#include "block.h"
#include "device.h"
#include "doorbell.h"
#include "element_atomics.h"
#include "kernel_run.h"
#include "machine.h"
#include "race_check.h"
#include "report.h"
#include "settings.h"
#include "trace.h"

#include "acl/error_codes/rt_error_codes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace aivops::machine {
namespace {

constexpr uint32_t kUnit = 32;           // bytes of the unit of UB
constexpr uint32_t kMostBlocks = 4095;   // of one copy instruction
constexpr uint32_t kMostBytes = 2097151; // of one block of it
constexpr uint32_t kCrossCoreIds = 16;

#define AIVOPS_PLACE __builtin_return_address(0)

uint64_t round_up(uint64_t bytes) {
    return (bytes + kUnit - 1) / kUnit * kUnit;
}

bool checking() {
    return settings().check != Check::kOff;
}

std::string bytes_text(uint64_t bytes) {
    return std::to_string(bytes) + " bytes";
}

void check_ub(Block& block, const char* name, uint64_t ub, uint64_t bytes, uint32_t align, const void* place) {
    if (align > 1 && ub % align != 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": UB offset " + std::to_string(ub) + " is not a multiple of " +
                        std::to_string(align),
                    place);
    }
    if (ub + bytes > block.ub_bytes) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": UB overflow: " + bytes_text(bytes) + " at offset " + std::to_string(ub) +
                        " end behind the " + bytes_text(block.ub_bytes) + " that a vector core has",
                    place);
    }
}

void check_read(Block& block, const char* name, uint32_t ub, uint32_t bytes, const void* place) {
    if (int64_t invalid = block.core->valid.first_invalid(ub, bytes); invalid >= 0) {
        raise_warning(block, AIVOPS_EMU_INITCHECK,
                      std::string(name) + ": reads UB at offset " + std::to_string(std::max<int64_t>(invalid, ub)) +
                          ", where nothing was written since the block began or the tensor was freed",
                      place);
    }
}

// The device that owns GM the block is about to touch; a fault when it may not.
uint32_t check_gm(Block& block, const char* name, const char* verb, Address gm, uint64_t bytes, const void* place) {
    MemorySpace& memory = memory_space();
    const uint32_t generation = memory.generation();
    for (const Block::CachedRange& cached : block.ranges) {
        if (cached.generation == generation && cached.range.contains(gm, bytes)) {
            return cached.owner;
        }
    }
    std::optional<uint32_t> owner = memory.owner(gm);
    std::optional<Range> range = owner ? memory.find(gm) : std::nullopt;
    if (!range || !range->contains(gm, bytes)) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": " + verb + " " + bytes_text(bytes) + " of GM at " + describe_address(gm) +
                        (range ? ", beyond its end" : ""),
                    place);
    }
    if (!block.device->can_access(*owner)) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(name) + ": " + verb + " GM at " + describe_address(gm) + ", but device " +
                        std::to_string(block.device->index()) + " has no access to device " + std::to_string(*owner) +
                        "; call aclrtDeviceEnablePeerAccess(" + std::to_string(*owner) + ", 0) with device " +
                        std::to_string(block.device->index()) + " current",
                    place);
    }
    block.ranges[block.next_range] = {*range, *owner, generation};
    block.next_range = (block.next_range + 1) % block.ranges.size();
    return *owner;
}

// Strict mode: what an instruction touches, told to the race detector.
void check_races(Block& block, const std::optional<std::string>& race, const void* place) {
    if (race) {
        raise_fault(block, AIVOPS_EMU_RACECHECK, *race, place);
    }
}

void track_ub(Block& block, Lane lane, const char* name, uint64_t ub, uint64_t bytes, bool write, const void* place) {
    if (block.races != nullptr) {
        check_races(
            block,
            block.races->ub_access(lane, static_cast<uint32_t>(ub), static_cast<uint32_t>(bytes), write, name, place),
            place);
    }
}

void track_gm(Block& block, Lane lane, const char* name, Address gm, uint64_t bytes, bool write, bool flag,
              const void* place) {
    // What other processes do is not seen, so neither is the order that they make.
    if (block.races != nullptr && !memory_space().has_imports()) {
        const bool atomic = write && block.atomic != AIVOPS_EMU_ATOMIC_NONE && lane == Lane::kStore;
        check_races(block, block.races->gm_access(lane, gm, bytes, write, atomic, flag, name, place), place);
    }
}

void track_issue(Block& block, Lane lane) {
    if (block.races != nullptr) {
        block.run->maybe_give_way(block);
        block.races->issue(lane);
    }
}

// A flag that is set to the value it has says nothing.
void check_flag(Block& block, Address gm, const void* value, uint64_t bytes, const void* place) {
    if (block.races == nullptr || block.atomic != AIVOPS_EMU_ATOMIC_NONE) {
        return;
    }
    if (std::optional<std::string> same = check_flag_value(gm, value, bytes)) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK, *same, place);
    }
}

Traffic& traffic(Block& block, uint32_t owner) {
    return block.device->counters().by_owner[owner];
}

void count_read(Block& block, uint32_t owner, uint64_t bytes, bool small) {
    Traffic& counted = traffic(block, owner);
    counted.read_bytes.add(bytes);
    if (small) {
        counted.small_reads.add(1);
        counted.small_read_bytes.add(bytes);
    }
}

void count_write(Block& block, uint32_t owner, uint64_t bytes, bool small) {
    Traffic& counted = traffic(block, owner);
    counted.written_bytes.add(bytes);
    if (small) {
        counted.small_writes.add(1);
        counted.small_written_bytes.add(bytes);
    }
}

// When a traced instruction begins; nobody asks otherwise.
int64_t trace_clock() {
    return tracing() ? now_ns() : 0;
}

// Reads a small piece of GM; when it was just read and has not changed, lets others run first.
void read_small(Block& block, const char* name, uint32_t owner, Address gm, void* to, uint32_t bytes) {
    const int64_t began_ns = trace_clock();
    const void* from = reinterpret_cast<const void*>(gm);
    auto read = [&] {
        block.in_copy.store(true, std::memory_order_relaxed);
        std::memcpy(to, from, bytes);
        block.in_copy.store(false, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
    };
    read();
    Polls::Seen seen = block.polls.observe(gm, bytes, to);
    if (seen == Polls::Seen::kFirst) {
        count_read(block, owner, bytes, true);
        block.run->note_progress(*block.device);
        if (tracing()) {
            trace_copy(block, name, false, owner, bytes, began_ns);
        }
        return;
    }
    traffic(block, owner).polls.add(1);
    traffic(block, owner).poll_bytes.add(bytes);
    if (block.races != nullptr) {
        note_poll(gm);
    }
    if (seen == Polls::Seen::kUnchanged) {
        give_way(block, BlockState::kPolling);
        // The memory may have gone while others ran.
        if (checking()) {
            check_gm(block, "poll", "reads", gm, bytes, nullptr);
        }
        read();
        seen = block.polls.observe(gm, bytes, to);
    }
    if (seen == Polls::Seen::kChanged) {
        block.polls.clear();
        block.run->note_progress(*block.device);
    }
    if (tracing()) {
        trace_poll(block, owner, bytes, began_ns);
    }
}

// Everything that others can see ends a block's polling and may end someone else's.
void after_write(Block& block) {
    block.polls.clear();
    block.run->note_progress(*block.device);
    doorbell().ring();
}

void write_gm(Block& block, Address gm, const uint8_t* from, uint64_t bytes) {
    void* to = reinterpret_cast<void*>(gm);
    block.in_copy.store(true, std::memory_order_relaxed);
    if (block.atomic == AIVOPS_EMU_ATOMIC_NONE) {
        std::atomic_thread_fence(std::memory_order_release);
        std::memcpy(to, from, bytes);
    } else {
        apply_atomic_elements(to, from, bytes, block.atomic, block.atomic_type);
        block.device->counters().atomics.add(1);
    }
    block.in_copy.store(false, std::memory_order_relaxed);
}

uint32_t owner_of(Address gm) {
    return memory_space().owner(gm).value_or(0);
}

// What padding and the rest of a 32-byte unit hold: a value, the block's first element, or nothing in particular.
void fill_pad(Block& block, const AivEmuCopy& copy, uint64_t first, uint64_t ub, uint64_t bytes) {
    if (copy.pad_defined == 0) {
        return;
    }
    const uint8_t* filler =
        copy.pad_defined == 2 ? block.ub + first : reinterpret_cast<const uint8_t*>(&copy.pad_value);
    for (uint64_t byte = 0; byte < bytes; ++byte) {
        block.ub[ub + byte] = filler[byte % copy.element_bytes];
    }
}

void check_copy(Block& block, const AivEmuCopy& copy, const void* place) {
    if (copy.block_count > kMostBlocks || copy.block_bytes > kMostBytes) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(copy.name) + ": " + std::to_string(copy.block_count) + " blocks of " +
                        bytes_text(copy.block_bytes) + "; one instruction takes at most " +
                        std::to_string(kMostBlocks) + " blocks of " + bytes_text(kMostBytes),
                    place);
    }
    if (copy.direction != AIVOPS_EMU_UB_TO_UB && copy.byte_exact == 0 && copy.element_bytes > 1 &&
        copy.gm % copy.element_bytes != 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(copy.name) + ": GM address " + hex(copy.gm) + " is not aligned to its elements of " +
                        bytes_text(copy.element_bytes),
                    place);
    }
}

void copy_within_ub(Block& block, const AivEmuCopy& copy, const void* place) {
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        uint64_t source = copy.ub + row * (uint64_t{copy.block_bytes} + copy.ub_gap);
        uint64_t destination = copy.ub_dst + row * (uint64_t{copy.block_bytes} + copy.ub_dst_gap);
        if (checking()) {
            check_ub(block, copy.name, source, copy.block_bytes, kUnit, place);
            check_ub(block, copy.name, destination, copy.block_bytes, kUnit, place);
        }
        track_ub(block, Lane::kVector, copy.name, source, copy.block_bytes, false, place);
        track_ub(block, Lane::kVector, copy.name, destination, copy.block_bytes, true, place);
        std::memmove(block.ub + destination, block.ub + source, copy.block_bytes);
        block.core->valid.set(static_cast<uint32_t>(destination), copy.block_bytes);
    }
}

void copy_in(Block& block, const AivEmuCopy& copy, const void* place) {
    const uint32_t left = copy.pad_left * uint32_t{copy.element_bytes};
    const uint32_t right = copy.pad_right * uint32_t{copy.element_bytes};
    const uint64_t row_bytes = uint64_t{left} + copy.block_bytes + right;
    const uint64_t row_step = copy.compact != 0 ? row_bytes : round_up(row_bytes) + copy.ub_gap;
    const bool small = copy.block_count == 1 && copy.block_bytes <= kSmallBytes;
    const int64_t began_ns = trace_clock();
    uint32_t owner = 0;
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        const Address gm = copy.gm + static_cast<uint64_t>(row * (int64_t{copy.block_bytes} + copy.gm_gap));
        const uint64_t ub = copy.ub + row * row_step;
        const bool ends = copy.compact == 0 || row + 1 == copy.block_count;
        const uint64_t filled = ends ? round_up(ub + row_bytes) - ub : row_bytes;
        if (checking()) {
            check_ub(block, copy.name, ub, filled, copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            owner = check_gm(block, copy.name, "reads", gm, copy.block_bytes, place);
        } else {
            owner = owner_of(gm);
        }
        if (block.races != nullptr) {
            check_races(block, block.cache.copied(gm, copy.block_bytes), place);
        }
        uint8_t* to = block.ub + ub;
        if (small) {
            read_small(block, copy.name, owner, gm, to + left, copy.block_bytes);
        } else {
            block.in_copy.store(true, std::memory_order_relaxed);
            std::memcpy(to + left, reinterpret_cast<const void*>(gm), copy.block_bytes);
            block.in_copy.store(false, std::memory_order_relaxed);
            count_read(block, owner, copy.block_bytes, copy.block_bytes <= kSmallBytes);
        }
        const uint64_t first = ub + left;
        const uint64_t behind = first + copy.block_bytes;
        fill_pad(block, copy, first, ub, left);
        fill_pad(block, copy, first, behind, ub + filled - behind);
        block.core->valid.set(static_cast<uint32_t>(ub), static_cast<uint32_t>(filled));
        track_ub(block, Lane::kLoad, copy.name, ub, filled, true, place);
        track_gm(block, Lane::kLoad, copy.name, gm, copy.block_bytes, false, small, place);
    }
    if (small) {
        return;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    const uint64_t bytes = copy.block_count * uint64_t{copy.block_bytes};
    if (tracing()) {
        trace_copy(block, copy.name, false, owner, bytes, began_ns);
    }
    if (block.polls.repeats(copy.gm, bytes)) {
        give_way(block, BlockState::kReady);
    } else {
        block.run->note_progress(*block.device);
    }
}

void copy_out(Block& block, const AivEmuCopy& copy, const void* place) {
    const uint64_t row_step = copy.compact != 0 ? uint64_t{copy.block_bytes} : round_up(copy.block_bytes) + copy.ub_gap;
    const int64_t began_ns = trace_clock();
    uint32_t owner = 0;
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        const Address gm = copy.gm + static_cast<uint64_t>(row * (int64_t{copy.block_bytes} + copy.gm_gap));
        const uint64_t ub = copy.ub + row * row_step;
        if (checking()) {
            check_ub(block, copy.name, ub, copy.block_bytes, copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            owner = check_gm(block, copy.name, "writes", gm, copy.block_bytes, place);
        } else {
            owner = owner_of(gm);
        }
        if (block.atomic != AIVOPS_EMU_ATOMIC_NONE) {
            const uint32_t element = element_bytes(block.atomic_type);
            if (gm % element != 0 || copy.block_bytes % element != 0) {
                raise_fault(block, AIVOPS_EMU_MEMCHECK,
                            std::string(copy.name) + ": an atomic copy of " + bytes_text(copy.block_bytes) + " to " +
                                hex(gm) + " does not consist of whole elements of " + bytes_text(element),
                            place);
            }
        }
        track_ub(block, Lane::kStore, copy.name, ub, copy.block_bytes, false, place);
        const bool flag = copy.block_count == 1 && copy.block_bytes <= kSmallBytes;
        if (flag) {
            check_flag(block, gm, block.ub + ub, copy.block_bytes, place);
        }
        track_gm(block, Lane::kStore, copy.name, gm, copy.block_bytes, true, flag, place);
        write_gm(block, gm, block.ub + ub, copy.block_bytes);
        count_write(block, owner, copy.block_bytes, copy.block_bytes <= kSmallBytes);
    }
    if (tracing()) {
        trace_copy(block, copy.name, true, owner, copy.block_count * uint64_t{copy.block_bytes}, began_ns);
    }
    after_write(block);
}

void copy(AivEmuBlock* handle, const AivEmuCopy* instruction) {
    Block& block = block_of(handle);
    InMachine inside(block);
    if (instruction->block_count == 0 || instruction->block_bytes == 0) {
        return;
    }
    const void* place = AIVOPS_PLACE;
    if (checking()) {
        check_copy(block, *instruction, place);
    }
    AivEmuCopy whole = *instruction;
    if (whole.byte_exact == 0 && whole.block_bytes % kUnit != 0) {
        whole.block_bytes -= whole.block_bytes % kUnit;
        raise_warning(block, AIVOPS_EMU_MEMCHECK,
                      std::string(whole.name) + ": copies " + std::to_string(whole.block_bytes) + " of " +
                          bytes_text(instruction->block_bytes) +
                          ": it takes whole units of 32 bytes only; DataCopyPad copies any number of bytes",
                      place);
        if (whole.block_bytes == 0) {
            return;
        }
    }
    switch (whole.direction) {
    case AIVOPS_EMU_GM_TO_UB:
        track_issue(block, Lane::kLoad);
        return copy_in(block, whole, place);
    case AIVOPS_EMU_UB_TO_GM:
        track_issue(block, Lane::kStore);
        return copy_out(block, whole, place);
    default:
        track_issue(block, Lane::kVector);
        return copy_within_ub(block, whole, place);
    }
}

void compute(AivEmuBlock* handle, const AivEmuCompute* instruction) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const void* place = AIVOPS_PLACE;
    const Lane lane = lane_of(instruction->pipe);
    track_issue(block, lane);
    for (uint32_t index = 0; block.races != nullptr && index < instruction->range_count; ++index) {
        const AivEmuRange& range = instruction->ranges[index];
        check_ub(block, instruction->name, range.ub, range.bytes, range.align, place);
        track_ub(block, lane, instruction->name, range.ub, range.bytes, range.write != 0, place);
    }
    if (checking()) {
        for (uint32_t index = 0; index < instruction->range_count; ++index) {
            const AivEmuRange& range = instruction->ranges[index];
            check_ub(block, instruction->name, range.ub, range.bytes, range.align, place);
            if (range.write == 0) {
                check_read(block, instruction->name, range.ub, range.bytes, place);
            }
        }
        for (uint32_t index = 0; index < instruction->range_count; ++index) {
            const AivEmuRange& range = instruction->ranges[index];
            if (range.write != 0) {
                block.core->valid.set(range.ub, range.bytes);
            }
        }
    }
    block.in_copy.store(true, std::memory_order_relaxed); // the kernel's own code: its faults are the kernel's
    instruction->execute(block.ub, instruction->parameters);
    block.in_copy.store(false, std::memory_order_relaxed);
}

void* ub_scalar(AivEmuBlock* handle, uint32_t ub, uint32_t bytes, int write) {
    Block& block = block_of(handle);
    InMachine inside(block);
    if (checking()) {
        const void* place = AIVOPS_PLACE;
        check_ub(block, write != 0 ? "SetValue" : "GetValue", ub, bytes, 1, place);
        if (write == 0) {
            check_read(block, "GetValue", ub, bytes, place);
        } else {
            block.core->valid.set(ub, bytes);
        }
    }
    track_issue(block, Lane::kScalar);
    track_ub(block, Lane::kScalar, write != 0 ? "SetValue" : "GetValue", ub, bytes, write != 0, AIVOPS_PLACE);
    return block.ub + ub;
}

void ub_invalidate(AivEmuBlock* handle, uint32_t ub, uint32_t bytes) {
    Block& block = block_of(handle);
    // Reservations may exceed the buffer as long as nobody touches the rest.
    if (ub < block.ub_bytes) {
        block.core->valid.invalidate(ub, std::min(bytes, block.ub_bytes - ub));
    }
}

void load(Block& block, const char* name, const void* gm, void* value, uint32_t bytes, const void* place) {
    InMachine inside(block);
    const Address address = reinterpret_cast<Address>(gm);
    uint32_t owner = checking() ? check_gm(block, name, "reads", address, bytes, place) : owner_of(address);
    track_issue(block, Lane::kScalar);
    read_small(block, name, owner, address, value, bytes);
    track_gm(block, Lane::kScalar, name, address, bytes, false, true, place);
}

void store(Block& block, const char* name, void* gm, const void* value, uint32_t bytes, const void* place) {
    InMachine inside(block);
    const Address address = reinterpret_cast<Address>(gm);
    const int64_t began_ns = trace_clock();
    uint32_t owner = checking() ? check_gm(block, name, "writes", address, bytes, place) : owner_of(address);
    track_issue(block, Lane::kScalar);
    check_flag(block, address, value, bytes, place);
    track_gm(block, Lane::kScalar, name, address, bytes, true, true, place);
    std::atomic_thread_fence(std::memory_order_release);
    block.in_copy.store(true, std::memory_order_relaxed);
    std::memcpy(gm, value, bytes);
    block.in_copy.store(false, std::memory_order_relaxed);
    count_write(block, owner, bytes, true);
    if (tracing()) {
        trace_copy(block, name, true, owner, bytes, began_ns);
    }
    after_write(block);
}

void gm_load(AivEmuBlock* block, const void* gm, void* value, uint32_t bytes) {
    load(block_of(block), "scalar load", gm, value, bytes, AIVOPS_PLACE);
    if (block_of(block).races != nullptr) {
        InMachine inside(block_of(block));
        check_races(block_of(block), block_of(block).cache.load(reinterpret_cast<Address>(gm), bytes), AIVOPS_PLACE);
    }
}

void gm_store(AivEmuBlock* block, void* gm, const void* value, uint32_t bytes) {
    store(block_of(block), "scalar store", gm, value, bytes, AIVOPS_PLACE);
    if (block_of(block).races != nullptr) {
        InMachine inside(block_of(block));
        block_of(block).cache.store(reinterpret_cast<Address>(gm), value, bytes);
    }
}

void gm_load_uncached(AivEmuBlock* block, const void* gm, void* value, uint32_t bytes) {
    load(block_of(block), "load past the data cache", gm, value, bytes, AIVOPS_PLACE);
}

void gm_store_uncached(AivEmuBlock* block, void* gm, const void* value, uint32_t bytes) {
    store(block_of(block), "store past the data cache", gm, value, bytes, AIVOPS_PLACE);
}

void gm_atomic(AivEmuBlock* handle, uint32_t atomic, uint32_t type, void* gm, const void* operand, const void* compare,
               void* old_value) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const uint32_t bytes = element_bytes(type);
    const Address address = reinterpret_cast<Address>(gm);
    if (bytes == 0 || address % bytes != 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK, "scalar atomic: " + hex(address) + " is not aligned to its type",
                    AIVOPS_PLACE);
    }
    uint32_t owner =
        checking() ? check_gm(block, "scalar atomic", "changes", address, bytes, AIVOPS_PLACE) : owner_of(address);
    track_issue(block, Lane::kScalar);
    track_gm(block, Lane::kScalar, "scalar atomic", address, bytes, false, true, AIVOPS_PLACE);
    track_gm(block, Lane::kScalar, "scalar atomic", address, bytes, true, true, AIVOPS_PLACE);
    const int64_t began_ns = trace_clock();
    block.in_copy.store(true, std::memory_order_relaxed);
    uint8_t before[8];
    bool changed = apply_atomic(gm, operand, compare, before, atomic, type);
    block.in_copy.store(false, std::memory_order_relaxed);
    if (old_value != nullptr) {
        std::memcpy(old_value, before, bytes);
    }
    block.device->counters().atomics.add(1);
    if (changed) {
        count_write(block, owner, bytes, true);
        if (tracing()) {
            trace_copy(block, "scalar atomic", true, owner, bytes, began_ns);
        }
        after_write(block);
    } else if (block.polls.observe(address, bytes, before) == Polls::Seen::kUnchanged) {
        give_way(block, BlockState::kPolling); // a compare-and-exchange that keeps failing waits like any poll
    }
}

void cache_clean_invalidate(AivEmuBlock* handle, const void* gm, int entire, uint32_t) {
    Block& block = block_of(handle);
    InMachine inside(block);
    if (entire != 0) {
        block.cache.clear();
    } else {
        block.cache.clean_and_invalidate(reinterpret_cast<Address>(gm));
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void memory_barrier(AivEmuBlock*, uint32_t) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void set_atomic(AivEmuBlock* handle, uint32_t atomic, uint32_t type) {
    Block& block = block_of(handle);
    if (atomic != AIVOPS_EMU_ATOMIC_NONE && element_bytes(type) == 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK, "the copy engine has no atomics for this type", AIVOPS_PLACE);
    }
    block.atomic = atomic;
    block.atomic_type = type;
}

void pipe_barrier(AivEmuBlock* handle, uint32_t pipe) {
    Block& block = block_of(handle);
    if (block.races != nullptr) {
        InMachine inside(block);
        block.races->barrier(pipe);
    }
}

int8_t& event(Block& block, uint32_t source, uint32_t destination, uint32_t id, const void* place) {
    if (source >= Events::kPipes || destination >= Events::kPipes || id >= Events::kIds) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    "no such event: pipes " + std::to_string(source) + " to " + std::to_string(destination) + ", id " +
                        std::to_string(id),
                    place);
    }
    return block.events.at(source, destination, id);
}

void set_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    int8_t& flag = event(block, source, destination, id, AIVOPS_PLACE);
    if (flag > 0 && checking()) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    "SetFlag: event id " + std::to_string(id) + " is already set and nobody has waited for it",
                    AIVOPS_PLACE);
    }
    ++flag;
    if (block.races != nullptr) {
        block.races->set_flag(source, destination, id);
    }
}

void wait_flag(AivEmuBlock* handle, uint32_t source, uint32_t destination, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    int8_t& flag = event(block, source, destination, id, AIVOPS_PLACE);
    // Another pipe may wait for what is set later in the program; the scalar pipe stops the program itself.
    if (checking() && (flag < 0 || (flag == 0 && destination == AIVOPS_EMU_PIPE_S))) {
        raise_fault(block, AIVOPS_EMU_DEADLOCK,
                    "WaitFlag: event id " + std::to_string(id) + " was not set, so this waits for ever", AIVOPS_PLACE);
    }
    --flag;
    if (block.races != nullptr) {
        block.races->wait_flag(source, destination, id);
    }
}

void sync_all(AivEmuBlock* handle) {
    Block& block = block_of(handle);
    InMachine inside(block);
    block.run->sync_all(block);
}

void check_cross_core(Block& block, uint32_t mode, uint32_t id, const void* place) {
    if (id >= kCrossCoreIds || mode > 1) {
        raise_fault(block, AIVOPS_EMU_SYNCCHECK,
                    mode > 1 ? "cross-core flag: mode " + std::to_string(mode) +
                                   " involves a cube core, and an AIV kernel has none"
                             : "cross-core flag: no id " + std::to_string(id) + "; there are 16",
                    place);
    }
}

void cross_core_set(AivEmuBlock* handle, uint32_t mode, uint32_t, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    check_cross_core(block, mode, id, AIVOPS_PLACE);
    ++block.cross_core_sets[id];
    after_write(block);
}

void cross_core_wait(AivEmuBlock* handle, uint32_t mode, uint32_t, uint32_t id) {
    Block& block = block_of(handle);
    InMachine inside(block);
    check_cross_core(block, mode, id, AIVOPS_PLACE);
    ++block.cross_core_waits[id];
    block.cross_core_id = id;
    block.cross_core_mode = mode;
    const int64_t began_ns = trace_clock();
    if (!block.run->cross_core_ready(block)) {
        give_way(block, BlockState::kAtCrossCore);
    }
    block.run->note_progress(*block.device);
    if (tracing()) {
        trace_barrier(block, "CrossCoreWaitFlag", began_ns);
    }
}

void fault(AivEmuBlock* handle, uint32_t category, const char* message) {
    Block& block = block_of(handle);
    block.in_machine.store(true, std::memory_order_relaxed);
    raise_fault(block, category, message, AIVOPS_PLACE);
}

void warn(AivEmuBlock* handle, uint32_t category, const char* message) {
    Block& block = block_of(handle);
    InMachine inside(block);
    raise_warning(block, category, message, AIVOPS_PLACE);
}

void print(AivEmuBlock* handle, const char* text, size_t bytes) {
    InMachine inside(block_of(handle)); // nothing may take the block away while it holds the stream's lock
    std::fwrite(text, 1, bytes, stdout);
    std::fflush(stdout);
}

uint64_t cycle(AivEmuBlock*) {
    constexpr uint64_t kNsPerCycle = 20; // the system counter runs at 50 MHz
    return static_cast<uint64_t>(now_ns()) / kNsPerCycle;
}

} // namespace

void raise_fault(Block& block, uint32_t category, const std::string& message, const void* place) {
    block.in_machine.store(true, std::memory_order_relaxed);
    const int code = category == AIVOPS_EMU_ASSERT     ? ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION
                     : category == AIVOPS_EMU_DEADLOCK ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT
                                                       : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    block.run->fail_block(block, code,
                          std::string(category_name(category)) + ": " + message + "; at " + describe_place(place));
    while (true) {
        give_way(block, BlockState::kFaulted);
    }
}

void raise_warning(Block& block, uint32_t category, const std::string& message, const void* place) {
    if (settings().check == Check::kStrict) {
        raise_fault(block, category, message, place);
    }
    block.run->warn_block(block, std::string(category_name(category)) + ": " + message, place);
}

const AivEmuTable kInstructionTable = {
    .contract_version = AIVOPS_EMU_CONTRACT_VERSION,
    .table_bytes = sizeof(AivEmuTable),
    .copy = copy,
    .compute = compute,
    .ub_scalar = ub_scalar,
    .ub_invalidate = ub_invalidate,
    .gm_load = gm_load,
    .gm_store = gm_store,
    .gm_load_uncached = gm_load_uncached,
    .gm_store_uncached = gm_store_uncached,
    .gm_atomic = gm_atomic,
    .cache_clean_invalidate = cache_clean_invalidate,
    .memory_barrier = memory_barrier,
    .set_atomic = set_atomic,
    .pipe_barrier = pipe_barrier,
    .set_flag = set_flag,
    .wait_flag = wait_flag,
    .sync_all = sync_all,
    .cross_core_set = cross_core_set,
    .cross_core_wait = cross_core_wait,
    .fault = fault,
    .warn = warn,
    .print = print,
    .cycle = cycle,
};

} // namespace aivops::machine
