#include "copies.h"

#include "access_check.h"
#include "aivops/kernel_binary/counted.h"
#include "device.h"
#include "element_atomics.h"
#include "gm_access.h"
#include "instructions.h"
#include "kernel_run.h"
#include "late_pipes.h"
#include "report.h"
#include "trace.h"

#include <atomic>
#include <cstring>

namespace aivops::machine {
namespace {

constexpr uint32_t kUnit = 32;           // bytes of the unit of UB
constexpr uint32_t kMostBlocks = 4095;   // of one copy instruction
constexpr uint32_t kMostBytes = 2097151; // of one block of it

uint64_t round_up(uint64_t bytes) {
    return (bytes + kUnit - 1) / kUnit * kUnit;
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

// Where the rows of a copy lie.
Address gm_row(const AivEmuCopy& copy, uint32_t row) {
    return copy.gm + static_cast<uint64_t>(row * (int64_t{copy.block_bytes} + copy.gm_gap));
}

// In UB, of a copy from GM with its padding.
struct Filled {
    uint64_t ub;
    uint64_t bytes;
};
Filled filled_row(const AivEmuCopy& copy, uint32_t row) {
    const uint64_t row_bytes = (uint64_t{copy.pad_left} + copy.pad_right) * copy.element_bytes + copy.block_bytes;
    const uint64_t step = copy.compact != 0 ? row_bytes : round_up(row_bytes) + copy.ub_gap;
    const uint64_t ub = copy.ub + row * step;
    const bool ends = copy.compact == 0 || row + 1 == copy.block_count;
    return {ub, ends ? round_up(ub + row_bytes) - ub : row_bytes};
}

uint64_t stored_row(const AivEmuCopy& copy, uint32_t row) {
    return copy.ub + row * (copy.compact != 0 ? uint64_t{copy.block_bytes} : round_up(copy.block_bytes) + copy.ub_gap);
}

struct RowsWithinUb {
    uint64_t source;
    uint64_t destination;
};
RowsWithinUb rows_within_ub(const AivEmuCopy& copy, uint32_t row) {
    return {copy.ub + row * (uint64_t{copy.block_bytes} + copy.ub_gap),
            copy.ub_dst + row * (uint64_t{copy.block_bytes} + copy.ub_dst_gap)};
}

void check_copy(Block& block, const AivEmuCopy& copy, const void* place) {
    if (copy.block_count > kMostBlocks || copy.block_bytes > kMostBytes) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK,
                    std::string(copy.name) + ": " + kernel_binary::counted(copy.block_count, "block") + " of " +
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
    const uint32_t atomic_bytes = block.atomic != AIVOPS_EMU_ATOMIC_NONE ? element_bytes(block.atomic_type) : 0;
    if (copy.direction == AIVOPS_EMU_UB_TO_GM && atomic_bytes != 0 && copy.element_bytes > 1 &&
        copy.element_bytes != atomic_bytes) {
        raise_warning(block, AIVOPS_EMU_MEMCHECK,
                      std::string(copy.name) + ": the tensor has elements of " + bytes_text(copy.element_bytes) +
                          ", and the atomic mode updates elements of " + bytes_text(atomic_bytes) +
                          "; call SetAtomic… with the tensor's type",
                      place);
    }
}

void copy_within_ub(Block& block, const AivEmuCopy& copy, const void* place) {
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        const auto [source, destination] = rows_within_ub(copy, row);
        if (checking()) {
            check_ub(block, copy.name, source, copy.block_bytes, kUnit, place);
            check_ub(block, copy.name, destination, copy.block_bytes, kUnit, place);
        }
        track_ub(block, Lane::kVector, copy.name, source, copy.block_bytes, false, place);
        track_ub(block, Lane::kVector, copy.name, destination, copy.block_bytes, true, place);
        const uint8_t* from = block.lazy_loads.read(static_cast<uint32_t>(source), copy.block_bytes);
        block.lazy_loads.settle(static_cast<uint32_t>(destination), copy.block_bytes);
        InCopy faults(block);
        std::memmove(block.ub + destination, from, copy.block_bytes);
        if (block.pipes == nullptr) {
            block.core->valid.set(static_cast<uint32_t>(destination), copy.block_bytes);
        }
    }
}

// Where pipes are late their queues say when a load happens.
bool may_be_put_off(const Block& block, const AivEmuCopy& copy) {
    return block.pipes == nullptr && copy.block_count == 1 && copy.block_bytes >= LazyLoads::kLeastBytes &&
           copy.pad_left == 0 && copy.pad_right == 0 && copy.pad_defined == 0;
}

void copy_in(Block& block, const AivEmuCopy& copy, bool small, const void* place) {
    const uint32_t left = copy.pad_left * uint32_t{copy.element_bytes};
    const int64_t began_ns = trace_clock();
    uint32_t owner = 0;
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        const Address gm = gm_row(copy, row);
        const auto [ub, filled] = filled_row(copy, row);
        if (checking()) {
            check_ub(block, copy.name, ub, filled, copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            owner = check_gm(block, copy.name, "reads", gm, copy.block_bytes, place);
            check_padding(block, copy, owner, gm, place);
        } else {
            owner = owner_of(gm);
        }
        uint8_t* to = block.ub + ub;
        const GmTouch touch{Lane::kLoad, gm, copy.block_bytes, small, copy.name, place};
        if (block.races != nullptr) {
            track_ub(block, Lane::kLoad, copy.name, ub, filled, true, place);
        }
        if (small) {
            read_small(block, touch, owner, to + left);
        } else {
            if (may_be_put_off(block, copy)) {
                block.lazy_loads.put_off(static_cast<uint32_t>(ub), reinterpret_cast<const uint8_t*>(gm),
                                         copy.block_bytes);
            } else {
                block.lazy_loads.forget(static_cast<uint32_t>(ub), static_cast<uint32_t>(filled));
                read_gm(block, to + left, gm, copy.block_bytes);
            }
            block.recent_loads.add(reinterpret_cast<const uint8_t*>(gm), copy.block_bytes);
            count_read(block, owner, copy.block_bytes, copy.block_bytes <= kSmallBytes);
            track_read(block, touch, to + left);
        }
        const uint64_t first = ub + left;
        const uint64_t behind = first + copy.block_bytes;
        fill_pad(block, copy, first, ub, left);
        fill_pad(block, copy, first, behind, ub + filled - behind);
        if (block.pipes == nullptr) {
            block.core->valid.set(static_cast<uint32_t>(ub), static_cast<uint32_t>(filled));
        }
    }
    if (small) {
        if (block.races != nullptr) {
            block.races->looked_into(copy.ub + left, copy.block_bytes);
        }
        return;
    }
    const uint64_t bytes = copy.block_count * uint64_t{copy.block_bytes};
    if (tracing()) {
        trace_copy(block, copy.name, false, owner, bytes, began_ns);
    }
    if (block.pipes != nullptr) {
        block.polls.clear_unless(block.pipes->visible_issues());
    }
    if (block.polls.repeats(copy.gm, bytes)) {
        if (block.pipes != nullptr) {
            block.waits_at = place;
            block.pipes->note_vain_large_poll();
        } else {
            give_way(block, BlockState::kReady);
        }
    } else {
        block.run->note_progress(*block.device);
    }
}

void copy_out(Block& block, const AivEmuCopy& copy, bool small, const void* place) {
    const int64_t began_ns = trace_clock();
    uint32_t owner = 0;
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        const Address gm = gm_row(copy, row);
        const uint64_t ub = stored_row(copy, row);
        if (checking()) {
            check_ub(block, copy.name, ub, copy.block_bytes, copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            owner = check_gm(block, copy.name, "writes", gm, copy.block_bytes, place);
            check_padding(block, copy, owner, gm, place);
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
        if (block.races != nullptr) {
            track_ub(block, Lane::kStore, copy.name, ub, copy.block_bytes, false, place);
            const Update update = update_of(block.atomic, block.atomic_type);
            alignas(8) uint8_t updated[kSmallBytes]; // a counter is a flag
            const uint8_t* content = update == kNoUpdate ? block.ub + ub : nullptr;
            if (update != kNoUpdate && small) {
                read_gm(block, updated, gm, copy.block_bytes);
                update_elements(block, updated, block.ub + ub, copy.block_bytes);
                content = updated;
            }
            track_write(block, {Lane::kStore, gm, copy.block_bytes, small, copy.name, place, update}, content);
        }
        write_gm(block, gm, static_cast<uint32_t>(ub), copy.block_bytes);
        count_write(block, owner, copy.block_bytes, copy.block_bytes <= kSmallBytes);
    }
    if (small) {
        note_told(block, block.ub + copy.ub, copy.block_bytes);
    }
    if (tracing()) {
        trace_copy(block, copy.name, true, owner, copy.block_count * uint64_t{copy.block_bytes}, began_ns);
    }
    after_write(block, copy.gm);
}

// What the program's order decides is checked when a copy is issued, the rest when it is done.
void issue_late(Block& block, const AivEmuCopy& copy, const void* place) {
    block.pipes->turn();
    for (uint32_t row = 0; row < copy.block_count; ++row) {
        switch (copy.direction) {
        case AIVOPS_EMU_GM_TO_UB: {
            const auto [ub, bytes] = filled_row(copy, row);
            check_ub(block, copy.name, ub, bytes, copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            check_padding(block, copy, check_gm(block, copy.name, "reads", gm_row(copy, row), copy.block_bytes, place),
                          gm_row(copy, row), place);
            check_cache(block, block.cache.missed_by_load(gm_row(copy, row), copy.block_bytes), place);
            block.core->valid.set(static_cast<uint32_t>(ub), static_cast<uint32_t>(bytes));
            break;
        }
        case AIVOPS_EMU_UB_TO_GM:
            check_ub(block, copy.name, stored_row(copy, row), copy.block_bytes,
                     copy.compact != 0 && row != 0 ? 1 : kUnit, place);
            check_padding(block, copy, check_gm(block, copy.name, "writes", gm_row(copy, row), copy.block_bytes, place),
                          gm_row(copy, row), place);
            check_cache(block, block.cache.lost_under_line(gm_row(copy, row), copy.block_bytes), place);
            break;
        default: {
            const auto [from, to] = rows_within_ub(copy, row);
            check_ub(block, copy.name, from, copy.block_bytes, kUnit, place);
            check_ub(block, copy.name, to, copy.block_bytes, kUnit, place);
            block.core->valid.set(static_cast<uint32_t>(to), copy.block_bytes);
            break;
        }
        }
    }
    const Lane lanes[] = {Lane::kLoad, Lane::kStore, Lane::kVector}; // by direction
    block.pipes->copy(lanes[copy.direction], copy, place);
}

void issue_copy(Block& block, const AivEmuCopy& copy, const void* place) {
    if (copy.direction == AIVOPS_EMU_UB_TO_UB) {
        const uint64_t bytes = uint64_t{copy.block_count} * copy.block_bytes;
        block.device->counters().instructions.add(copy.name, bytes, bytes);
        if (checking()) {
            const bool row_by_row = copy.ub_gap != 0 || copy.ub_dst_gap != 0;
            check_overlap(block, copy.name, copy.ub_dst, copy.ub, row_by_row ? copy.block_bytes : bytes, place);
        }
    }
    if (block.pipes != nullptr) {
        issue_late(block, copy, place);
    } else {
        copy_now(block, copy, is_small(copy), place);
    }
}

// DataCopy of a length that is no multiple of its unit: the rest stays behind.
void copy_whole_units(Block& block, const AivEmuCopy& asked, const void* place) {
    AivEmuCopy whole = asked;
    whole.block_bytes -= whole.block_bytes % kUnit;
    raise_warning(block, AIVOPS_EMU_MEMCHECK,
                  std::string(whole.name) + ": copies " + std::to_string(whole.block_bytes) + " of " +
                      bytes_text(asked.block_bytes) +
                      ": it takes whole units of 32 bytes only; DataCopyPad copies any number of bytes",
                  place);
    if (whole.block_bytes != 0) {
        issue_copy(block, whole, place);
    }
}

} // namespace

void copy_now(Block& block, const AivEmuCopy& copy, bool small, const void* place) {
    switch (copy.direction) {
    case AIVOPS_EMU_GM_TO_UB:
        return copy_in(block, copy, small, place);
    case AIVOPS_EMU_UB_TO_GM:
        return copy_out(block, copy, small, place);
    default:
        return copy_within_ub(block, copy, place);
    }
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
    if (instruction->byte_exact == 0 && instruction->block_bytes % kUnit != 0) {
        return copy_whole_units(block, *instruction, place);
    }
    issue_copy(block, *instruction, place);
}

void set_atomic(AivEmuBlock* handle, uint32_t atomic, uint32_t type) {
    Block& block = block_of(handle);
    if (atomic != AIVOPS_EMU_ATOMIC_NONE && element_bytes(type) == 0) {
        raise_fault(block, AIVOPS_EMU_MEMCHECK, "the copy engine has no atomics for this type", AIVOPS_PLACE);
    }
    block.atomic = atomic;
    block.atomic_type = type;
    block.atomic_place = AIVOPS_PLACE;
}

} // namespace aivops::machine
