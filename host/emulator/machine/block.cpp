#include "block.h"

#include "device.h"
#include "gm_words.h"
#include "kernel_run.h"
#include "late_pipes.h"
#include "race_check.h"
#include "report.h"
#include "settings.h"
#include "soc.h"

#include "acl/error_codes/rt_error_codes.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr uint8_t kPoison = 0xcb;
constexpr const char* kPipeNames[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3"};

size_t page_bytes() {
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Nothing may touch the `below` bytes in front, nor the page behind.
uint8_t* map_guarded(size_t bytes, size_t below) {
    void* all =
        mmap(nullptr, below + bytes + page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        throw std::bad_alloc();
    }
    uint8_t* usable = static_cast<uint8_t*>(all) + below;
    if (mprotect(usable, bytes, PROT_READ | PROT_WRITE) != 0) {
        throw std::bad_alloc();
    }
    return usable;
}

void unmap_guarded(uint8_t* usable, size_t bytes, size_t below) {
    munmap(usable - below, below + bytes + page_bytes());
}

void run_block(void* argument) {
    Block& block = *static_cast<Block*>(argument);
    block.own_stack.arrive(block.scheduler_stack);
    block.in_machine.store(false, std::memory_order_relaxed);
    block.run->call_entry();
    block.in_machine.store(true, std::memory_order_relaxed);
    block.run->check_end(block);
    give_way(block, BlockState::kFinished);
}

} // namespace

namespace {

// Calls `change(word, mask)` for each word of the bits [first, end).
template <typename Change>
void for_words(std::vector<uint64_t>& words, uint32_t first, uint32_t end, Change change) {
    while (first < end) {
        const uint32_t in_word = first % 64;
        const uint32_t count = std::min(64 - in_word, end - first);
        const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << in_word;
        change(words[first / 64], mask);
        first += count;
    }
}

} // namespace

void Validity::set(uint32_t ub, uint32_t bytes) {
    const uint32_t end = bytes == 0 ? 0 : (ub + bytes - 1) / kGranule + 1;
    for_words(bits_, ub / kGranule, end, [](uint64_t& word, uint64_t mask) { word |= mask; });
    reach_ = std::max(reach_, end);
}

void Validity::invalidate(uint32_t ub, uint32_t bytes) {
    for_words(bits_, (ub + kGranule - 1) / kGranule, (ub + bytes) / kGranule,
              [](uint64_t& word, uint64_t mask) { word &= ~mask; });
}

int64_t Validity::first_invalid(uint32_t ub, uint32_t bytes) const {
    if (bytes == 0) {
        return -1;
    }
    uint32_t last = (ub + bytes - 1) / kGranule;
    for (uint32_t granule = ub / kGranule; granule <= last;) {
        if (granule % 64 == 0 && granule + 63 <= last && bits_[granule / 64] == ~uint64_t{0}) {
            granule += 64;
        } else if ((bits_[granule / 64] >> (granule % 64) & 1) != 0) {
            ++granule;
        } else {
            return granule * kGranule;
        }
    }
    return -1;
}

Polls::Seen Polls::observe(Address gm, uint32_t bytes, const void* content, bool by_pointer) {
    generation_ = memory_space().generation();
    for (uint32_t index = 0; index < count_; ++index) {
        Poll& poll = polls_[index];
        if (poll.gm != gm || poll.bytes != bytes || poll.by_pointer != by_pointer) {
            continue;
        }
        last_ = index;
        poll.kept_back = false;
        if (std::memcmp(poll.content.data(), content, bytes) == 0) {
            ++unchanged_;
            return Seen::kUnchanged;
        }
        std::memcpy(poll.content.data(), content, bytes);
        unchanged_ = 0;
        return Seen::kChanged;
    }
    Poll& poll = polls_[next_];
    poll.gm = gm;
    poll.bytes = bytes;
    poll.by_pointer = by_pointer;
    poll.kept_back = false;
    std::memcpy(poll.content.data(), content, bytes);
    last_ = next_;
    next_ = (next_ + 1) % kKept;
    count_ = std::max(count_, next_ == 0 ? kKept : next_);
    unchanged_ = 0;
    return Seen::kFirst;
}

bool Polls::has(Address gm, uint32_t bytes) const {
    return std::any_of(polls_.begin(), polls_.begin() + count_,
                       [&](const Poll& poll) { return poll.gm == gm && poll.bytes == bytes && !poll.by_pointer; });
}

bool Polls::has_read_in(Address gm, uint32_t bytes) const {
    return std::any_of(polls_.begin(), polls_.begin() + count_, [&](const Poll& poll) {
        return poll.gm < gm + bytes && gm < poll.gm + poll.bytes && !poll.by_pointer;
    });
}

bool Polls::repeats(Address gm, uint64_t bytes) {
    generation_ = memory_space().generation();
    const uint32_t kept = std::min(large_count_, kKept);
    for (uint32_t index = 0; index < kept; ++index) {
        if (large_[index].gm == gm && large_[index].bytes == bytes) {
            return true;
        }
    }
    large_[large_count_++ % kKept] = {gm, bytes};
    return false;
}

bool Polls::any_changed() const {
    if (generation_ != memory_space().generation()) {
        return true;
    }
    for (uint32_t index = 0; index < count_; ++index) {
        const Poll& poll = polls_[index];
        if (poll.by_pointer && has_read_in(poll.gm, poll.bytes)) {
            continue; // the read tells, and this is not looked at any more
        }
        if (!poll.kept_back && !equal_words(reinterpret_cast<const void*>(poll.gm), poll.content.data(), poll.bytes)) {
            return true;
        }
    }
    return false;
}

bool Polls::any_kept_back() const {
    return std::any_of(polls_.begin(), polls_.begin() + count_, [](const Poll& poll) { return poll.kept_back; });
}

Polls::Piece Polls::latest() const {
    return count_ == 0
               ? Piece{}
               : Piece{polls_[last_].gm, polls_[last_].bytes, polls_[last_].content.data(), polls_[last_].by_pointer};
}

std::string Polls::describe() const {
    const Piece poll = latest();
    if (poll.bytes == 0) {
        return "nothing";
    }
    std::string text = describe_address(poll.gm) + ", where it finds";
    for (uint32_t byte = 0; byte < std::min(poll.bytes, 16u); byte += 4) {
        uint32_t word = 0;
        std::memcpy(&word, poll.content + byte, std::min(4u, poll.bytes - byte));
        text += " " + hex(word);
    }
    return text + (poll.bytes > 16 ? " …" : "");
}

std::string Events::describe(uint32_t source, uint32_t destination, uint32_t id) {
    const std::string pipes = std::string(kPipeNames[source]) + "_" + kPipeNames[destination];
    return id < kKernelIds ? pipes + " event id " + std::to_string(id) : pipes + " event of a queue";
}

Events::Leftovers Events::leftovers() const {
    Leftovers found;
    for (uint32_t source = 0; kernel_ids_touched_ && source < kPipes; ++source) {
        for (uint32_t destination = 0; destination < kPipes; ++destination) {
            for (uint32_t id = 0; id < kKernelIds; ++id) {
                int8_t flag = flags_[(source * kPipes + destination) * kIds + id];
                if (flag != 0) {
                    found.place = places_[(source * kPipes + destination) * kKernelIds + id];
                    found.text += std::string(found.text.empty() ? "" : ", ") + kPipeNames[source] + "_" +
                                  kPipeNames[destination] + " id " + std::to_string(id) +
                                  (flag > 0 ? " set and not waited for, at " : " waited for and not set, at ") +
                                  describe_place(found.place);
                }
            }
        }
    }
    return found;
}

const Block::KnownRange* Block::known_range(Address gm, uint64_t bytes) {
    const uint32_t generation = memory_space().generation();
    for (uint32_t index = 0; index < ranges_.size(); ++index) {
        if (ranges_[index].generation == generation && ranges_[index].range.contains(gm, bytes)) {
            if (index < kNearRanges) {
                return &ranges_[index];
            }
            std::swap(ranges_[index], ranges_[index / 2]);
            return &ranges_[index / 2];
        }
    }
    return nullptr;
}

void Block::learn_range(KnownRange range) {
    // From the back: those that are found often have moved away from there.
    oldest_range_ = oldest_range_ == 0 ? static_cast<uint32_t>(ranges_.size()) - 1 : oldest_range_ - 1;
    ranges_[oldest_range_] = std::move(range);
}

Core::Core(Device& device, uint32_t index)
    : ub(map_guarded(soc().ub_bytes, page_bytes())), stack(map_guarded(kStackBytes, kStackGuardBytes)),
      valid(soc().ub_bytes) {
    block.device = &device;
    block.core = this;
    if (settings().late) {
        races = std::make_unique<BlockRaces>(device.index(), index, soc().ub_bytes);
        pipes = std::make_unique<LatePipes>(block);
        block.races = races.get();
        block.pipes = pipes.get();
    }
    block.ub = ub;
    block.ub_bytes = soc().ub_bytes;
    block.npu_arch = soc().npu_arch;
}

Core::~Core() {
    unmap_guarded(ub, soc().ub_bytes, page_bytes());
    unmap_guarded(stack, kStackBytes, kStackGuardBytes);
}

void Core::start(KernelRun& run, uint32_t index, uint32_t count, size_t local_bytes) {
    if (block.pipes != nullptr) {
        std::memset(ub, kPoison, valid.reach()); // what an earlier block left may be just what this one fails to load
    }
    valid.clear();
    locals.assign(local_bytes, 0);
    std::memset(block.registers, 0, sizeof block.registers);
    block.index = index;
    block.count = count;
    block.pipe_object = nullptr;
    block.run = &run;
    block.state = BlockState::kReady;
    block.in_machine.store(true, std::memory_order_relaxed); // until its entry is called
    block.in_copy.store(false, std::memory_order_relaxed);
    block.atomic = AIVOPS_EMU_ATOMIC_NONE;
    block.atomic_type = AIVOPS_EMU_TYPE_NONE;
    block.waits_at = nullptr;
    block.told = 0;
    block.expected.clear();
    block.polls.clear();
    block.events.clear();
    block.lazy_loads.clear();
    block.recent_loads.clear();
    block.stored_bytes = 0;
    block.cache.clear();
    block.own_stack.begin(stack, kStackBytes);
    block.context = make_context(stack, kStackBytes, run_block, &block);
}

void raise_fault(Block& block, uint32_t category, const std::string& message, const void* place, const Access* other) {
    block.in_machine.store(true, std::memory_order_relaxed);
    const int code = category == AIVOPS_EMU_ASSERT     ? ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION
                     : category == AIVOPS_EMU_DEADLOCK ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT
                                                       : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    block.run->fail_block(block, {code, category_name(category), message, place, other});
    while (true) {
        give_way(block, BlockState::kFaulted);
    }
}

void raise_never_set(Block& block, uint32_t source, uint32_t destination, uint32_t id, const std::string& how,
                     const void* place) {
    const std::string others = block.events.leftovers().text;
    raise_fault(block, AIVOPS_EMU_DEADLOCK,
                "WaitFlag: " + Events::describe(source, destination, id) + " " + how + ", so this waits for ever" +
                    (others.empty() ? "" : "; " + others),
                place);
}

void raise_warning(Block& block, uint32_t category, const std::string& message, const void* place) {
    if (settings().check == Check::kStrict) {
        raise_fault(block, category, message, place);
    }
    block.run->warn_block(block, {0, category_name(category), message, place});
}

void give_way(Block& block, BlockState state) {
    if (state != BlockState::kFinished && state != BlockState::kFaulted) {
        block.lazy_loads.settle_all();
    }
    block.state = state;
    block.own_stack.leave_for(block.scheduler_stack);
    aivops_switch_context(&block.context, block.scheduler);
    block.own_stack.arrive(block.scheduler_stack);
}

} // namespace aivops::machine
