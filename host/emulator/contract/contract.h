// The contract between an emulated kernel binary and the emulator, in plain C.
// A kernel binary has no undefined AivOps symbols: the machine finds the objects below by name after dlopen, writes one
// function table and the running block into the binding, and calls entries through their thunks.
// Every change of a layout or a meaning here raises AIVOPS_EMU_CONTRACT_VERSION; binaries of another version are
// refused.
#ifndef AIVOPS_EMULATOR_CONTRACT_H
#define AIVOPS_EMULATOR_CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AIVOPS_EMU_CONTRACT_VERSION 1u

// ---- Records: sections that tools read without loading the binary. Little-endian, no pointers. ----

// Section ".aivops.contract": one record per translation unit, all equal in a linked binary.
#define AIVOPS_EMU_CONTRACT_SECTION ".aivops.contract"
#define AIVOPS_EMU_CONTRACT_MAGIC "AIVEMU\0"
typedef struct AivEmuContractRecord {
    char magic[8];             // AIVOPS_EMU_CONTRACT_MAGIC
    uint32_t contract_version; // AIVOPS_EMU_CONTRACT_VERSION
    uint32_t npu_arch;         // 2201 (dav-c220-vec) or 3510 (dav-c310-vec)
    char toolkit_version[16];  // NUL-terminated version of the toolkit that compiled it
} AivEmuContractRecord;

// Section ".aivops.layout.<kernel>": a header, then `parameter_count` parameters.
#define AIVOPS_EMU_LAYOUT_SECTION_PREFIX ".aivops.layout."
#define AIVOPS_EMU_LAYOUT_MAGIC "AIVARGS"
typedef struct AivEmuLayoutHeader {
    char magic[8];           // AIVOPS_EMU_LAYOUT_MAGIC
    uint32_t layout_version; // 1
    uint32_t parameter_count;
    uint32_t args_size; // bytes of the argument block: parameters in order, each at its natural alignment, rounded up
                        // to the largest of these alignments (sizeof of the struct a host would fill)
    uint32_t reserved;  // 0
} AivEmuLayoutHeader;

typedef enum AivEmuParameterKind {
    AIVOPS_EMU_PARAMETER_STRUCT = 0, // passed by value: any class type
    AIVOPS_EMU_PARAMETER_POINTER = 1,
    AIVOPS_EMU_PARAMETER_INT = 2,
    AIVOPS_EMU_PARAMETER_UINT = 3,
    AIVOPS_EMU_PARAMETER_FLOAT = 4, // float or double, by size
    AIVOPS_EMU_PARAMETER_BOOL = 5,
    AIVOPS_EMU_PARAMETER_HALF = 6,
    AIVOPS_EMU_PARAMETER_BFLOAT16 = 7
} AivEmuParameterKind;

typedef struct AivEmuParameter {
    uint32_t offset;
    uint32_t size;
    uint32_t kind;     // AivEmuParameterKind
    uint32_t reserved; // 0
    char name[48];     // NUL-terminated; empty when the source does not name it; longer names are cut
} AivEmuParameter;

// ---- Objects the machine looks up with dlsym. They are data symbols, so none of them reads as a kernel. ----

// "__aivops_entry_<kernel>"
#define AIVOPS_EMU_ENTRY_PREFIX "__aivops_entry_"
typedef struct AivEmuEntry {
    uint32_t contract_version;
    uint32_t args_size;
    void (*call)(const void* args); // unpacks the argument block and calls the kernel
} AivEmuEntry;

// "__aivops_binding": weak, one per linked binary. The machine loads one copy of a binary per device and never runs two
// blocks of one device at the same time, so plain globals of the copy are per-device kernel globals.
#define AIVOPS_EMU_BINDING_SYMBOL "__aivops_binding"
typedef struct AivEmuTable AivEmuTable;
typedef struct AivEmuBlock AivEmuBlock;
typedef struct AivEmuBinding {
    const AivEmuTable* table;
    AivEmuBlock* block; // the block that runs now; the machine writes it at every switch
} AivEmuBinding;

typedef enum AivEmuRegister {
    AIVOPS_EMU_REGISTER_PAD_VALUE = 0,   // bit pattern of SetPadValue
    AIVOPS_EMU_REGISTER_PAD_DEFINED = 1, // 1 once SetPadValue ran
    AIVOPS_EMU_REGISTER_CONTROL = 2,     // bits of SetCtrlSpr that differ from their reset value
    AIVOPS_EMU_REGISTER_MASK_LOW = 3,    // vector mask, inverted: 0 selects every lane
    AIVOPS_EMU_REGISTER_MASK_HIGH = 4,
    AIVOPS_EMU_REGISTER_MASK_MODE = 5,      // 0 bit mode, 1 counter mode
    AIVOPS_EMU_REGISTER_PARAMETER_BASE = 6, // argument block, written by the entry
    AIVOPS_EMU_REGISTER_ATOMIC = 7,         // AivEmuAtomic that SetAtomicType keeps; 0 means add
    AIVOPS_EMU_REGISTER_COUNT = 16
} AivEmuRegister;

// What a kernel may see of its block. The machine embeds it at the start of its own record.
struct AivEmuBlock {
    uint32_t index;    // 0 .. count-1
    uint32_t count;    // numBlocks of the launch
    uint8_t* ub;       // unified buffer of this block
    uint32_t ub_bytes; // its physical size on this SoC
    uint32_t npu_arch; // 2201 or 3510
    void* pipe_object; // the TPipe that GetTPipePtr() returns; owned by the Ascend C headers
    // Special registers the Ascend C headers keep per block (AivEmuRegister); the machine zeroes them when a block
    // starts.
    uint64_t registers[AIVOPS_EMU_REGISTER_COUNT];
};

// ---- Instructions ----

// Numbering of pipe_t on the device.
typedef enum AivEmuPipe {
    AIVOPS_EMU_PIPE_S = 0,
    AIVOPS_EMU_PIPE_V = 1,
    AIVOPS_EMU_PIPE_M = 2,
    AIVOPS_EMU_PIPE_MTE1 = 3,
    AIVOPS_EMU_PIPE_MTE2 = 4,
    AIVOPS_EMU_PIPE_MTE3 = 5,
    AIVOPS_EMU_PIPE_ALL = 6
} AivEmuPipe;

typedef enum AivEmuType {
    AIVOPS_EMU_TYPE_NONE = 0,
    AIVOPS_EMU_TYPE_FLOAT = 1,
    AIVOPS_EMU_TYPE_HALF = 2,
    AIVOPS_EMU_TYPE_INT16 = 3,
    AIVOPS_EMU_TYPE_INT32 = 4,
    AIVOPS_EMU_TYPE_INT8 = 5,
    AIVOPS_EMU_TYPE_BFLOAT16 = 6,
    AIVOPS_EMU_TYPE_UINT32 = 7,
    AIVOPS_EMU_TYPE_INT64 = 8,
    AIVOPS_EMU_TYPE_UINT64 = 9
} AivEmuType;

typedef enum AivEmuAtomic {
    AIVOPS_EMU_ATOMIC_NONE = 0,
    AIVOPS_EMU_ATOMIC_ADD = 1,
    AIVOPS_EMU_ATOMIC_MAX = 2,
    AIVOPS_EMU_ATOMIC_MIN = 3,
    AIVOPS_EMU_ATOMIC_EXCHANGE = 4,
    AIVOPS_EMU_ATOMIC_COMPARE_EXCHANGE = 5
} AivEmuAtomic;

typedef enum AivEmuDirection {
    AIVOPS_EMU_GM_TO_UB = 0, // PIPE_MTE2
    AIVOPS_EMU_UB_TO_GM = 1, // PIPE_MTE3; honours the atomic mode latched when it is issued
    AIVOPS_EMU_UB_TO_UB = 2  // PIPE_V
} AivEmuDirection;

// UB offsets from here on are those of a tensor that nobody gave any bytes.
#define AIVOPS_EMU_NO_UB 0x80000000u

// One copy instruction, strides already in bytes. In UB every block starts 32-byte aligned, strides are gaps between
// the (padded) end of one block and the start of the next, as in the documentation of DataCopy and DataCopyPad.
typedef struct AivEmuCopy {
    const char* name;      // the API the kernel called, for reports
    uint8_t direction;     // AivEmuDirection
    uint8_t element_bytes; // size of T
    uint8_t pad_left;      // GM_TO_UB with padding: elements put before and behind each block
    uint8_t pad_right;
    uint8_t pad_defined; // filler, up to the next 32 bytes too: 0 unspecified, 1 pad_value, 2 the block's first element
    uint8_t compact;     // 1: blocks are packed in UB without rounding each to 32 bytes
    uint8_t byte_exact; // 1: DataCopyPad (any byte count); 0: DataCopy, block_bytes as asked for: the machine rounds it
                        // down to whole 32-byte units, as the hardware does, and says so
    uint8_t reserved;
    uint32_t block_count;
    uint32_t block_bytes; // without padding
    int64_t gm_gap;       // bytes between blocks on the GM side
    uint32_t ub_gap;      // bytes between blocks on the UB side (source side for UB_TO_UB)
    uint32_t ub_dst_gap;  // UB_TO_UB only
    uint32_t ub;          // UB offset in bytes (source for UB_TO_UB)
    uint32_t ub_dst;      // UB_TO_UB only
    uint64_t gm;          // GM address
    uint64_t pad_value;   // bit pattern of one element
} AivEmuCopy;

typedef struct AivEmuRange {
    uint32_t ub; // UB offset in bytes
    uint32_t bytes;
    uint8_t write; // 0 read, 1 write
    uint8_t align; // required alignment of `ub` in bytes; 0 = none
    uint8_t reserved[2];
} AivEmuRange;

// One instruction on UB. The machine checks the ranges and runs `execute` now or, where the contract of the hardware
// lets it be late, later; so `parameters` are copied and hold UB offsets, never pointers.
typedef struct AivEmuCompute {
    const char* name;
    uint8_t pipe; // AivEmuPipe: V, or S for whole-tensor scalar work
    uint8_t range_count;
    uint16_t parameter_bytes; // at most 256
    uint32_t reserved;
    const AivEmuRange* ranges;
    void (*execute)(uint8_t* ub, const void* parameters);
    const void* parameters;
} AivEmuCompute;

// Categories of the field's sanitizers; see docs/emulator.md.
typedef enum AivEmuCategory {
    AIVOPS_EMU_MEMCHECK = 0,
    AIVOPS_EMU_RACECHECK = 1,
    AIVOPS_EMU_INITCHECK = 2,
    AIVOPS_EMU_SYNCCHECK = 3,
    AIVOPS_EMU_DEADLOCK = 4,
    AIVOPS_EMU_ASSERT = 5 // device assert, trap
} AivEmuCategory;

// "aivops_block_local": the section that [[block_local]] variables live in. A binary that has some exports
// "__aivops_block_locals"; the machine gives every block its own copy of these bytes, zeroed when the block starts.
#define AIVOPS_EMU_BLOCK_LOCALS_SYMBOL "__aivops_block_locals"
typedef struct AivEmuBlockLocals {
    void* begin;
    void* end;
} AivEmuBlockLocals;

// The machine takes the place in the kernel from the return address of these calls, so the headers inline down to them.
struct AivEmuTable {
    uint32_t contract_version;
    uint32_t table_bytes; // sizeof(AivEmuTable) of the machine

    void (*copy)(AivEmuBlock*, const AivEmuCopy*);
    void (*compute)(AivEmuBlock*, const AivEmuCompute*);
    // Scalar access to UB: checks, and returns the host address of `ub`. Valid until the next call into the table.
    void* (*ub_scalar)(AivEmuBlock*, uint32_t ub, uint32_t bytes, int write);
    // The content of these bytes becomes unspecified (a freed or freshly allocated tensor).
    void (*ub_invalidate)(AivEmuBlock*, uint32_t ub, uint32_t bytes);

    // Scalar access to GM through the core's data cache (1, 2, 4 or 8 bytes), past it, and cache maintenance.
    void (*gm_load)(AivEmuBlock*, const void* gm, void* value, uint32_t bytes);
    void (*gm_store)(AivEmuBlock*, void* gm, const void* value, uint32_t bytes);
    void (*gm_load_uncached)(AivEmuBlock*, const void* gm, void* value, uint32_t bytes);
    void (*gm_store_uncached)(AivEmuBlock*, void* gm, const void* value, uint32_t bytes);
    void (*gm_atomic)(AivEmuBlock*, uint32_t atomic, uint32_t type, void* gm, const void* operand, const void* compare,
                      void* old_value);
    void (*cache_clean_invalidate)(AivEmuBlock*, const void* gm, int entire, uint32_t destination);
    void (*memory_barrier)(AivEmuBlock*, uint32_t kind);

    void (*set_atomic)(AivEmuBlock*, uint32_t atomic, uint32_t type);

    // Order inside a block. Event ids 0-7 are the kernel's; ids from 8 on belong to the queues of the headers.
    void (*pipe_barrier)(AivEmuBlock*, uint32_t pipe);
    void (*set_flag)(AivEmuBlock*, uint32_t source_pipe, uint32_t destination_pipe, uint32_t id);
    void (*wait_flag)(AivEmuBlock*, uint32_t source_pipe, uint32_t destination_pipe, uint32_t id);

    // Order between blocks of a launch.
    void (*sync_all)(AivEmuBlock*);
    void (*cross_core_set)(AivEmuBlock*, uint32_t mode, uint32_t pipe, uint32_t id);
    void (*cross_core_wait)(AivEmuBlock*, uint32_t mode, uint32_t pipe, uint32_t id);

    // `fault` ends the block: it does not return. `warn` is reported once per place.
    void (*fault)(AivEmuBlock*, uint32_t category, const char* message);
    void (*warn)(AivEmuBlock*, uint32_t category, const char* message);
    void (*print)(AivEmuBlock*, const char* text, size_t bytes);
    uint64_t (*cycle)(AivEmuBlock*);
};

#ifdef __cplusplus
} // extern "C"
#endif

#endif // AIVOPS_EMULATOR_CONTRACT_H
