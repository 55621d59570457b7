#include "inquiry.h"

#include "copies.h"
#include "report.h"

#include <algorithm>
#include <cstring>

namespace aivops::machine {
namespace {

constexpr uint32_t kValuesAhead = 16; // of what the flag holds: steps of a call, usually one

// Pipes are empty when nothing moves any more, and no check has a say in what never happens.
Block& asked(AivEmuBlock* handle) {
    Block& block = block_of(handle);
    block.pipes = nullptr;
    block.races = nullptr;
    return block;
}

void copy(AivEmuBlock* handle, const AivEmuCopy* instruction) {
    Block& block = asked(handle);
    InMachine inside(block);
    if (instruction->direction == AIVOPS_EMU_UB_TO_GM ||
        (instruction->direction == AIVOPS_EMU_GM_TO_UB &&
         !(is_small(*instruction) && block.polls.has(instruction->gm, instruction->block_bytes)))) {
        block.inquiry->went_on();
    }
    copy_now(block, *instruction, false, nullptr);
    if (instruction->direction == AIVOPS_EMU_GM_TO_UB &&
        block.inquiry->is_flag(instruction->gm, instruction->block_bytes)) {
        block.inquiry->show(block.ub + instruction->ub + instruction->pad_left * instruction->element_bytes);
    }
}

void compute(AivEmuBlock* handle, const AivEmuCompute* instruction) {
    Block& block = asked(handle);
    InMachine inside(block);
    InCopy faults(block);
    instruction->execute(block.ub, instruction->parameters);
}

void* ub_scalar(AivEmuBlock* handle, uint32_t ub, uint32_t, int) {
    return asked(handle).ub + ub;
}

void gm_load(AivEmuBlock* handle, const void* gm, void* value, uint32_t bytes) {
    Block& block = asked(handle);
    InMachine inside(block);
    if (!block.polls.has(reinterpret_cast<Address>(gm), bytes)) {
        block.inquiry->went_on();
    }
    InCopy faults(block);
    std::memcpy(value, gm, bytes);
    if (block.inquiry->is_flag(reinterpret_cast<Address>(gm), bytes)) {
        block.inquiry->show(static_cast<uint8_t*>(value));
    }
}

void gm_store(AivEmuBlock* handle, void*, const void*, uint32_t) {
    asked(handle).inquiry->went_on();
}

void gm_atomic(AivEmuBlock* handle, uint32_t, uint32_t, void*, const void*, const void*, void*) {
    asked(handle).inquiry->went_on();
}

void sync_all(AivEmuBlock* handle) {
    asked(handle).inquiry->went_on();
}

void cross_core(AivEmuBlock* handle, uint32_t, uint32_t, uint32_t) {
    asked(handle).inquiry->went_on();
}

void fault(AivEmuBlock* handle, uint32_t, const char*) {
    asked(handle).inquiry->went_on();
}

// Time stands still, so that a loop with a limit of its own ends by the flag only.
uint64_t cycle(AivEmuBlock*) {
    return 0;
}

} // namespace

const AivEmuTable kInquiryTable = {
    .contract_version = AIVOPS_EMU_CONTRACT_VERSION,
    .table_bytes = sizeof(AivEmuTable),
    .copy = copy,
    .compute = compute,
    .ub_scalar = ub_scalar,
    .ub_invalidate = [](AivEmuBlock*, uint32_t, uint32_t) {},
    .gm_load = gm_load,
    .gm_store = gm_store,
    .gm_load_uncached = gm_load,
    .gm_store_uncached = gm_store,
    .gm_atomic = gm_atomic,
    .cache_clean_invalidate = [](AivEmuBlock*, const void*, int, uint32_t) {},
    .memory_barrier = [](AivEmuBlock*, uint32_t) {},
    .set_atomic = [](AivEmuBlock*, uint32_t, uint32_t) {},
    .pipe_barrier = [](AivEmuBlock*, uint32_t) {},
    .set_flag = [](AivEmuBlock*, uint32_t, uint32_t, uint32_t) {},
    .wait_flag = [](AivEmuBlock*, uint32_t, uint32_t, uint32_t) {},
    .sync_all = sync_all,
    .cross_core_set = cross_core,
    .cross_core_wait = cross_core,
    .fault = fault,
    .warn = [](AivEmuBlock*, uint32_t, const char*) {},
    .print = [](AivEmuBlock*, const char*, size_t) {},
    .cycle = cycle,
};

Inquiry::Inquiry(Block& block) : block_(block), polls_(block.polls) {
    const Polls::Piece polled = block.polls.latest();
    flag_ = polled.gm;
    bytes_ = polled.bytes;
    uint32_t found = 0;
    std::memcpy(&found, polled.content, std::min<size_t>(bytes_, sizeof found));
    for (uint32_t ahead = 1; ahead <= kValuesAhead; ++ahead) {
        values_.push_back(found + ahead);
    }
    // Who tells its peers a tag often waits for the same; and flags are waited for to go.
    for (const uint32_t value : {block.told, block.told - 1, block.told + 1, found - 1, 0u}) {
        if (value != found && std::find(values_.begin(), values_.end(), value) == values_.end()) {
            values_.push_back(value);
        }
    }
    block.inquiry = this;
}

Inquiry::~Inquiry() {
    block_.inquiry = nullptr;
    block_.polls = polls_;
    block_.pipes = block_.core->pipes.get();
    block_.races = block_.core->races.get();
}

std::string Inquiry::answer() const {
    if (expected_) {
        return " and goes on with " + hex(*expected_);
    }
    return " and goes on with none of " + hex(values_.front()) + " to " + hex(values_.front() + kValuesAhead - 1) +
           " in its first word";
}

void Inquiry::show(uint8_t* content) {
    if (next_ == values_.size()) {
        stop(std::nullopt);
    }
    shown_ = values_[next_++];
    std::memcpy(content, &*shown_, std::min<size_t>(bytes_, sizeof *shown_));
}

void Inquiry::stop(std::optional<uint32_t> expected) {
    block_.in_machine.store(true, std::memory_order_relaxed);
    expected_ = expected;
    over_ = true;
    while (true) {
        give_way(block_, BlockState::kHeld);
    }
}

} // namespace aivops::machine
