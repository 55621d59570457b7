#include "types.h"

#include "aivops/kernel_binary/counted.h"

#include "algorithm.h"

#include <aivops/error.h>

#include <algorithm>
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

// In the order of their numbers, from 1 on.
constexpr std::array<std::string_view, 13> kOperators{
    "all_gather", "all_reduce", "reduce_scatter", "all_to_all",       "broadcast",    "scatter",  "gather",
    "reduce",     "barrier",    "all_gather_v",   "reduce_scatter_v", "all_to_all_v", "send/recv"};

template <size_t Size>
size_t require_index(const char* what, std::string_view name, const std::array<std::string_view, Size>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        std::string known;
        for (const std::string_view candidate : names) {
            known.append(known.empty() ? "" : ", ").append(candidate);
        }
        throw InvalidValueError(std::string(what) + " is '" + std::string(name) + "', expected one of " + known);
    }
    return static_cast<size_t>(found - names.begin());
}

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

std::string_view kernel_suffix(DataType type) {
    return facts(type).suffix;
}

bool is_reducible(DataType type) {
    return facts(type).reducible;
}

std::string reducible_names() {
    std::string names;
    for (const TypeFacts& type : kTypes) {
        if (type.reducible) {
            names.append(names.empty() ? "" : ", ").append(type.name);
        }
    }
    return names;
}

std::string_view name_of(Operator operation) {
    const size_t number = static_cast<size_t>(operation);
    return number >= 1 && number <= kOperators.size() ? kOperators[number - 1] : "a call of another library";
}

std::string_view name_of(Reduction reduction) {
    return kReductions[static_cast<size_t>(reduction)];
}

Operator require_operator(std::string_view name) {
    return Operator(1 + require_index("operation", name, kOperators));
}

DataType require_type(std::string_view name) {
    std::array<std::string_view, kTypes.size()> names;
    std::transform(kTypes.begin(), kTypes.end(), names.begin(), [](const TypeFacts& type) { return type.name; });
    return DataType(require_index("element type", name, names));
}

Reduction require_reduction(std::string_view name) {
    return Reduction(require_index("op", name, kReductions));
}

std::string describe(const Call& call) {
    std::string text(name_of(call.operation));
    switch (call.operation) {
    case Operator::kBarrier:
        return text;
    case Operator::kAllGatherV:
    case Operator::kReduceScatterV:
    case Operator::kAllToAllV:
        text.append(" of ").append(name_of(call.type)).append(", counts and rows with the check sum ");
        text.append(std::to_string(call.count));
        break;
    default:
        text.append(" of ").append(std::to_string(call.count)).append(" ").append(name_of(call.type));
        break;
    }
    switch (call.operation) {
    case Operator::kAllReduce:
    case Operator::kReduceScatter:
    case Operator::kReduceScatterV:
    case Operator::kReduce:
        text.append(", op ").append(name_of(call.reduction));
        break;
    default:
        break;
    }
    switch (call.operation) {
    case Operator::kBroadcast:
    case Operator::kScatter:
    case Operator::kGather:
    case Operator::kReduce:
        text.append(", root ").append(std::to_string(call.root));
        break;
    case Operator::kSendRecv:
        text.append(" from rank ").append(std::to_string(call.root));
        break;
    default:
        break;
    }
    text.append(", algorithm ").append(algorithm_name(call.operation, call.algorithm));
    return text.append(", ").append(kernel_binary::counted(call.blocks, "block"));
}

} // namespace aivops
