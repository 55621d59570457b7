#include "gm_access.h"

#include "access_check.h"
#include "device.h"
#include "doorbell.h"
#include "element_atomics.h"
#include "gm_words.h"
#include "kernel_run.h"
#include "late_pipes.h"
#include "machine.h"
#include "polling_places.h"
#include "schedule.h"
#include "streaming_copy.h"
#include "trace.h"

#include <cstring>

namespace aivops::machine {
namespace {

// What a block stores first may be read soon and stays in the caches; a smaller piece than this always may.
constexpr uint64_t kStreamed = 8192;
constexpr uint64_t kKeptInCaches = 1 << 20;

// Bit 48 of CTRL off, the reset value, means saturating half; of dav-c310-vec only, this goes for atomic copies too.
bool saturates_half(const Block& block) {
    constexpr uint32_t kControlNarrowFloats = 48;
    return block.npu_arch == 3510 && (block.registers[AIVOPS_EMU_REGISTER_CONTROL] >> kControlNarrowFloats & 1) == 0;
}

void note_visible_change(Block& block) {
    if (block.pipes == nullptr) {
        block.polls.clear();
    } else {
        schedule().note_write();
    }
    block.run->note_progress(*block.device);
}

// A large piece, ordered behind what was written before.
void store_large(Block& block, void* to, const uint8_t* from, uint64_t bytes) {
    std::atomic_thread_fence(std::memory_order_release);
    if (bytes >= kStreamed && block.stored_bytes >= kKeptInCaches) {
        streaming_copy(to, from, bytes, block.recent_loads.pieces());
    } else {
        std::memcpy(to, from, bytes);
    }
    block.stored_bytes += bytes;
    block.recent_loads.clear();
}

} // namespace

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

int64_t trace_clock() {
    return tracing() ? now_ns() : 0;
}

void read_small(Block& block, GmTouch touch, uint32_t owner, uint8_t* to) {
    const int64_t began_ns = trace_clock();
    const auto bytes = static_cast<uint32_t>(touch.bytes);
    block.lazy_loads.settle_all();
    if (block.pipes != nullptr) {
        block.polls.clear_unless(block.pipes->visible_issues());
        touch.again = block.polls.has(touch.gm, bytes);
    }
    read_gm(block, to, touch.gm, bytes);
    const bool kept_back = track_read(block, touch, to);
    Polls::Seen seen = block.polls.observe(touch.gm, bytes, to);
    if (kept_back) {
        block.polls.note_kept_back();
        block.writes_seen = schedule().writes();
    }
    if (seen == Polls::Seen::kFirst) {
        count_read(block, owner, bytes, true);
        block.run->note_progress(*block.device);
        if (tracing()) {
            trace_copy(block, touch.name, false, owner, bytes, began_ns);
        }
        return;
    }
    block.waits_at = touch.place;
    traffic(block, owner).polls.add(1);
    traffic(block, owner).poll_bytes.add(bytes);
    if (block.pipes != nullptr) {
        note_polling_place(touch.place);
        check_history(block, note_poll(touch.gm, bytes, touch.place), touch.place);
        if (seen == Polls::Seen::kUnchanged) {
            block.pipes->note_vain_poll();
        }
    } else if (seen == Polls::Seen::kUnchanged) {
        give_way(block, BlockState::kPolling);
        // The memory may have gone while others ran.
        if (checking()) {
            check_gm(block, "poll", "reads", touch.gm, bytes, nullptr);
        }
        read_gm(block, to, touch.gm, bytes);
        seen = block.polls.observe(touch.gm, bytes, to);
    }
    if (seen == Polls::Seen::kChanged) {
        block.polls.clear();
        block.run->note_progress(*block.device);
    }
    if (tracing()) {
        trace_poll(block, owner, bytes, began_ns);
    }
}

void after_write(Block& block, Address gm) {
    note_visible_change(block);
    ring_for(block, gm);
}

void ring_for(Block& block, Address gm) {
    const Block::KnownRange* known = block.known_range(gm, 1);
    ring_for_memory_of(known != nullptr ? known->doorbell : memory_space().doorbell_of(gm));
}

void after_signal(Block& block) {
    note_visible_change(block);
    doorbell().ring();
}

void read_gm(Block& block, void* to, Address gm, uint64_t bytes) {
    const void* from = reinterpret_cast<const void*>(gm);
    InCopy faults(block);
    if (bytes <= kSmallBytes) {
        load_words(to, from, static_cast<uint32_t>(bytes));
    } else {
        std::memcpy(to, from, bytes);
        std::atomic_thread_fence(std::memory_order_acquire);
    }
}

void update_elements(Block& block, uint8_t* to, const uint8_t* from, uint64_t bytes) {
    apply_atomic_elements(to, from, bytes, block.atomic, block.atomic_type, saturates_half(block));
}

void write_gm(Block& block, Address gm, uint32_t ub, uint32_t bytes) {
    auto* to = reinterpret_cast<uint8_t*>(gm);
    const bool large = bytes > kSmallBytes && block.atomic == AIVOPS_EMU_ATOMIC_NONE;
    if (large) {
        block.lazy_loads.settle_sources(to, bytes);
    } else {
        block.lazy_loads.settle_all();
    }
    const uint8_t* from = block.lazy_loads.read(ub, bytes);
    InCopy faults(block);
    if (large) {
        store_large(block, to, from, bytes);
    } else if (block.atomic != AIVOPS_EMU_ATOMIC_NONE) {
        update_elements(block, to, from, bytes);
        block.device->counters().atomics.add(1);
    } else {
        store_words(to, from, bytes);
    }
}

uint32_t owner_of(Address gm) {
    return memory_space().owner(gm).value_or(0);
}

} // namespace aivops::machine
