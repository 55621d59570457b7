// The records of `.ascend.meta` sections: the walk exactly as the CANN runtime does it, and what each type holds.
// Facts: type numbers rt_external_base.h, layouts elf.hpp of the CANN runtime.
#ifndef AIVOPS_KERNEL_BINARY_RECORDS_H
#define AIVOPS_KERNEL_BINARY_RECORDS_H

#include "aivops/kernel_binary/bytes.h"

namespace aivops::kernel_binary {

inline constexpr std::string_view kKernelMetaPrefix = ".ascend.meta.";
inline constexpr std::string_view kBinaryMetaSection = ".ascend.meta";
inline constexpr std::string_view kStackRecordSection = ".ascend.stack.size.record";
inline constexpr std::string_view kArgumentSizeSection = "__CCE_KernelArgSize";

namespace kernel_record {
constexpr std::uint16_t kPadding = 0;
constexpr std::uint16_t kKernelType = 1;
constexpr std::uint16_t kCrossCore = 2;
constexpr std::uint16_t kTaskRatio = 3;
constexpr std::uint16_t kDfx = 4;
constexpr std::uint16_t kDfxArgument = 5;
constexpr std::uint16_t kDfxIsTik = 6;
constexpr std::uint16_t kUbSize = 7;
constexpr std::uint16_t kStackSize = 8;
constexpr std::uint16_t kSimtWarpStack = 9;
constexpr std::uint16_t kDivergedWarpStack = 10;
constexpr std::uint16_t kEarlyStart = 11;
constexpr std::uint16_t kVectorFlag = 12;
constexpr std::uint16_t kDeterministic = 13;
constexpr std::uint16_t kFunctionEntry = 14;
constexpr std::uint16_t kBlockCount = 15;
constexpr std::uint16_t kParameterSummary = 16;
constexpr std::uint16_t kParameter = 17;
constexpr std::uint16_t kScheduleMode = 18;
constexpr std::uint16_t kLastKnown = kScheduleMode;
} // namespace kernel_record

namespace binary_record {
constexpr std::uint16_t kVersion = 0;
constexpr std::uint16_t kDebug = 1;
constexpr std::uint16_t kDynamicParameter = 2;
constexpr std::uint16_t kOptionalParameter = 3;
constexpr std::uint16_t kImplicitInfo = 4;
constexpr std::uint16_t kSuperKernel = 5;
constexpr std::uint16_t kLastKnown = kSuperKernel;
} // namespace binary_record

// Values of KERNEL_TYPE.
namespace kernel_type {
constexpr std::uint32_t kInvalid = 0;
constexpr std::uint32_t kAiCore = 1;
constexpr std::uint32_t kCube = 2;
constexpr std::uint32_t kVector = 3;
constexpr std::uint32_t kMixCubeMain = 4;
constexpr std::uint32_t kMixVectorMain = 5;
constexpr std::uint32_t kCubeRollback = 6;
constexpr std::uint32_t kVectorRollback = 7;
} // namespace kernel_type

inline const char* kernel_type_name(std::uint32_t type) {
    constexpr const char* kNames[] = {"INVALID",
                                      "K_TYPE_AICORE",
                                      "K_TYPE_AIC",
                                      "K_TYPE_AIV",
                                      "K_TYPE_MIX_AIC_MAIN",
                                      "K_TYPE_MIX_AIV_MAIN",
                                      "K_TYPE_AIC_ROLLBACK",
                                      "K_TYPE_AIV_ROLLBACK"};
    return type < sizeof(kNames) / sizeof(kNames[0]) ? kNames[type] : "unknown kernel type";
}

struct Record {
    std::uint16_t type = 0;
    std::uint16_t length = 0;
    std::uint64_t offset = 0; // of the head, in the section
    ByteView payload;
};

struct WalkEnd {
    std::uint64_t offset = 0; // where the walk stopped
    std::uint64_t left = 0;   // bytes that no record covers
    bool overrun = false;     // a record there claims more than is left
    std::uint16_t overrun_type = 0;
    std::uint16_t overrun_length = 0;
};

// elf.cc:737-762: a head is read only while more than four bytes are left; a record longer than the rest ends the walk.
template <typename Visit>
WalkEnd walk_records(ByteView section, Visit&& visit) {
    WalkEnd end;
    while (section.size() - end.offset > 4) {
        Record record;
        record.type = section.little<std::uint16_t>(end.offset);
        record.length = section.little<std::uint16_t>(end.offset + 2);
        record.offset = end.offset;
        const std::uint64_t bytes = std::uint64_t{4} + record.length;
        if (bytes > section.size() - end.offset) {
            end.overrun = true;
            end.overrun_type = record.type;
            end.overrun_length = record.length;
            break;
        }
        record.payload = section.slice(end.offset + 4, record.length);
        visit(record);
        end.offset += bytes;
    }
    end.left = section.size() - end.offset;
    return end;
}

// Payload bytes that the runtime's struct of this type has; 0 = a list of any length, or a type without a struct.
inline std::uint16_t kernel_record_bytes(std::uint16_t type) {
    switch (type) {
    case kernel_record::kKernelType:
    case kernel_record::kCrossCore:
    case kernel_record::kTaskRatio:
    case kernel_record::kUbSize:
    case kernel_record::kStackSize:
    case kernel_record::kSimtWarpStack:
    case kernel_record::kDivergedWarpStack:
    case kernel_record::kEarlyStart:
    case kernel_record::kVectorFlag:
    case kernel_record::kDeterministic:
    case kernel_record::kBlockCount:
    case kernel_record::kScheduleMode:
        return 4;
    case kernel_record::kFunctionEntry:
    case kernel_record::kParameterSummary:
        return 12;
    case kernel_record::kParameter:
        return 36;
    default:
        return 0;
    }
}

inline const char* kernel_record_name(std::uint16_t type) {
    constexpr const char* kNames[] = {"padding",
                                      "KERNEL_TYPE",
                                      "CROSS_CORE",
                                      "MIX_TASK_RATION",
                                      "DFX_TYPE",
                                      "DFX_ARG_INFO",
                                      "L0_EXCEPTION_DFX_IS_TIK",
                                      "COMPILER_ALLOC_UB_SIZE",
                                      "SU_STACK_SIZE",
                                      "SIMT_WARP_STACK_SIZE",
                                      "DVG_WARP_STACK_SIZE",
                                      "EARLY_START_ENABLE",
                                      "AIV_TYPE_FLAG",
                                      "DETERMINISTIC_INFO",
                                      "FUNCTION_ENTRY_INFO",
                                      "BLOCK_DIM_INFO",
                                      "PARAM_SUMMARY",
                                      "PARAM_INFO",
                                      "SCHED_MODE_INFO"};
    return type <= kernel_record::kLastKnown ? kNames[type] : "unknown";
}

inline const char* binary_record_name(std::uint16_t type) {
    constexpr const char* kNames[] = {"BIN_VERSION",           "DEBUG_INFO", "DYNAMIC_PARAM", "OPTIONAL_PARAM",
                                      "RUNTIME_IMPLICIT_INFO", "SK_INFO"};
    return type <= binary_record::kLastKnown ? kNames[type] : "unknown";
}

// Argument records of a DFX payload, which is big-endian whatever the ELF says.
struct DfxList {
    std::uint64_t arguments = 0;
    bool well_formed = false;
};

template <typename Visit>
DfxList walk_dfx(ByteView payload, Visit&& visit) {
    DfxList list;
    std::uint64_t offset = 0;
    while (payload.contains(offset, 4)) {
        const auto type = payload.big<std::uint16_t>(offset);
        const auto words = payload.big<std::uint16_t>(offset + 2);
        if (type != kernel_record::kDfxArgument || !payload.contains(offset + 4, std::uint64_t{8} * words)) {
            return list;
        }
        visit(payload.slice(offset + 4, std::uint64_t{8} * words));
        ++list.arguments;
        offset += 4 + std::uint64_t{8} * words;
    }
    list.well_formed = offset == payload.size();
    return list;
}

inline DfxList count_dfx(ByteView payload) {
    return walk_dfx(payload, [](ByteView) {});
}

} // namespace aivops::kernel_binary

#endif // AIVOPS_KERNEL_BINARY_RECORDS_H
