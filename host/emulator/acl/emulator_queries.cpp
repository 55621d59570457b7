// What only the emulator has: exact traffic, instructions, schedules, and its settings.
#include "include/aivops_emu.h"

#include "errors.h"
#include "objects.h"

#include "machine/schedule.h"
#include "machine/settings.h"

#include <cstring>

using namespace aivops::acl;
namespace machine = aivops::machine;

namespace {

void add(aivopsEmuTraffic& total, const machine::Traffic& traffic) {
    total.readBytes += traffic.read_bytes.get();
    total.writtenBytes += traffic.written_bytes.get();
    total.smallReads += traffic.small_reads.get();
    total.smallReadBytes += traffic.small_read_bytes.get();
    total.smallWrites += traffic.small_writes.get();
    total.smallWrittenBytes += traffic.small_written_bytes.get();
    total.polls += traffic.polls.get();
    total.pollBytes += traffic.poll_bytes.get();
}

machine::Counters* counters_of(const char* function, int32_t device, int& error) {
    if (!runtime().has_device(device)) {
        error = fail(function, ACL_ERROR_RT_INVALID_DEVICEID, "there is no device " + std::to_string(device));
        return nullptr;
    }
    error = ACL_SUCCESS;
    return &machine::machine().device(static_cast<uint32_t>(device)).counters();
}

} // namespace

int aivopsEmuGetCounters(int32_t device, aivopsEmuCounters* counters) {
    if (counters == nullptr) {
        return null_argument(__func__, "counters");
    }
    int error = ACL_SUCCESS;
    machine::Counters* found = counters_of(__func__, device, error);
    if (found == nullptr) {
        return error;
    }
    *counters = {};
    for (uint32_t owner = 0; owner < machine::kMaxOwners; ++owner) {
        add(owner == static_cast<uint32_t>(device) ? counters->local : counters->remote, found->by_owner[owner]);
    }
    counters->launches = found->launches.get();
    counters->blocks = found->blocks.get();
    counters->syncAlls = found->sync_alls.get();
    counters->atomics = found->atomics.get();
    return ACL_SUCCESS;
}

int aivopsEmuGetTraffic(int32_t device, int32_t owner, aivopsEmuTraffic* traffic) {
    if (traffic == nullptr) {
        return null_argument(__func__, "traffic");
    }
    int error = ACL_SUCCESS;
    machine::Counters* found = counters_of(__func__, device, error);
    if (found == nullptr || counters_of(__func__, owner, error) == nullptr) {
        return error;
    }
    *traffic = {};
    add(*traffic, found->by_owner[static_cast<uint32_t>(owner)]);
    return ACL_SUCCESS;
}

int aivopsEmuGetInstructions(int32_t device, aivopsEmuInstruction* instructions, size_t capacity, size_t* count) {
    if (count == nullptr || (instructions == nullptr && capacity != 0)) {
        return null_argument(__func__, count == nullptr ? "count" : "instructions");
    }
    int error = ACL_SUCCESS;
    machine::Counters* found = counters_of(__func__, device, error);
    if (found == nullptr) {
        return error;
    }
    *count = 0;
    for (const machine::InstructionCount& instruction : found->instructions.all()) {
        if (instruction.issued.get() == 0) {
            continue;
        }
        if (*count < capacity) {
            aivopsEmuInstruction& written = instructions[*count];
            static_assert(sizeof written.name == sizeof instruction.name);
            std::memcpy(written.name, instruction.name.data(), sizeof written.name);
            written.issued = instruction.issued.get();
            written.readBytes = instruction.read_bytes.get();
            written.writtenBytes = instruction.written_bytes.get();
        }
        ++*count;
    }
    return ACL_SUCCESS;
}

int aivopsEmuResetCounters(int32_t device) {
    int error = ACL_SUCCESS;
    if (machine::Counters* found = counters_of(__func__, device, error)) {
        found->reset();
    }
    return error;
}

int aivopsEmuGetSweep(uint64_t* devices, uint64_t* instructions) {
    if (devices == nullptr || instructions == nullptr) {
        return null_argument(__func__, devices == nullptr ? "devices" : "instructions");
    }
    *devices = machine::machine().device_count();
    *instructions = machine::schedule().places();
    return ACL_SUCCESS;
}

int aivopsEmuBeginSchedule(uint64_t seed) {
    if (!machine::settings().late) {
        return fail(__func__, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "there are schedules with AIVOPS_EMU_CHECK=late or strict only");
    }
    for (uint32_t index = 0; index < machine::machine().device_count(); ++index) {
        if (machine::machine().device(index).has_work()) {
            return fail(__func__, ACL_ERROR_RT_PARAM_INVALID,
                        "device " + std::to_string(index) + " has work; synchronise it first");
        }
    }
    machine::machine().device(0).while_still([seed] { machine::begin_schedule(seed); });
    return ACL_SUCCESS;
}

const char* aivopsEmuDescribeSettings(void) {
    static const std::string table = [] {
        std::string text = "| variable | default | meaning |\n|---|---|---|\n";
        for (const machine::Variable& variable : machine::variables()) {
            text += std::string("| `") + variable.name + "` | " + variable.default_value + " | " + variable.meaning +
                    " |\n";
        }
        return text;
    }();
    return table.c_str();
}
