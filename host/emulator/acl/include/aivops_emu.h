// What the emulated toolkit can tell beyond ACL: exact traffic of a device's kernels by owner of the memory, their
// instructions, and what a sweep of schedules has to cover.
// Functions of libacl_rt.so and libascendcl.so; CANN has none of them. Installed as aivops/emulator.h.
#ifndef AIVOPS_EMULATOR_H
#define AIVOPS_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Traffic between one device's kernels and the memory of one owner. A small access has at most 128 bytes: flags and
/// single words; it is part of the totals as well. A small read of what the block just read, with nothing done in
/// between that others could see, is a poll: it is counted as one and in no other member.
typedef struct aivopsEmuTraffic {
    uint64_t readBytes;
    uint64_t writtenBytes;
    uint64_t smallReads;
    uint64_t smallReadBytes;
    uint64_t smallWrites;
    uint64_t smallWrittenBytes;
    uint64_t polls;
    uint64_t pollBytes;
} aivopsEmuTraffic;

typedef struct aivopsEmuCounters {
    aivopsEmuTraffic local;  // the device's own memory
    aivopsEmuTraffic remote; // all other devices' together
    uint64_t launches;
    uint64_t blocks;
    uint64_t syncAlls; // calls, one per block
    uint64_t atomics;
} aivopsEmuCounters;

/// Instructions that work on the unified buffer, by the name that reports give them: those of the vector unit ("Add",
/// "Cast", "DataCopy" within the buffer), and the scalar unit's "GetValue" and "SetValue". Bytes are those of the
/// buffer that they may touch. Copies to and from GM are traffic.
typedef struct aivopsEmuInstruction {
    char name[32];
    uint64_t issued;
    uint64_t readBytes;
    uint64_t writtenBytes;
} aivopsEmuInstruction;

/// All of them return ACL codes: 0, 107001 for a device that does not exist, 100000 for NULL.
/// Counters change while kernels run; synchronise first.
__attribute__((visibility("default"))) int aivopsEmuGetCounters(int32_t device, aivopsEmuCounters* counters);
__attribute__((visibility("default"))) int aivopsEmuGetTraffic(int32_t device, int32_t owner,
                                                               aivopsEmuTraffic* traffic);
/// Writes those that the device has issued to `instructions`, as far as `capacity` goes, and their number to `count`.
__attribute__((visibility("default"))) int aivopsEmuGetInstructions(int32_t device, aivopsEmuInstruction* instructions,
                                                                    size_t capacity, size_t* count);
__attribute__((visibility("default"))) int aivopsEmuResetCounters(int32_t device);

/// What AIVOPS_EMU_SCHEDULE=sweep:K can hold back: K below `devices`, then K - devices below `instructions`, which
/// counts those that this process has come to; in a run whose own K is not below devices + instructions that is all of
/// them. 100000 for NULL.
__attribute__((visibility("default"))) int aivopsEmuGetSweep(uint64_t* devices, uint64_t* instructions);

/// Begins the schedule of a seed: what late and strict mode choose from here on is what a process that starts with
/// AIVOPS_EMU_SEED=seed chooses. 107000 while a device has work, 207000 outside of late and strict
/// mode.
__attribute__((visibility("default"))) int aivopsEmuBeginSchedule(uint64_t seed);

/// The AIVOPS_EMU_* variables as a Markdown table; owned by the library.
__attribute__((visibility("default"))) const char* aivopsEmuDescribeSettings(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // AIVOPS_EMULATOR_H
