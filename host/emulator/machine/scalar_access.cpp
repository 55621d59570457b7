// Scalar access to GM, through the core's data cache and past it.
#include "access_check.h"
#include "device.h"
#include "doorbell.h"
#include "element_atomics.h"
#include "gm_access.h"
#include "gm_words.h"
#include "instructions.h"
#include "kernel_run.h"
#include "late_pipes.h"
#include "race_check.h"
#include "report.h"
#include "schedule.h"
#include "trace.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

namespace aivops::machine {
namespace {

void note_visible(Block& block) {
    if (block.pipes != nullptr) {
        block.pipes->note_visible_issue();
    }
}

void load(Block& block, const char* name, const void* gm, void* value, uint32_t bytes, const void* place) {
    const Address address = reinterpret_cast<Address>(gm);
    uint32_t owner = checking() ? check_gm(block, name, "reads", address, bytes, place) : owner_of(address);
    track_scalar(block, place);
    read_small(block, {Lane::kScalar, address, bytes, true, name, place}, owner, static_cast<uint8_t*>(value));
}

// The data cache takes the line, unless it has it, and keeps what is stored.
void store_to_line(Block& block, const GmTouch& touch, const void* value) {
    if (const std::optional<Address> stale = block.cache.stale_line(touch.gm)) {
        check_cache(block, ScalarCache::describe_stale(*stale), touch.place);
    }
    track_fill(block, touch.gm, touch.bytes);
    track_line(block, touch);
    block.cache.store(touch.gm, value, static_cast<uint32_t>(touch.bytes));
}

// Whether a load finds its line in the data cache as it was before memory changed. A flag may be looked at once like
// that: whoever waits looks on, and has to drop the line then.
bool finds_stale_line(Block& block, Address gm, void* value, uint32_t bytes, const void* place) {
    if (block.cache.empty()) {
        return false;
    }
    check_gm(block, "scalar load", "reads", gm, bytes, place);
    const std::optional<Address> stale = block.cache.stale(gm, bytes);
    if (!stale) {
        return false;
    }
    if (is_flag(gm) && block.cache.find_once(gm, value, bytes)) {
        return true;
    }
    check_cache(block, ScalarCache::describe_stale(*stale), place);
    return false;
}

void store(Block& block, const char* name, void* gm, const void* value, uint32_t bytes, bool cached,
           const void* place) {
    const Address address = reinterpret_cast<Address>(gm);
    const int64_t began_ns = trace_clock();
    uint32_t owner = checking() ? check_gm(block, name, "writes", address, bytes, place) : owner_of(address);
    track_scalar(block, place);
    GmTouch touch{Lane::kScalar, address, bytes, true, name, place};
    touch.cached = cached;
    if (block.races != nullptr && cached) {
        store_to_line(block, touch, value);
    } else if (block.races != nullptr) {
        check_cache(block, block.cache.lost_under_line(address, bytes), place);
    }
    track_write(block, touch, static_cast<const uint8_t*>(value));
    note_visible(block);
    block.lazy_loads.settle_all();
    {
        InCopy faults(block);
        store_words(gm, value, bytes);
    }
    note_told(block, value, bytes);
    count_write(block, owner, bytes, true);
    if (tracing()) {
        trace_copy(block, name, true, owner, bytes, began_ns);
    }
    after_write(block, address);
}

// What a cleaning writes back.
std::vector<Address> dirty_lines(const Block& block, Address gm, bool entire) {
    if (entire) {
        return block.cache.dirty_lines();
    }
    const std::optional<Address> from = block.cache.dirty_from(gm);
    return from ? std::vector{*from} : std::vector<Address>();
}

// A block that may have stored through pointers of its own tells others what it knows, lets them run, and learns.
template <typename Publish, typename See>
void exchange_knowledge(Block& block, const void* place, Publish publish, See see) {
    block.races->begin(Lane::kScalar, block.races->issue());
    publish();
    block.pipes->turn(place);
    block.races->begin(Lane::kScalar, block.races->issue());
    see();
    block.polls.clear_unless(block.pipes->visible_issues());
}

// What a kernel loads and stores through pointers of its own shows in nothing but this: it has to clean the line behind
// a store that others are to see, and before a load that is to see others'. So this counts as either.
void look_at_line(Block& block, Address line, const void* place) {
    if (block.polls.has_read_in(line, ScalarCache::kLine) || !may_touch_gm(block, line, ScalarCache::kLine)) {
        return; // a load of its own tells all
    }
    block.lazy_loads.settle_all();
    if (block.pipes != nullptr) {
        exchange_knowledge(
            block, place,
            [&] {
                if (block.races->publish_line(line)) {
                    note_visible(block);
                    after_write(block, line);
                }
            },
            [&] { block.races->see_line(line); });
    }
    uint8_t content[ScalarCache::kLine];
    auto look = [&] {
        read_gm(block, content, line, sizeof content);
        return block.polls.observe(line, sizeof content, content, true);
    };
    Polls::Seen seen = look();
    block.waits_at = place;
    if (seen == Polls::Seen::kUnchanged && block.pipes != nullptr) {
        block.pipes->note_vain_poll();
    } else if (seen == Polls::Seen::kUnchanged) {
        give_way(block, BlockState::kPolling);
        if (!may_touch_gm(block, line, sizeof content)) {
            return; // the memory has gone while others ran
        }
        seen = look();
    }
    if (seen == Polls::Seen::kUnchanged) {
        return;
    }
    if (block.pipes == nullptr) {
        ring_for(block, line);
    }
    block.run->note_progress(*block.device);
}

// The same where the whole cache is cleaned, and the line is not known.
void look_anywhere(Block& block, const void* place) {
    block.lazy_loads.settle_all();
    if (block.pipes != nullptr) {
        exchange_knowledge(block, place, [&] { block.races->publish_cache(); }, [&] { block.races->see_cache(); });
    }
    block.waits_at = place;
    if (!block.polls.repeats(0, 0)) {
        if (block.pipes != nullptr) {
            schedule().note_write(); // one that nothing else shows
        }
        doorbell().ring();
        block.run->note_progress(*block.device);
    } else if (block.pipes != nullptr) {
        block.pipes->note_vain_large_poll();
    } else {
        give_way(block, BlockState::kReady);
    }
}

} // namespace

void gm_load(AivEmuBlock* handle, const void* gm, void* value, uint32_t bytes) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const void* place = AIVOPS_PLACE;
    const Address address = reinterpret_cast<Address>(gm);
    if (block.races != nullptr) {
        block.races->forget_line(address);
        if (finds_stale_line(block, address, value, bytes, place)) {
            return;
        }
    }
    load(block, "scalar load", gm, value, bytes, place);
    if (block.races != nullptr) {
        track_fill(block, address, bytes);
        block.cache.load(address, value, bytes);
    }
}

void gm_store(AivEmuBlock* block, void* gm, const void* value, uint32_t bytes) {
    InMachine inside(block_of(block));
    store(block_of(block), "scalar store", gm, value, bytes, true, AIVOPS_PLACE);
}

void gm_load_uncached(AivEmuBlock* handle, const void* gm, void* value, uint32_t bytes) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const void* place = AIVOPS_PLACE;
    check_cache(block, block.cache.missed_by_load(reinterpret_cast<Address>(gm), bytes), place);
    load(block, "load past the data cache", gm, value, bytes, place);
}

void gm_store_uncached(AivEmuBlock* block, void* gm, const void* value, uint32_t bytes) {
    InMachine inside(block_of(block));
    store(block_of(block), "store past the data cache", gm, value, bytes, false, AIVOPS_PLACE);
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
    track_scalar(block, AIVOPS_PLACE);
    check_cache(block, block.cache.lost_under_line(address, bytes), AIVOPS_PLACE);
    track_atomic(block, {Lane::kScalar, address, bytes, true, "scalar atomic", AIVOPS_PLACE, kScalarUpdate});
    const int64_t began_ns = trace_clock();
    uint8_t before[8];
    bool changed = false;
    block.lazy_loads.settle_all();
    {
        InCopy faults(block);
        changed = apply_atomic(gm, operand, compare, before, atomic, type);
    }
    if (old_value != nullptr) {
        std::memcpy(old_value, before, bytes);
    }
    block.device->counters().atomics.add(1);
    if (changed) {
        note_visible(block);
        count_write(block, owner, bytes, true);
        if (tracing()) {
            trace_copy(block, "scalar atomic", true, owner, bytes, began_ns);
        }
        after_write(block, address);
    } else if (block.polls.observe(address, bytes, before) == Polls::Seen::kUnchanged) {
        // A compare-and-exchange that keeps failing waits like any poll.
        block.waits_at = AIVOPS_PLACE;
        if (block.pipes != nullptr) {
            block.pipes->note_vain_poll();
        } else {
            give_way(block, BlockState::kPolling);
        }
    }
}

void cache_clean_invalidate(AivEmuBlock* handle, const void* gm, int entire, uint32_t) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const void* place = AIVOPS_PLACE;
    const Address address = reinterpret_cast<Address>(gm);
    const bool own_pointers = entire != 0 ? block.cache.empty() : !block.cache.holds(address);
    if (const std::vector<Address> dirty = dirty_lines(block, address, entire != 0); !dirty.empty()) {
        block.pipes->turn(place);
        track_cleaning(block, dirty);
        note_visible(block);
        block.run->note_progress(*block.device);
    }
    if (entire != 0) {
        block.cache.clear();
    } else {
        block.cache.clean_and_invalidate(address);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (own_pointers && entire != 0) {
        look_anywhere(block, place);
    } else if (own_pointers) {
        look_at_line(block, address / ScalarCache::kLine * ScalarCache::kLine, place);
    }
}

void memory_barrier(AivEmuBlock* handle, uint32_t) {
    InMachine inside(block_of(handle));
    block_of(handle).lazy_loads.settle_all();
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace aivops::machine
