#include "types.h"

#include <array>

namespace aivops {
namespace {

struct TypeFacts {
    std::string_view name;
    std::string_view suffix;
    unsigned width;
    bool reducible;
};

constexpr std::array<TypeFacts, 16> kTypes{{
    {"float16", "half", 2, true},
    {"bfloat16", "bfloat16_t", 2, true},
    {"float32", "float", 4, true},
    {"float64", "double", 8, false},
    {"int8", "int8_t", 1, true},
    {"int16", "int16_t", 2, true},
    {"int32", "int32_t", 4, true},
    {"int64", "int64_t", 8, true},
    {"uint8", "uint8_t", 1, false},
    {"uint16", "uint16_t", 2, false},
    {"uint32", "uint32_t", 4, false},
    {"uint64", "uint64_t", 8, false},
    {"float8_e4m3fn", "fp8_e4m3fn_t", 1, false},
    {"float8_e5m2", "fp8_e5m2_t", 1, false},
    {"float8_e8m0fnu", "fp8_e8m0_t", 1, false},
    {"hifloat8", "hifloat8_t", 1, false},
}};

constexpr std::array<std::string_view, 4> kReductions{"sum", "prod", "max", "min"};

const TypeFacts& facts(DataType type) {
    return kTypes[static_cast<size_t>(type)];
}

} // namespace

unsigned width_of(DataType type) {
    return facts(type).width;
}

std::string_view name_of(DataType type) {
    return facts(type).name;
}

std::optional<DataType> type_of(std::string_view name) {
    for (size_t i = 0; i < kTypes.size(); ++i) {
        if (kTypes[i].name == name) {
            return DataType(i);
        }
    }
    return std::nullopt;
}

std::string_view kernel_suffix(DataType type) {
    return facts(type).suffix;
}

bool is_reducible(DataType type) {
    return facts(type).reducible;
}

std::string_view name_of(Operator operation) {
    switch (operation) {
    case Operator::kAllGather:
        return "all_gather";
    case Operator::kAllReduce:
        return "all_reduce";
    case Operator::kReduceScatter:
        return "reduce_scatter";
    case Operator::kAllToAll:
        return "all_to_all";
    case Operator::kBroadcast:
        return "broadcast";
    case Operator::kScatter:
        return "scatter";
    case Operator::kGather:
        return "gather";
    case Operator::kReduce:
        return "reduce";
    case Operator::kBarrier:
        return "barrier";
    case Operator::kAllGatherV:
        return "all_gather_v";
    case Operator::kReduceScatterV:
        return "reduce_scatter_v";
    case Operator::kAllToAllV:
        return "all_to_all_v";
    case Operator::kSendRecv:
        return "send/recv";
    }
    return "a call of another library";
}

std::string_view name_of(Reduction reduction) {
    return kReductions[static_cast<size_t>(reduction)];
}

std::optional<Reduction> reduction_of(std::string_view name) {
    for (size_t i = 0; i < kReductions.size(); ++i) {
        if (kReductions[i] == name) {
            return Reduction(i);
        }
    }
    return std::nullopt;
}

std::string describe(const Call& call) {
    std::string text(name_of(call.operation));
    if (call.operation == Operator::kBarrier) {
        return text;
    }
    text += " of " + std::to_string(call.count) + " " + std::string(name_of(call.type));
    switch (call.operation) {
    case Operator::kAllReduce:
    case Operator::kReduceScatter:
    case Operator::kReduce:
        text += ", op " + std::string(name_of(call.reduction));
        break;
    default:
        break;
    }
    switch (call.operation) {
    case Operator::kBroadcast:
    case Operator::kScatter:
    case Operator::kGather:
    case Operator::kReduce:
        text += ", root " + std::to_string(call.root);
        break;
    default:
        break;
    }
    text += ", algorithm " + std::to_string(call.algorithm) + ", " + std::to_string(call.blocks) + " blocks";
    return text;
}

} // namespace aivops
