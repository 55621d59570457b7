// Vector instructions and scalar accesses to UB.
#include "access_check.h"
#include "device.h"
#include "instructions.h"
#include "late_pipes.h"

#include <algorithm>

namespace aivops::machine {
namespace {

void count(Block& block, const AivEmuCompute& instruction) {
    uint64_t read = 0;
    uint64_t written = 0;
    for (uint32_t index = 0; index < instruction.range_count; ++index) {
        const AivEmuRange& range = instruction.ranges[index];
        (range.write != 0 ? written : read) += range.bytes;
    }
    block.device->counters().instructions.add(instruction.name, read, written);
}

// Of operands with elements of one size, each in a row.
void check_overlaps(Block& block, const AivEmuCompute& instruction, const void* place) {
    constexpr uint32_t kMostOperands = 4;
    const AivEmuRange* const begin = instruction.ranges;
    const AivEmuRange* const end = begin + instruction.range_count;
    if (instruction.range_count > kMostOperands) {
        return;
    }
    for (const AivEmuRange* to = begin; to != end; ++to) {
        for (const AivEmuRange* from = begin; from != end; ++from) {
            if (to->write != 0 && from->write == 0 && to->bytes == from->bytes) {
                check_overlap(block, instruction.name, to->ub, from->ub, to->bytes, place);
            }
        }
    }
}

// Before they are used where they are.
void settle_operands(Block& block, const AivEmuCompute& instruction) {
    for (uint32_t index = 0; index < instruction.range_count; ++index) {
        block.lazy_loads.settle(instruction.ranges[index].ub, instruction.ranges[index].bytes);
    }
}

} // namespace

void compute(AivEmuBlock* handle, const AivEmuCompute* instruction) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const void* place = AIVOPS_PLACE;
    const Lane lane = lane_of(instruction->pipe);
    if (block.pipes != nullptr) {
        block.pipes->turn();
    }
    if (checking()) {
        for (uint32_t index = 0; index < instruction->range_count; ++index) {
            const AivEmuRange& range = instruction->ranges[index];
            check_ub(block, instruction->name, range.ub, range.bytes, range.align, place);
            if (range.write == 0) {
                check_read(block, instruction->name, range.ub, range.bytes, place);
            }
        }
        check_overlaps(block, *instruction, place);
        for (uint32_t index = 0; index < instruction->range_count; ++index) {
            const AivEmuRange& range = instruction->ranges[index];
            if (range.write != 0) {
                block.core->valid.set(range.ub, range.bytes);
            }
        }
    }
    count(block, *instruction);
    if (block.pipes != nullptr && lane == Lane::kVector) {
        block.pipes->compute(*instruction, place);
        return;
    }
    if (block.races != nullptr) {
        block.races->begin(lane, block.races->issue());
    }
    for (uint32_t index = 0; block.races != nullptr && index < instruction->range_count; ++index) {
        const AivEmuRange& range = instruction->ranges[index];
        track_ub(block, lane, instruction->name, range.ub, range.bytes, range.write != 0, place);
    }
    settle_operands(block, *instruction);
    InCopy faults(block);
    instruction->execute(block.ub, instruction->parameters);
}

void* ub_scalar(AivEmuBlock* handle, uint32_t ub, uint32_t bytes, int write) {
    Block& block = block_of(handle);
    InMachine inside(block);
    const char* name = write != 0 ? "SetValue" : "GetValue";
    if (checking()) {
        const void* place = AIVOPS_PLACE;
        check_ub(block, name, ub, bytes, 1, place);
        if (write == 0) {
            check_read(block, name, ub, bytes, place);
        } else {
            block.core->valid.set(ub, bytes);
        }
    }
    block.device->counters().instructions.add(name, write != 0 ? 0 : bytes, write != 0 ? bytes : 0);
    if (block.pipes != nullptr) {
        block.pipes->turn();
        block.races->begin(Lane::kScalar, block.races->issue());
    }
    track_ub(block, Lane::kScalar, name, ub, bytes, write != 0, AIVOPS_PLACE);
    block.lazy_loads.settle(ub, bytes);
    return block.ub + ub;
}

void ub_invalidate(AivEmuBlock* handle, uint32_t ub, uint32_t bytes) {
    Block& block = block_of(handle);
    // Reservations may exceed the buffer as long as nobody touches the rest.
    if (ub < block.ub_bytes) {
        bytes = std::min(bytes, block.ub_bytes - ub);
        block.core->valid.invalidate(ub, bytes);
        block.lazy_loads.forget(ub, bytes);
    }
}

} // namespace aivops::machine
